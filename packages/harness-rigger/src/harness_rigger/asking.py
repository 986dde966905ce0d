"""Whether a command asks models, and the session that does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from harness_core.cli.models import NOTHING_SAID, ModelFlags
from harness_core.errors import HarnessError
from harness_core.registry import load
from harness_core.store import RunStore

if TYPE_CHECKING:
    from harness_core.models import ModelSession, Spend


def needs_model(parts: Sequence[tuple[str, str]]) -> bool:
    """Whether any of these (kind, id) asks a model.

    Raises:
        UnknownIdError: one of them is not registered.
    """
    return True in [getattr(load(kind, id), "needs_model", False) for kind, id in parts]


def session_for(
    models: ModelFlags, parts: Sequence[tuple[str, str]], store: RunStore
) -> AbstractContextManager[ModelSession | None]:
    """A session, if any of `parts` asks a model."""
    return models.session(store) if needs_model(parts) else nullcontext()


def check_models(models: ModelFlags, parts: Sequence[tuple[str, str]]) -> None:
    """Finds what is wrong with the flags before a run is made for them.

    Raises:
        HarnessError: they cannot be read, or nothing here asks a model.
    """
    if needs_model(parts):
        models.settings()
    elif models != NOTHING_SAID:
        raise HarnessError(
            "Nothing here asks a model, so --model, --role-model, --max-calls, --max-tokens and "
            "--max-cost say nothing. Leave them out, or choose --strategy llm."
        )


def told_spend(spend: Sequence[Spend]) -> str:
    """The sum of all roles in words."""
    calls, cost = sum(each.calls for each in spend), sum(each.cost for each in spend)
    tokens = sum(each.input_tokens + each.output_tokens for each in spend)
    return f"{calls} model calls, {tokens} tokens, ${cost:.2f}"
