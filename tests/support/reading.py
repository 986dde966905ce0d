"""A policy that says what it was told, for tests of guidance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness_core.hookspecs import Entry, hookimpl
from harness_core.policies import Decision
from harness_core.values import Action, Observation, Task, Tool


class Reader:
    """Goes up; its text is the guidance that it got.

    Args:
        models: whoever builds it with a session.
        model: named by the session.
    """

    needs_model = True

    def __init__(self, model: str = "", models: Any = None) -> None:
        self.model, self.models = model, models
        self._guidance = ""

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._guidance = str(task.data.get("guidance", "(none)"))

    def act(self, observation: Observation) -> Decision | None:
        return Decision(Action("up"), self._guidance, info={"reader": self.model})


@hookimpl
def harness_policies() -> list[Entry]:
    return [Entry("support-reader", "says what it was told", "support.reading:Reader")]
