"""`Stage`: changes the initial state by replaying actions.

    s0' = T(... T(T(s0, a1), a2) ..., ak)

The changed start is reachable by construction, and the action list is all there is to save.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import asdict, field, frozen

from harness_core.component import Component
from harness_core.env import ActionableEnv
from harness_core.errors import InvalidAction, StageError
from harness_core.layer import Layer
from harness_core.serial import digest_of, json_copy, to_data
from harness_core.values import Action, JsonDict, ResetResult, StepResult


def _actions(values: Iterable[Action | str | Mapping[str, Any]]) -> tuple[Action, ...]:
    if isinstance(values, str | Action | Mapping) or not isinstance(values, Iterable):
        raise InvalidAction(f"A Stage takes a list of actions, not one: [{values!r:.80}]")
    given = [asdict(Action.of(value), recurse=False) for value in values]
    return tuple(map(Action.of, json_copy(given, "The actions of a Stage")))


@frozen
class Stage(Component):
    """Starts every episode where `actions`, executed after a reset, lead.

    Args:
        actions: texts, `{"tool": ..., "arguments": ...}`, or `Action`s, first to last.
    """

    actions: tuple[Action, ...] = field(converter=_actions)

    def __call__(self, env: ActionableEnv) -> Layer:
        return StageLayer(env, self)


KEPT = 256
_ends: dict[str, JsonDict] = {}
"""Where this process's latest replays led, by everything that decides it."""


def _remember(key: str, end: JsonDict) -> None:
    while len(_ends) >= KEPT:
        _ends.pop(next(iter(list(_ends)), ""), None)
    _ends[key] = end


class StageLayer(Layer):
    """Replays once per reset; leaves steps alone."""

    component: Stage

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        """The inner reset, then the replay; where the env can resume, only the first time.

        Raises:
            StageError: an action was refused, had no effect, ended the episode, or the replay
                as a whole already satisfies the verifier.
        """
        start = self.inner.reset(seed=seed, options=options)
        key = self._key()
        if not (key in _ends and self.inner.resume(_ends[key])):
            self._replay_all()
            if key:
                _remember(key, self.inner.save_state())
        return start.replace(observation=self.inner.observe())

    def _key(self) -> str:
        """Everything that decides where the replay leads; empty where that cannot be kept."""
        origin = self.inner.origin
        if self.inner.snapshots != "live" or isinstance(self.inner, Layer) or origin is None:
            return ""
        return digest_of([to_data(origin), self.inner.save_state(), to_data(self.component)])

    def _replay_all(self) -> None:
        for position, action in enumerate(self.component.actions, start=1):
            self._replay(position, action)
        if self.verifier_cost == "free" and self.inner.evaluate().success:
            raise StageError(
                f"After the {len(self.component.actions)} replayed actions the task is already "
                "solved. Leave at least its last action to the agent."
            )
        self.inner.notify_replay_complete()

    def _replay(self, position: int, action: Action) -> None:
        before = self.inner.get_env_state().data
        try:
            answer = self.inner.step(action)
        except InvalidAction as error:
            raise self._error(position, action, "was refused", str(error)) from error
        if answer.ended:
            raise self._error(position, action, "ended the episode", answer)
        if self.inner.get_env_state().data == before:
            raise self._error(position, action, "had no effect", answer)

    def _error(
        self, position: int, action: Action, what: str, answer: StepResult | str
    ) -> StageError:
        said = answer if isinstance(answer, str) else answer.observation.text
        return StageError(
            f"Action {position} of {len(self.component.actions)}, {str(action)!r}, {what}. "
            f"The env said: {said!r}. Every replayed action must change the state and leave the "
            "episode open; remove this one or repair what comes before it."
        )
