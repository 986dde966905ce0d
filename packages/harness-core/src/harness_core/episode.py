"""Episodes: one policy in one env, recorded. A failed episode is data, not a crash."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from attrs import field, frozen

from harness_core.env import ActionableEnv
from harness_core.errors import (
    EnvError,
    EnvTimeout,
    Fault,
    HarnessError,
    InvalidAction,
    PolicyError,
)
from harness_core.policies import Decision, Policy, Usage
from harness_core.values import Action, Observation, StepResult, Task, Verdict

T = TypeVar("T")

Ending = Literal["terminated", "truncated", "budget", "stopped", "failed"]


@frozen
class Failure:
    """Why an episode could not be finished.

    Args:
        error: name of the error's class.
        fault: whom it counts against.
        message: what happened, and what to do next.
        trace: the Python traceback, for those who debug.
    """

    error: str
    fault: Fault
    message: str
    trace: str = field(default="", eq=False)

    @classmethod
    def of(cls, error: HarnessError) -> Failure:
        """The record of an error."""
        trace = getattr(error, "trace", None) or "".join(traceback.format_exception(error))
        return cls(type(error).__name__, error.fault, str(error), trace)


@frozen
class Step:
    """One action and what came of it.

    Args:
        action: what the policy chose.
        shown: what the policy saw next.
        executed: what the base env executed; `None` if the action was blocked or invalid.
        raw: what the base env said where a layer rewrote it; `None` where it was shown as is.
        blocked: why a layer blocked the action; empty if none did.
        invalid: why the action is outside the action space; empty if it is not.
        text: the policy's raw text.
        usage: the policy's tokens.
        policy_seconds: wall-clock time of the policy.
        env_seconds: wall-clock time of the env, layers included.
    """

    action: Action
    shown: Observation
    executed: Action | None
    raw: Observation | None = None
    blocked: str = ""
    invalid: str = ""
    text: str = ""
    usage: Usage = field(factory=Usage)
    policy_seconds: float = field(default=0.0, eq=False)
    env_seconds: float = field(default=0.0, eq=False)


@frozen
class Episode:
    """All that happened between a reset and a verdict. Timings do not count for equality.

    Args:
        task: the task played.
        seed: of env and policy.
        start: what the policy saw first.
        steps: in order.
        ending: `"terminated"` or `"truncated"` by the env, `"budget"` of steps used up,
            `"stopped"` by the policy, `"failed"`.
        verdict: the benchmark's; `None` after a failure.
        failure: `None` if the episode came to its verdict.
        seconds: wall-clock time, reset and verdict included.
    """

    task: Task
    seed: int
    start: Observation
    steps: tuple[Step, ...]
    ending: Ending
    verdict: Verdict | None = None
    failure: Failure | None = None
    seconds: float = field(default=0.0, eq=False)

    @property
    def success(self) -> bool | None:
        """Solved or not; `None` where the failure is not the policy's, so it must not count."""
        if self.verdict is not None:
            return self.verdict.success
        return False if self.failure is not None and self.failure.fault == "policy" else None

    @property
    def usage(self) -> Usage:
        """The tokens of all steps."""
        return sum((step.usage for step in self.steps), Usage())


def run_episode(
    env: ActionableEnv,
    policy: Policy,
    *,
    max_steps: int = 50,
    seed: int = 0,
    max_seconds: float | None = None,
) -> Episode:
    """Plays one episode and asks the verifier once, at its end.

    Args:
        env: not closed here.
        policy: reset here.
        max_steps: step budget; blocked and invalid actions are charged too.
        seed: of the env; the policy's is `policy_seed` of task and seed.
        max_seconds: wall-clock limit, checked between steps. What hangs inside a step is killed
            by `RolloutPool`, which runs envs in processes of their own.

    Returns:
        The record; failures of policy, components and infrastructure are in it.

    Raises:
        HarnessError: only what is the caller's to mend (an unknown task, a missing extra).
    """
    if not isinstance(env, ActionableEnv):
        raise HarnessError(f"run_episode plays a live env, not {env!r:.80}: make() or build() it.")
    if not isinstance(policy, Policy) or isinstance(policy, type):
        raise HarnessError(
            f"run_episode needs a policy with reset() and act(), not {policy!r:.80}. A PolicySpec "
            "is turned into one by build()."
        )
    if max_steps < 1:
        raise HarnessError(f"An episode has a step budget of at least 1, not {max_steps}.")
    recorder = _Recorder(env, policy, seed)
    try:
        ending = recorder.play(max_steps, max_seconds)
        return recorder.episode(ending, verdict=_env_call(env.evaluate))
    except HarnessError as error:
        if error.fault == "caller":
            raise
        return recorder.episode("failed", failure=Failure.of(error))


