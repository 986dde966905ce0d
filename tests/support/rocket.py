"""An env that cannot be imported, because its engine is not installed."""

import rocket_engine_that_nobody_has  # type: ignore[import-not-found]  # noqa: F401  # on purpose
