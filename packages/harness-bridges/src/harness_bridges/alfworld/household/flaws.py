"""Household policies with one named flaw each: subjects whose weakness is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from harness_bridges.alfworld.household.policy import SWEEPS, HouseholdPolicy
from harness_core.errors import SpecError
from harness_core.values import Observation, Task, Tool


class FlawedPolicy(HouseholdPolicy):
    """A household policy with a flaw that shows in some episodes.

    Args:
        strength: in [0, 1]: the probability that the flaw shows, decided once per episode by
            the seed. 0 is the competent policy.
    """

    def __init__(self, strength: float = 1.0) -> None:
        if not 0.0 <= strength <= 1.0:
            raise SpecError(f"strength is a probability, in [0, 1]; got {strength}.")
        self.strength = strength
        self.flawed = False
        self._chance = Random(0)
        super().__init__()

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        super().reset(task, tools, seed)
        self._chance = Random(f"flaw {seed}")  # its own, so that strength 0 changes nothing
        self.flawed = self._chance.random() < self.strength


class NoOpenPolicy(FlawedPolicy):
    """Leaves closed receptacles closed: never finds what is inside, never puts anything in."""

    def _opens(self, place: str) -> bool:
        return not self.flawed


class ForgetsSecondPolicy(FlawedPolicy):
    """Believes that a task about two objects is done with the first, and stops."""

    def _choose(self) -> str:
        goal = self.goal
        first = goal is not None and goal.copies == 2 and self._kept(goal)
        return "" if self.flawed and first else super()._choose()


class LoopsPolicy(FlawedPolicy):
    """Repeats its last command, three times each, at times.

    Args:
        strength: in [0, 1]: the probability of a repetition, decided at every command.
    """

    def __init__(self, strength: float = 0.3) -> None:
        self._left = 0
        super().__init__(strength)

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        super().reset(task, tools, seed)
        self._left = 0

    def _choose(self) -> str:
        if not self._left and self._last and self._chance.random() < self.strength:
            self._left = 3
        if self._left:
            self._left -= 1
            return self._last
        return super()._choose()


class GivesUpPolicy(FlawedPolicy):
    """Stops after a few places in which it did not find what it looked for.

    Args:
        strength: in [0, 1]: the probability that the flaw shows, decided once per episode.
        patience: how many places it looks into, from the last thing it picked up.
    """

    def __init__(self, strength: float = 1.0, patience: int = 4) -> None:
        self.patience = patience
        self._fruitless = 0
        super().__init__(strength)

    def _enter(self, sentence: str) -> None:
        super()._enter(sentence)
        self._fruitless = 0

    def _read(self, observation: Observation) -> None:
        before = self._seen()
        super()._read(observation)
        gained = max(0, self._seen() - before)
        self._fruitless = 0 if self.memory.holding else self._fruitless + gained

    def _seen(self) -> int:
        return sum(place.seen for place in self.memory.places.values())

    def _search(self, wanted: str) -> Iterator[str]:
        if self.flawed and self._fruitless >= self.patience:
            self._sweeps = SWEEPS  # and no second look
            return
        yield from super()._search(wanted)
