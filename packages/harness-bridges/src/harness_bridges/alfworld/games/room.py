"""A room: its receptacles, where one stands to reach them, and what is fixed in it."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from attrs import evolve, frozen

from harness_bridges.alfworld.games import catalogue

CELL = 0.25
"""Metres between neighbouring places to stand, as in the benchmark."""


@frozen
class Receptacle:
    """A place for objects.

    Args:
        id: `Type|x|y|z`, in metres.
        type: its type.
        location: the id of the place to stand, `loc|x|z|rotation|horizon`.
        openable: whether it has a door.
        closed: whether the door is closed at first.
        spot: x, y, z in metres.
    """

    id: str
    type: str
    location: str
    openable: bool
    closed: bool
    spot: tuple[float, float, float]


@frozen
class Thing:
    """An object: its id, type, the place to stand, and the receptacle it lies in (or none)."""

    id: str
    type: str
    location: str
    receptacle: str | None


@frozen
class Room:
    """One scene: what stands in it; the agent starts at `start`, next to nothing."""

    scene: int
    kind: str
    start: str
    receptacles: tuple[Receptacle, ...]
    fixtures: tuple[Thing, ...]


def room_kind(scene: int) -> str:
    """The kind of room that a scene number stands for; empty if it stands for none."""
    return next((kind for kind, numbers in catalogue.SCENES.items() if scene in numbers), "")


@lru_cache(maxsize=256)
def build_room(scene: int, receptacles: int | None = None) -> Room:
    """The room of a scene, with its doors closed: always the same for the same arguments.

    Args:
        scene: its number.
        receptacles: how many it has, at most 200; None: as rooms of the benchmark do. A room
            with fewer is a part of one with more.
    """
    kind = room_kind(scene)
    rng = Random(f"room {scene}")
    cells = [(x, z) for x in range(-12, 13) for z in range(-12, 13)]
    rng.shuffle(cells)
    (x, z), (lone_x, lone_z) = cells.pop(), cells.pop()
    start = f"loc|{x}|{z}|{rng.randrange(4)}|30"
    lone = f"loc|{lone_x}|{lone_z}|{rng.randrange(4)}|60"
    built: list[Receptacle] = []
    latest: dict[str, Receptacle] = {}
    for type_ in _furniture(kind, receptacles, Random(f"furniture {scene}")):
        beside = latest.get(type_) if rng.random() < 0.15 else None
        latest[type_] = _receptacle(type_, cells.pop(), beside, rng)
        built.append(latest[type_])
    fixtures = []
    for fixture in catalogue.FIXTURES[kind]:
        chance = Random(f"{fixture.type} {scene}")
        if chance.random() >= fixture.chance:
            continue
        if not fixture.on:
            id_ = thing_id(fixture.type, (0.0, 0.0, 0.0))
            fixtures.append(Thing(id_, fixture.type, lone, None))
            continue
        stands = [each for type_ in fixture.on for each in built if each.type == type_]
        if stands:
            fixtures.append(place(fixture.type, stands[0], chance))
    return Room(scene, kind, start, tuple(built), tuple(fixtures))


def with_doors(room: Room, closed: float, rng: Random) -> Room:
    """The room with that share of its doors closed; the others stand open."""
    doors = [each.id for each in room.receptacles if each.openable]
    shut = set(rng.sample(doors, round(closed * len(doors))))
    receptacles = tuple(evolve(each, closed=each.id in shut) for each in room.receptacles)
    return evolve(room, receptacles=receptacles)


def place(type_: str, receptacle: Receptacle, rng: Random) -> Thing:
    """A thing of this type, somewhere in or on the receptacle."""
    x, y, z = receptacle.spot
    spot = (x + rng.uniform(-0.2, 0.2), y + rng.uniform(0.02, 0.2), z + rng.uniform(-0.2, 0.2))
    return Thing(thing_id(type_, spot), type_, receptacle.location, receptacle.id)


def thing_id(type_: str, spot: tuple[float, float, float]) -> str:
    """An id as the benchmark writes it, such as `Apple|-00.34|+01.16|00.00`."""
    rounded = (round(value, 2) for value in spot)
    return "|".join([type_, *(f"{value:+06.2f}" if value else "00.00" for value in rounded)])


def _furniture(kind: str, number: int | None, rng: Random) -> list[str]:
    """The types of a room's receptacles: one of each, then the second ones, and so on."""
    table = catalogue.FURNITURE[kind]
    counts = {type_: rng.choice(numbers) for type_, numbers in table.items()}
    turns = range(max(counts.values()))
    types = [type_ for turn in turns for type_, count in counts.items() if turn < count]
    if number is None:
        return types
    usual = [max(numbers) - 1 for numbers in table.values()]
    return (types + rng.choices(list(table), usual, k=max(0, number - len(types))))[:number]


def _receptacle(
    type_: str, cell: tuple[int, int], beside: Receptacle | None, rng: Random
) -> Receptacle:
    """One receptacle; it shares the place to stand with `beside`, if given, and stands above."""
    height, horizon = catalogue.WHERE[type_]
    turn = rng.randrange(4)
    if beside:
        location, (x, y, z) = beside.location, beside.spot
        spot = (x, y + 0.2, z)
    else:
        location = f"loc|{cell[0]}|{cell[1]}|{turn}|{horizon}"
        ahead_x, ahead_z = ((0.0, 0.6), (0.6, 0.0), (0.0, -0.6), (-0.6, 0.0))[turn]
        spot = (
            cell[0] * CELL + ahead_x + rng.uniform(-0.1, 0.1),
            height + rng.uniform(0.0, 0.1),
            cell[1] * CELL + ahead_z + rng.uniform(-0.1, 0.1),
        )
    head = type_.removesuffix("Basin")
    id_ = thing_id(head, spot) + (f"|{type_}" if head != type_ else "")
    openable = type_ in catalogue.OPENABLE and (
        type_ not in catalogue.SOMETIMES_OPENABLE or rng.random() < 0.85
    )
    return Receptacle(id_, type_, location, openable, openable, spot)
