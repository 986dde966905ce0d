"""An env that says aloud what it is about to do, so that another process can tell when it hangs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from harness_core.env import ActionableEnv
from harness_core.errors import EnvError, HarnessError, SpecError, told
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Tool,
    Transition,
    Verdict,
)

T = TypeVar("T")

Limited = Literal["reset", "step", "evaluate"]
"""The names of the limits."""


class WatchedEnv(ActionableEnv):
    """`env`, for one episode.

    Args:
        env: what is played.
        say: told the limit that the next call has.
    """

    def __init__(self, env: ActionableEnv, say: Callable[[Limited], None]) -> None:
        self._env, self._say = env, say

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        return self._call("reset", "reset", lambda: self._env.reset(seed=seed, options=options))

    def step(self, action: Action) -> StepResult:
        return self._call("step", "step", lambda: self._env.step(action))

    def observe(self) -> Observation:
        return self._call("step", "observe", self._env.observe)

    def evaluate(self) -> Verdict:
        return self._call("evaluate", "evaluate", self._env.evaluate)

    def tools(self) -> tuple[Tool, ...]:
        return self._call("step", "tools", self._env.tools)

    def last_transition(self) -> Transition | None:
        return self._env.last_transition()

    def _call(self, limit: Limited, name: str, call: Callable[[], T]) -> T:
        """The answer; whatever an env raises, SystemExit too, is its own failure alone."""
        self._say(limit)
        try:
            return call()
        except HarnessError:
            raise
        except BaseException as error:
            raise EnvError(f"{name} raised {told(error)}") from error

    def get_env_state(self) -> EnvState:
        return self._env.get_env_state()

    def save_state(self) -> JsonDict:
        """Not for an episode that is being played."""
        raise SpecError("An episode in a worker is not saved; its env is rebuilt from its spec.")

    @classmethod
    def from_state(cls, state: JsonDict) -> ActionableEnv:
        raise SpecError("An episode in a worker is not saved; its env is rebuilt from its spec.")
