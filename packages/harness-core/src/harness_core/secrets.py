"""Keeps keys where they belong: out of worker processes, messages, traces and stores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

SECRET = re.compile(r"(^|_)(API)?(KEY|TOKEN|SECRET|PASSWORD)(_?\d+)?$", re.IGNORECASE)
"""Names of environment variables that hold secrets, numbered ones such as `X_API_KEY_2` too."""

SHORTEST = 8
"""Characters; what is shorter is no secret, and would be found everywhere."""


def without_secrets(environ: Mapping[str, str], also: Iterable[str] = ()) -> dict[str, str]:
    """`environ` without what holds a secret: by its name, or as a key in HARNESS_ENDPOINTS.

    Args:
        environ: names and values.
        also: names of further variables to leave out.
    """
    keys = re.findall(r"\bkey=([^\s,]+)", environ.get("HARNESS_ENDPOINTS", ""))
    named = {*keys, *also}
    return {
        name: value
        for name, value in environ.items()
        if name not in named and not SECRET.search(name)
    }


class Scrubber:
    """Replaces the values of secrets in texts.

    Args:
        environ: what `without_secrets` leaves out of it is secret.
        also: names of further variables that hold a secret.
    """

    def __init__(self, environ: Mapping[str, str], also: Iterable[str] = ()) -> None:
        kept = without_secrets(environ, also)
        values = {value.strip() for name, value in environ.items() if name not in kept}
        long = sorted((each for each in values if len(each) >= SHORTEST), key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, long))) if long else None

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        return self._secrets.sub("[secret]", text) if self._secrets else text
