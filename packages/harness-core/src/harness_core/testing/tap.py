"""`Tap`: records what reaches the env that it wraps."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from harness_core.component import Identity
from harness_core.env import ActionableEnv
from harness_core.layer import Layer
from harness_core.values import Action, ResetResult, StepResult


class Tap(Layer):
    """A transparent layer that keeps the actions executed since the last reset.

    Args:
        inner: the env to listen to.
    """

    def __init__(self, inner: ActionableEnv) -> None:
        super().__init__(inner, Identity())
        self.seed: int | None = None
        self.executed: list[Action] = []

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        self.seed, self.executed = seed, []
        return self.inner.reset(seed=seed, options=options)

    def step(self, action: Action) -> StepResult:
        kept = deepcopy(action)  # hooks around it can reach into its arguments
        answer = self.inner.step(action)
        self.executed.append(kept)
        return answer
