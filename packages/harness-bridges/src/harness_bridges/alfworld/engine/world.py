"""What stays the same in a game: its things, their names and kinds, and where receptacles are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from attrs import field, frozen

from harness_bridges.alfworld.engine.goal import Goal
from harness_bridges.alfworld.engine.state import State


class Act(NamedTuple):
    """A command in numbers: a verb of `rules.RULES`, an object and a receptacle or knife."""

    verb: str
    thing: int = -1
    place: int = -1


class Offer(NamedTuple):
    """The commands that have an answer in some state.

    Args:
        commands: all of them, in the engine's order.
        acts: what those mean that do not lead away.
        ways: what those mean that do; shared by all states at a location.
    """

    commands: list[str]
    acts: dict[str, Act]
    ways: dict[str, Act]


@frozen(eq=False)
class World:
    """A game. Objects, receptacles and locations are the numbers of their names below.

    Args:
        objects: names, in the order in which texts list them: by type, then the highest number
            first.
        receptacles: names, likewise.
        locations: names of the places where the agent can stand.
        agent: its name.
        place: receptacle -> its location; `NOTHING` where it has none.
        here: location -> its receptacles.
        openable: receptacles, a set.
        pickupable: objects, a set; likewise the next ones.
        containers: objects that can have things in them, a set.
        contents: container -> the objects in it.
        accepts: receptacle -> the objects that may be put there, a set.
        tools: `"clean"`, `"heat"`, `"cool"` -> the receptacles that do it, a set.
        knives: objects that cut, a set.
        goal: what is wanted.
        task: the task sentence, as the introduction ends.
        dialect: `"move"` or `"put"`: how the game words putting down.
        has_help: whether the command `help` exists.
        start: the state at reset.
        digest: of the texts that the game was read from.
    """

    objects: tuple[str, ...]
    receptacles: tuple[str, ...]
    locations: tuple[str, ...]
    agent: str
    place: tuple[int, ...]
    here: tuple[tuple[int, ...], ...]
    openable: int
    pickupable: int
    cleanable: int
    heatable: int
    coolable: int
    sliceable: int
    toggleable: int
    containers: int
    contents: dict[int, Sequence[int]]
    accepts: tuple[int, ...]
    tools: dict[str, int]
    knives: int
    goal: Goal
    task: str
    dialect: str
    has_help: bool
    start: State
    digest: str = ""
    thing_number: dict[str, int] = field(init=False, repr=False)
    """Object name -> its number; likewise for receptacles and locations."""
    place_number: dict[str, int] = field(init=False, repr=False)
    spot_number: dict[str, int] = field(init=False, repr=False)
    doors: tuple[int, ...] = field(init=False, repr=False)
    """Location -> the receptacles there that can be closed, a set."""
    contents_at: tuple[Callable[[tuple[int, ...]], Any], ...] = field(init=False, repr=False)
    """Location -> what picks out the contents of its receptacles."""
    ways: dict[int, dict[str, Act]] = field(factory=dict, init=False, repr=False)
    """Location -> the commands that lead away, worked out when the agent first stands there."""
    offers: dict[Any, Offer] = field(factory=dict, init=False, repr=False)
    """What `rules.offer` worked out, by everything that it depends on."""
    arrivals: dict[Any, str] = field(factory=dict, init=False, repr=False)
    """What was said on arrival, by everything that it depends on."""

    @property
    def goal_text(self) -> str:
        """The task in words, without the beginning that all have."""
        return self.task.removeprefix("Your task is to: ").rstrip(".")

    @doors.default
    def _doors(self) -> tuple[int, ...]:
        return tuple(sum(1 << place for place in here) & self.openable for here in self.here)

    @contents_at.default
    def _contents_at(self) -> tuple[Callable[[tuple[int, ...]], Any], ...]:
        return tuple(itemgetter(*here) if here else len for here in self.here)

    @thing_number.default
    def _thing_number(self) -> dict[str, int]:
        return _numbered(self.objects)

    @place_number.default
    def _place_number(self) -> dict[str, int]:
        return _numbered(self.receptacles)

    @spot_number.default
    def _spot_number(self) -> dict[str, int]:
        return _numbered(self.locations)


def _numbered(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


REMEMBERED = 4096
"""Answers that a world remembers of each kind, before it starts anew."""


def remember(memory: dict[Any, Any], key: Any, value: Any) -> None:
    """Keeps an answer; a memory that is full is emptied, so that long walks stay small."""
    if len(memory) >= REMEMBERED:
        memory.clear()
    memory[key] = value
