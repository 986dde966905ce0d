"""Plays actions and keeps everything that comes back, errors included, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness_core import Action, ActionableEnv, HarnessError, StepResult
from harness_core.errors import InvalidAction
from harness_core.serial import canonical, to_data


class Player:
    """One episode in `env`, written down in `log`. After an error that is no InvalidAction, or
    after the end, further actions are ignored.
    """

    def __init__(self, env: ActionableEnv, seed: int | None = 0) -> None:
        self.env = env
        self.log: list[str] = []
        self.over = False
        self._note(lambda: env.reset(seed=seed))

    @property
    def started(self) -> bool:
        """Whether the reset went well."""
        return self.log[0].startswith("{")

    def act(self, action: Action) -> None:
        """One step, and all readings after it."""
        if self.over:
            return
        self._note(lambda: self.env.step(action))
        env = self.env
        for read in (env.observe, env.get_env_state, env.evaluate, env.step_signal):
            self._note(read)

    def play(self, actions: Iterable[Action]) -> list[str]:
        """Several steps; gives the log."""
        for action in actions:
            self.act(action)
        return self.log

    def _note(self, call: Callable[[], object]) -> None:
        try:
            value = call()
        except HarnessError as error:
            self.log.append(f"{type(error).__name__}: {error}")
            self.over = self.over or not isinstance(error, InvalidAction)
        else:
            self.log.append(canonical(to_data(value)))
            self.over = self.over or (isinstance(value, StepResult) and value.ended)
