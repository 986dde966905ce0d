"""An env that says what it is about to do, so that another process can tell when it hangs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from harness_core.env import ActionableEnv
from harness_core.errors import EnvError, HarnessError, PolicyError, SpecError, told
from harness_core.policies import Decision, Policy
from harness_core.rollout.doing import Limited
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Transition,
    Verdict,
)

T = TypeVar("T")


class WatchedPolicy:
    """`policy`, beside its env: whatever it raises, SystemExit too, is its own failure alone."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._call(lambda: self._policy.reset(task, tools, seed))

    def act(self, observation: Observation) -> Decision | None:
        """The policy's answer."""
        return self._call(lambda: self._policy.act(observation))

    def _call(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception:
            raise
        except BaseException as error:
            raise PolicyError(f"The policy raised {told(error)}") from error


class WatchedEnv(ActionableEnv):
    """`env`, for one episode.

    Args:
        env: what is played.
        begin: told which limit holds from now on.
    """

    def __init__(self, env: ActionableEnv, begin: Callable[[Limited], None]) -> None:
        self._env, self._begin = env, begin

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
        self._begin(limit)
        try:
            return call()
        except HarnessError:
            raise
        except BaseException as error:
            raise EnvError(f"{name} raised {told(error)}") from error
        finally:
            self._begin("episode")  # what comes next is the policy's

    def get_env_state(self) -> EnvState:
        return self._env.get_env_state()

    def save_state(self) -> JsonDict:
        """Not for an episode that is being played."""
        raise SpecError("An episode in a worker is not saved; its env is rebuilt from its spec.")

    @classmethod
    def from_state(cls, state: JsonDict) -> ActionableEnv:
        raise SpecError("An episode in a worker is not saved; its env is rebuilt from its spec.")
