"""Sources of training envs that reshape nothing: the tasks as they are, and pairs of them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from attrs import frozen

from harness_core.chain import Chain
from harness_core.sources import Sourced, Wanted


@frozen
class OriginalSource:
    """The tasks as they are, in order."""

    def envs(self, wanted: Wanted) -> Iterator[Sourced]:
        for stack in wanted.tasks[: wanted.count]:
            yield Sourced(stack)


@frozen
class ChainedSource:
    """Random pairs of the tasks, each pair one episode that is solved if both are.

    Args:
        seed: draws the pairs.
    """

    seed: int = 0

    def envs(self, wanted: Wanted) -> Iterator[Sourced]:
        if len(wanted.tasks) < 2:
            return
        chance = random.Random(self.seed)
        for _ in range(wanted.count):
            first, second = chance.sample(wanted.tasks, 2)
            yield Sourced(first.wrapped(Chain(extension=second)), change=f"then {second.task}")
