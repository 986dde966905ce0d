"""A simulated learner: a scripted policy whose flaws go away when it reads the right advice.

It stands in for a model where the machinery around skills is tried without one. What it scores
says something about that machinery, and nothing about any model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType

from harness_bridges.alfworld.household.policy import SWEEPS, HouseholdPolicy
from harness_core.errors import SpecError
from harness_core.values import Task, Tool

PATIENCE = 4
"""How many places it looks into before it gives up, if nobody told it not to."""

REMEDIES: Mapping[str, tuple[frozenset[str], ...]] = MappingProxyType(
    {
        "leaves doors closed": (
            frozenset({"open", "opening"}),
            frozenset({"closed", "container", "containers", "door", "drawer", "receptacle"}),
        ),
        "forgets the second object": (
            frozenset({"two", "both", "second"}),
            frozenset({"object", "objects", "item", "items"}),
        ),
        "gives up early": (
            frozenset({"every", "all", "until", "keep"}),
            frozenset({"search", "searching", "look", "looking"}),
        ),
    }
)
"""Flaw -> what a sentence of advice must say against it: a word of each set."""


def heeded(advice: str) -> set[str]:
    """The flaws that `advice` speaks against."""
    sentences = [set(re.findall(r"[a-z]+", each)) for each in re.split(r"[.!?\n]", advice.lower())]
    return {
        flaw
        for flaw, needed in REMEDIES.items()
        if any(all(words & each for each in needed) for words in sentences)
    }


class SimulatedReader(HouseholdPolicy):
    """Household with three flaws, each of which a sentence in `task.data["guidance"]` cures.

    Args:
        strength: in [0, 1]: the probability that a flaw shows in an episode where nothing was
            read against it, decided by the seed for each flaw.
    """

    def __init__(self, strength: float = 0.8) -> None:
        if not 0.0 <= strength <= 1.0:
            raise SpecError(f"strength is a probability, in [0, 1]; got {strength}.")
        self.strength = strength
        self.flaws: set[str] = set()
        super().__init__()

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        super().reset(task, tools, seed)
        chance = Random(f"reader {seed}")
        shown = {flaw for flaw in REMEDIES if chance.random() < self.strength}
        self.flaws = shown - heeded(str(task.data.get("guidance", "")))

    def _opens(self, place: str) -> bool:
        return "leaves doors closed" not in self.flaws

    def _choose(self) -> str:
        goal = self.goal
        first = goal is not None and goal.copies == 2 and self._kept(goal)
        return "" if first and "forgets the second object" in self.flaws else super()._choose()

    def _search(self, wanted: str) -> Iterator[str]:
        looked = sum(place.seen for place in self.memory.places.values())
        if "gives up early" in self.flaws and looked >= PATIENCE:
            self._sweeps = SWEEPS  # and no second look
            return
        yield from super()._search(wanted)