def policy_seed(task: str, seed: int) -> int:
    """The policy's seed for an episode: unlike the env's, and another one for every task.

    With the same stream in env and policy, a random guess would be right too often; with the
    same stream on every task, episodes of different tasks would not be independent.
    """
    return int.from_bytes(hashlib.sha256(f"policy {task} {seed}".encode()).digest()[:6], "big")


class _Recorder:
    def __init__(self, env: ActionableEnv, policy: Policy, seed: int) -> None:
        self._env, self._policy, self._seed = env, policy, seed
        self._began = time.monotonic()
        self._task, self._start = Task(""), Observation()
        self._steps: list[Step] = []

    def play(self, max_steps: int, max_seconds: float | None) -> Ending:
        reset = _env_call(lambda: self._env.reset(seed=self._seed))
        self._task, self._start = reset.task, reset.observation
        tools = _env_call(self._env.tools)
        seed = policy_seed(self._task.id, self._seed)
        _policy_call(lambda: self._policy.reset(self._task, tools, seed))
        observation = self._start
        while len(self._steps) < max_steps:
            if max_seconds is not None and time.monotonic() - self._began > max_seconds:
                raise EnvTimeout(f"The episode took more than {max_seconds:g} s.")
            asked = time.monotonic()
            decision = _policy_call(lambda: self._policy.act(observation))  # noqa: B023
            if decision is None:
                return "stopped"
            response = self._step(decision, time.monotonic() - asked)
            if response.ended:
                return "terminated" if response.terminated else "truncated"
            observation = response.observation
        return "budget"

    def _step(self, decision: Decision, policy_seconds: float) -> StepResult:
        if not isinstance(decision, Decision) or not isinstance(decision.action, Action):
            raise PolicyError(f"A policy answers with Decision(Action(...)), not {decision!r}.")
        began = time.monotonic()
        invalid = ""
        try:
            response = _env_call(lambda: self._env.step(decision.action))
        except InvalidAction as error:
            invalid = str(error)
            shown = _env_call(self._env.observe)
            response = StepResult(shown.replace(text=f"{invalid}\n\n{shown.text}".strip()))
        seconds = time.monotonic() - began
        seen = None if invalid else self._env.last_transition()
        executed = None if invalid else decision.action if seen is None else seen.action
        changed = seen is not None and seen.observation != response.observation
        self._steps.append(
            Step(
                decision.action,
                response.observation,
                executed,
                raw=seen.observation if seen is not None and changed else None,
                blocked=seen.blocked if seen is not None else "",
                invalid=invalid,
                text=decision.text,
                usage=decision.usage,
                policy_seconds=policy_seconds,
                env_seconds=seconds,
            )
        )
        return response

    def episode(self, ending: Ending, **outcome: Any) -> Episode:
        seconds = time.monotonic() - self._began
        steps = tuple(self._steps)
        return Episode(
            self._task, self._seed, self._start, steps, ending, seconds=seconds, **outcome
        )


def _env_call(call: Callable[[], T]) -> T:
    try:
        return call()
    except HarnessError:
        raise
    except Exception as error:
        raise EnvError(f"The env raised {type(error).__name__}: {error}") from error


def _policy_call(call: Callable[[], T]) -> T:
    try:
        return call()
    except HarnessError:
        raise
    except Exception as error:
        raise PolicyError(f"The policy raised {type(error).__name__}: {error}") from error
