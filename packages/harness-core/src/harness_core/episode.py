"""Episodes: one policy in one env, recorded. A failed episode is data, not a crash."""

from __future__ import annotations

import hashlib
import json
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from attrs import field, frozen

from harness_core.env import ActionableEnv
from harness_core.errors import (
    EnvError,
    EnvTimeout,
    Fault,
    HarnessError,
    InvalidAction,
    ModelError,
    PolicyError,
    as_unicode,
    message_of,
    told,
)
from harness_core.policies import Decision, Policy, Usage
from harness_core.serial import canonical, from_data, to_data
from harness_core.values import (
    Action,
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

MAX_DEPTH = 64
"""Levels that the JSON of an action or observation may be nested."""

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
        return cls(type(error).__name__, error.fault, message_of(error), as_unicode(trace))


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
        info: what else the policy wants kept.
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
    info: JsonDict = field(factory=dict, hash=False)
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
    recorder = _Recorder(env, policy, seed, max_seconds)
    try:
        ending = recorder.play(max_steps)
        return recorder.episode(ending, verdict=_env_plain(_env_call(env.evaluate), Verdict))
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
    def __init__(
        self, env: ActionableEnv, policy: Policy, seed: int, max_seconds: float | None
    ) -> None:
        self._env, self._policy, self._seed = env, policy, seed
        self._began, self._max_seconds = time.monotonic(), max_seconds
        self._task, self._start = Task(""), Observation()
        self._steps: list[Step] = []

    def play(self, max_steps: int) -> Ending:
        reset = _env_answer(lambda: self._env.reset(seed=self._seed), ResetResult)
        self._task = _env_plain(reset.task, Task)
        observation = self._start = _env_plain(reset.observation, Observation)
        tools = _env_answer(lambda: tuple(self._env.tools()), tuple)
        for tool in tools:
            _env_plain(tool, Tool)
        seed = policy_seed(self._task.id, self._seed)
        self._ask(lambda: self._policy.reset(self._task, tools, seed))
        while len(self._steps) < max_steps:
            if self._late():
                raise EnvTimeout(f"The episode took more than {self._max_seconds:g} s.")
            asked = time.monotonic()
            answer = self._ask(lambda: self._policy.act(observation))  # noqa: B023
            if answer is None:
                return "stopped"
            response = self._step(_decision(answer), time.monotonic() - asked)
            if response.ended:
                return "terminated" if response.terminated else "truncated"
            observation = self._steps[-1].shown
        return "budget"

    def _ask(self, call: Callable[[], T]) -> T:
        """The policy's answer to a call, which began within the episode's time."""
        try:
            answer = call()
        except HarnessError:
            raise
        except Exception as error:
            raise PolicyError(f"The policy raised {told(error)}") from error
        if self._late():
            passed = f"The episode's limit of {self._max_seconds:g} s passed while the policy was"
            if getattr(self._policy, "needs_model", False):  # a busy endpoint is nobody's failure
                raise ModelError(f"{passed} waiting for its model. Raise it (Limits.episode).")
            raise PolicyError(
                f"{passed} thinking. Raise the limit (Limits.episode), or make the policy faster."
            )
        return answer

    def _late(self) -> bool:
        limit = self._max_seconds
        return limit is not None and time.monotonic() - self._began > limit

    def _step(self, decision: Decision, policy_seconds: float) -> StepResult:
        began = time.monotonic()
        invalid, seen = "", None
        try:
            if decision.invalid:
                raise InvalidAction(decision.invalid)
            response = _env_answer(lambda: self._env.step(decision.action), StepResult)
            shown = _shaped(response.observation)
            seen = _env_call(self._env.last_transition)
        except InvalidAction as error:
            invalid = message_of(error)
            shown = _shaped(_env_call(self._env.observe))
            shown = shown.replace(text=f"{invalid}\n\n{shown.text}".strip())
            response = StepResult(shown)
        seconds = time.monotonic() - began
        if not isinstance(seen, Transition | None):
            raise EnvError(f"last_transition gives a Transition or None, not {seen!r:.80}.")
        executed = None if invalid else decision.action if seen is None else seen.action
        changed = seen is not None and seen.observation != shown
        self._steps.append(
            Step(
                decision.action,
                shown,
                executed,
                raw=seen.observation if seen is not None and changed else None,
                blocked=seen.blocked if seen is not None else "",
                invalid=invalid,
                text=decision.text,
                usage=decision.usage,
                info=decision.info,
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


def _shaped(seen: object) -> Observation:
    """An observation that can be written down, as far as a look in every step may cost."""
    try:
        if (
            isinstance(seen, Observation)
            and type(seen.text) is str
            and type(seen.data) is dict
            and type(seen.images) is tuple
            and all(type(image) is str for image in seen.images)
        ):
            whole = [seen.text, seen.data, list(seen.images)]
            if _depth(whole) <= MAX_DEPTH and json.loads(canonical(whole)) == whole:
                return seen
        raise TypeError(f"It is {seen!r:.80}.")
    except Exception as error:
        raise EnvError(
            f"The env must show an Observation that holds texts and JSON alone. {told(error)}"
        ) from error


def _decision(answer: object) -> Decision:
    try:
        if (
            isinstance(answer, Decision)
            and isinstance(answer.action, Action)
            and type(answer.action.text) is type(answer.text) is str
            and answer.action.tool == ""
            and answer.action.arguments == {}
            and answer.usage == Usage()
            and answer.invalid == ""
            and answer.info == {}
        ):
            (answer.action.text + answer.text).encode()
            return answer
        return _plain(answer, Decision)
    except Exception as error:
        raise PolicyError(
            "A policy answers with Decision(Action(...)) of texts and JSON, or with None; this "
            f"answer is something else. {told(error)}"
        ) from error


def _env_call(call: Callable[[], T]) -> T:
    try:
        return call()
    except HarnessError:
        raise
    except Exception as error:
        raise EnvError(f"The env raised {told(error)}") from error


def _env_answer(call: Callable[[], object], kind: type[T]) -> T:
    answer = _env_call(call)
    if not isinstance(answer, kind):
        raise EnvError(
            f"The env must answer with a {kind.__name__}, not with {type(answer).__name__}."
        )
    return answer


def _env_plain(value: object, kind: type[T]) -> T:
    try:
        return _plain(value, kind)
    except Exception as error:
        raise EnvError(
            f"The env must give a {kind.__name__} that holds texts and JSON alone. {told(error)}"
        ) from error


def _plain(value: object, kind: type[T]) -> T:
    """`value` as it comes back from JSON: of `kind` down to its fields, and nobody else's.

    Raises:
        Exception: of any type; `value` is foreign, and did not come back equal.
    """
    if not isinstance(value, kind):
        raise TypeError(f"It is a {type(value).__name__}.")
    data = to_data(value)
    if _depth(data) > MAX_DEPTH:
        raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")
    back = json.loads(canonical(data).encode())
    if back != data:
        raise ValueError("It does not come back from JSON as it was: no tuples, and text as keys.")
    return from_data(back, kind)


def _depth(data: object) -> int:
    if isinstance(data, dict):
        items: Iterable[object] = data.values()
    elif isinstance(data, list | tuple):
        items = data
    else:
        return 0
    return 1 + max((_depth(item) for item in items if type(item) is not str), default=0)
