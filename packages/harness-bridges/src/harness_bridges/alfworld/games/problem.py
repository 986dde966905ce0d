"""A problem: a room, the objects in it and a task; and its text in the benchmark's PDDL."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256

from attrs import frozen

from harness_bridges.alfworld.games import catalogue
from harness_bridges.alfworld.games.room import Room, Thing
from harness_bridges.alfworld.games.task import TaskSpec

_PROPERTIES = (
    ("cleanable", catalogue.CLEANABLE),
    ("heatable", catalogue.HEATABLE),
    ("coolable", catalogue.COOLABLE),
    ("sliceable", catalogue.SLICEABLE),
    ("toggleable", catalogue.TOGGLEABLE),
    ("isReceptacleObject", catalogue.CONTAINERS),
)


@frozen
class Problem:
    """Everything about a game but the engine's texts.

    Args:
        room: the scene.
        objects: what can be picked up.
        task: what is asked for.
        sentence: how it is asked for.
    """

    room: Room
    objects: tuple[Thing, ...]
    task: TaskSpec
    sentence: str

    @cached_property
    def trial(self) -> str:
        """A name for this problem, made from its content."""
        content = self._body + self.sentence
        return f"trial_{sha256(content.encode()).hexdigest()[:16]}"

    def pddl(self) -> str:
        """The problem file's text."""
        return f"(define (problem plan_{self.trial})\n{self._body}"

    @cached_property
    def _body(self) -> str:
        start = self.room.start
        things = self.objects + self.room.fixtures
        receptacles = self.room.receptacles
        locations = [start, *(r.location for r in receptacles), *(t.location for t in things)]
        declared = {
            "agent": ["agent1"],
            "location": sorted(set(locations)),
            "otype": sorted({f"{thing.type}Type" for thing in things}),
            "rtype": sorted({f"{receptacle.type}Type" for receptacle in receptacles}),
            "object": sorted(thing.id for thing in things),
            "receptacle": sorted(receptacle.id for receptacle in receptacles),
        }
        names = "\n".join(f"        {mangle(i)} - {t}" for t, ids in declared.items() for i in ids)
        facts = mangle("\n".join(f"        ({' '.join(fact)})" for fact in self._facts()))
        return (
            f"(:domain alfred)\n(:objects\n{names}\n        )\n"
            f"(:init\n{facts}\n        )\n(:goal\n{self.task.goal()}\n)\n)\n"
        )

    def _facts(self) -> Iterator[tuple[str, ...]]:
        things = self.objects + self.room.fixtures
        types = sorted({thing.type for thing in things})
        for receptacle in self.room.receptacles:
            yield "receptacleType", receptacle.id, f"{receptacle.type}Type"
            yield "receptacleAtLocation", receptacle.id, receptacle.location
            if receptacle.openable:
                yield "openable", receptacle.id
                if not receptacle.closed:
                    yield "opened", receptacle.id
        for type_ in sorted({receptacle.type for receptacle in self.room.receptacles}):
            for held in types:
                if held in catalogue.HOLDS[type_]:
                    yield "canContain", f"{type_}Type", f"{held}Type"
        for thing in things:
            yield "objectType", thing.id, f"{thing.type}Type"
            yield "objectAtLocation", thing.id, thing.location
            if thing.receptacle:
                yield "inReceptacle", thing.id, thing.receptacle
            for property_, having in _PROPERTIES:
                if thing.type in having:
                    yield property_, thing.id
        for thing in self.objects:
            yield "pickupable", thing.id
        yield "atLocation", "agent1", self.room.start


def mangle(text: str) -> str:
    """Ids as PDDL names: `Apple|-00.34|...` becomes `Apple_bar__minus_00_dot_34_bar_...`."""
    for sign, word in (("|", "_bar_"), ("-", "_minus_"), ("+", "_plus_"), (".", "_dot_")):
        text = text.replace(sign, word)
    return text
