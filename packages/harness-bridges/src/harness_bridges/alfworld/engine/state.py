"""What changes in a game, as an immutable value.

Objects and receptacles are numbers, in the order in which texts list them; a set of objects is
an int with one bit for each. A state is a tuple: copying it costs nothing, equal states are
equal and hash alike, and a step makes a new one that shares what it leaves alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

NOTHING = -1


class State(NamedTuple):
    """The changing facts of a game.

    Args:
        at: the location of the agent.
        held: the object in its hand, or `NOTHING`.
        opened: receptacles, a set.
        inside: receptacle -> objects in or on it, a set (`inReceptacle`).
        taken: receptacle -> objects that were taken from it and are not back, a set. It is not
            the complement of `inside`: at the start it is empty.
        near: location -> objects that count as there, a set (`objectAtLocation`).
        clean: objects, a set; likewise the others.
    """

    at: int
    held: int
    opened: int
    inside: tuple[int, ...]
    taken: tuple[int, ...]
    near: tuple[int, ...]
    clean: int = 0
    hot: int = 0
    cool: int = 0
    sliced: int = 0
    on: int = 0


def members(numbers: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


def with_at(sets: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    """A copy in which one set is another."""
    return (*sets[:index], value, *sets[index + 1 :])
