"""The 24 game as an `ActionableEnv`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from attrs import frozen

from harness_bridges.toy24.arithmetic import OPERATORS, Table, table
from harness_bridges.toy24.puzzles import FIRST, cards_of, solvable_puzzles
from harness_bridges.toy24.solver import reachable
from harness_core import (
    Action,
    ActionableEnv,
    EnvState,
    HarnessError,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Verdict,
)
from harness_core.errors import InvalidAction, SpecError
from harness_core.serial import from_data
from harness_core.values import JsonDict

_ARGUMENTS = ("left", "operator", "right")
_FORMS = (
    'Write "combine LEFT OPERATOR RIGHT" with spaces, "reset" or "stop", or call the tool of '
    "that name."
)


@frozen
class SavedGame:
    """What `save_state` writes."""

    task: str
    steps: int
    numbers: tuple[str, ...]

    def table(self) -> Table:
        """The numbers on the table.

        Raises:
            SpecError: they are no numbers of a game.
        """
        written = [re.fullmatch(r"-?[0-9]{1,99}(/[0-9]{1,99})?", text) for text in self.numbers]
        if self.steps < 0 or not 1 <= len(written) <= 4 or not all(written):
            raise SpecError(f"This is no saved game: {self!r:.300}.")
        try:
            return table(tuple(sorted(map(Fraction, self.numbers))))
        except ZeroDivisionError as error:
            raise SpecError(f"This is no saved game: {self!r:.300}.") from error


class Toy24Env(ActionableEnv):
    """Four cards; combine two numbers at a time until only 24 is left.

    Leaving a single 24 or saying `stop` ends the episode. Any other single number leaves it
    open: `reset` deals the same cards again, for one step. There is no randomness.

    Args:
        task: the cards, ascending, such as `"1-5-5-5"`; unsolvable ones are tasks too, though
            `list_tasks` omits them. `None`: `"1-1-1-8"`, the first of the list.

    Raises:
        UnknownTaskError: `task` is no such id.
    """

    snapshots = "live"
    reversible_endings = True

    def __init__(self, task: str | None = None) -> None:
        self._task = _task(FIRST if task is None else task)
        self._table: Table | None = None
        self._steps = 0

    @property
    def _now(self) -> Table:
        if self._table is None:
            raise HarnessError("No episode is running: call reset() first.")
        return self._table

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        if options and "task" in options:
            self._task = _task(options["task"])
        self._table = _dealt(self._task.id)
        self._steps = 0
        return ResetResult(self.observe(), _task(self._task.id))

    def step(self, action: Action) -> StepResult:
        now = self._now
        text = _text_of(Action.of(action))
        if text == "reset":
            now = _dealt(self._task.id)
        elif text in now.following:
            now = table(now.following[text])
        elif text != "stop":
            raise InvalidAction(_refusal(text, now))
        self._table = now
        self._steps += 1
        return StepResult(self.observe(), terminated=text == "stop" or now.solved)

    def observe(self) -> Observation:
        now = self._now
        data = {"numbers": list(now.texts), "admissible": list(now.admissible)}
        return Observation(now.words, data)

    def evaluate(self) -> Verdict:
        now = self._now
        return Verdict(now.solved, metrics={"numbers_left": len(now.numbers)})

    def get_env_state(self) -> EnvState:
        now = self._now
        data = {"cards": list(cards_of(self._task.id)), "numbers": list(now.texts)}
        return EnvState(self._task.id, self._steps, data)

    def save_state(self) -> JsonDict:
        return {"task": self._task.id, "steps": self._steps, "numbers": list(self._now.texts)}

    @classmethod
    def from_state(cls, state: JsonDict) -> Toy24Env:
        """The game as it was saved.

        Raises:
            SpecError: `state` was not written by `save_state`.
            UnknownTaskError: its task is none.
        """
        saved = from_data(state, SavedGame)
        env = cls(saved.task)
        env._table, env._steps = saved.table(), saved.steps
        return env

    def tools(self) -> tuple[Tool, ...]:
        number = {"type": ["string", "integer"], "description": "a number on the table"}
        combine: JsonDict = {
            "type": "object",
            "properties": {
                "left": number,
                "operator": {"type": "string", "enum": list(OPERATORS)},
                "right": dict(number),
            },
            "required": list(_ARGUMENTS),
            "additionalProperties": False,
        }
        return (
            Tool("combine", "Replaces two numbers by `left operator right`.", combine),
            Tool("reset", "Deals the same four cards again.", _no_arguments()),
            Tool("stop", "Ends the episode with what is on the table.", _no_arguments()),
        )

    def state_schema(self) -> JsonDict:
        return {
            "type": "object",
            "properties": {
                "cards": {"type": "array", "items": {"type": "integer"}},
                "numbers": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["cards", "numbers"],
        }

    def list_tasks(self) -> Sequence[Task]:
        """The 1362 solvable puzzles with cards from 1 to 13."""
        return [_task(id) for id in solvable_puzzles()]

    def notify_replay_complete(self) -> None:
        self._steps = 0

    def step_signal(self) -> float:
        """1.0 while combining alone can still make 24, else 0.0."""
        return float(reachable(self._now.numbers))


def _task(id: object) -> Task:
    cards = cards_of(id if isinstance(id, str) else repr(id))
    goal = (
        f"Make 24 from {', '.join(map(str, cards))}. Combine two numbers at a time with + - * / "
        "until one is left; every number is used once."
    )
    return Task("-".join(map(str, cards)), goal, family="24")


@cache
def _dealt(id: str) -> Table:
    return table(tuple(map(Fraction, cards_of(id))))


def _no_arguments() -> JsonDict:
    return {"type": "object", "properties": {}, "additionalProperties": False}


def _text_of(action: Action) -> str:
    """The text form of an action in either form.

    Raises:
        InvalidAction: a tool that does not exist, or arguments that do not fit.
    """
    if not action.tool:
        return " ".join(action.text.split())
    wanted = _ARGUMENTS if action.tool == "combine" else ()
    if action.tool not in ("combine", "reset", "stop"):
        raise InvalidAction(f"There is no tool {action.tool!r}. {_FORMS}")
    given = action.arguments
    if given.keys() != set(wanted) or not all(type(v) in (str, int) for v in given.values()):
        raise InvalidAction(
            f"{action.tool} takes {', '.join(wanted) or 'no arguments'}, each a text or a whole "
            f"number; got {given!r}."
        )
    return " ".join([action.tool, *(str(given[name]) for name in wanted)])


def _refusal(text: str, now: Table) -> str:
    """Why `text` is not possible, and what is."""
    words = text.split()
    if len(words) != 4 or words[0] != "combine" or words[2] not in OPERATORS:
        return f"{text!r} is no action. {_FORMS}"
    left, operator, right = words[1:]
    rest = list(now.texts)
    for number in (left, right):
        if number not in rest:
            return (
                f"{text!r} is impossible: {number} is not on the table "
                f"{'a second time ' if number in now.texts else ''}"
                f"(numbers: {', '.join(now.texts)})."
            )
        rest.remove(number)
    return f"{text!r} is impossible: {operator} {right} divides by zero."
