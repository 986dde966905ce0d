"""What a command line says about models, and the table of what their calls cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclopts import Parameter

from harness_core.cli.console import say, table
from harness_core.errors import HarnessError
from harness_core.policies import PolicySpec
from harness_core.registry import load

if TYPE_CHECKING:
    from harness_core.models import ModelSession, ModelSettings, Spend
    from harness_core.store import RunStore

COLUMNS = ("role", ">calls", ">cached", ">input tokens", ">output tokens", ">US dollars")


@Parameter(name="*")
@dataclass(frozen=True)
class ModelFlags:
    """The flags of every command whose policies may ask a model.

    Args:
        model: of every role, such as openai/gpt-4o-mini; by default that of the variable MODEL.
        role_model: role=model for one role, or embedding=model; may be repeated.
        max_calls: paid model calls of the run, earlier ones included; then it stops.
        max_tokens: tokens read and written by the run; then it stops.
        max_cost: US dollars of the run; then it stops.
    """

    model: str | None = None
    role_model: list[str] | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None

    def settings(self) -> ModelSettings:
        """The environment's settings, with what is said here.

        Raises:
            HarnessError: a role without a model, or one that does not exist.
        """
        from harness_core.models import ModelSettings

        overrides = {"model": self.model} if self.model else {}
        for pair in self.role_model or ():
            role, equals, model = pair.partition("=")
            if not (role and equals and model):
                raise HarnessError(
                    "--role-model takes role=model, such as --role-model "
                    f"designer=openai/gpt-4o-mini; got {pair!r}."
                )
            overrides[role] = model
        return ModelSettings.from_env(os.environ, overrides)

    def session(self, store: RunStore | None = None) -> ModelSession:
        """A session that keeps its calls in `store`."""
        from harness_core.models import ModelSession, SpendLimit

        limit = SpendLimit(tokens=self.max_tokens, cost=self.max_cost, calls=self.max_calls)
        return ModelSession(store, settings=self.settings(), limit=limit)

    def session_for(
        self, policy: PolicySpec, store: RunStore | None = None
    ) -> AbstractContextManager[ModelSession | None]:
        """A session for a policy that asks a model; nothing for one that does not.

        Raises:
            HarnessError: the policy asks none, but the command line speaks of models.
            UnknownIdError: there is no such policy.
        """
        if getattr(load("policy", policy.id), "needs_model", False):
            return self.session(store)
        if self != NOTHING_SAID:
            raise HarnessError(
                f"Policy {policy.id!r} asks no model, so --model, --role-model, --max-calls, "
                "--max-tokens and --max-cost say nothing. Leave them out."
            )
        return nullcontext()


NOTHING_SAID = ModelFlags()
"""A command line that says nothing about models."""


def stored_spend(store: RunStore) -> list[Spend]:
    """What the calls in a store cost, by role."""
    from harness_core.models import Spend

    return [
        Spend(role, calls, 0, read, written, cost)
        for role, calls, read, written, cost in store.spent()
    ]


def print_spend(rows: Sequence[Spend]) -> None:
    """Prints what model calls cost, by role and in total; nothing if there were none."""
    if not rows:
        return
    from harness_core.models import Spend

    total = sum(rows, Spend("total"))
    cells = [
        [
            each.role,
            str(each.calls),
            str(each.cached),
            str(each.input_tokens),
            str(each.output_tokens),
            f"{each.cost:.4f}",
        ]
        for each in ([*rows, total] if len(rows) > 1 else rows)
    ]
    say()
    table(COLUMNS, cells)
