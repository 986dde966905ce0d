"""A room: its receptacles, where one stands to reach them, and what is fixed in it."""

from __future__ import annotations

from random import Random
from typing import Literal

from attrs import frozen

from harness_bridges.alfworld.games import catalogue

Size = Literal["small", "full"]

CELL = 0.25
"""Metres between neighbouring places to stand, as in the benchmark."""


@frozen
class Receptacle:
    """A place for objects.

    Args:
        id: `Type|x|y|z`, in metres.
        type: its type.
        location: the id of the place to stand, `loc|x|z|rotation|horizon`.
        openable: whether it has a door, closed at first.
        spot: x, y, z in metres.
    """

    id: str
    type: str
    location: str
    openable: bool
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
    """The kind of room that a scene number stands for."""
    return next(kind for kind, numbers in catalogue.SCENES.items() if scene in numbers)


def build_room(scene: int, size: Size = "full") -> Room:
    """The room of a scene: always the same for the same number; a small one is a part of it."""
    kind = room_kind(scene)
    rng = Random(f"room {scene}")
    cells = [(x, z) for x in range(-12, 13) for z in range(-12, 13)]
    rng.shuffle(cells)
    receptacles = []
    for furniture in catalogue.FURNITURE[kind]:
        group: list[Receptacle] = []
        for _ in range(rng.choice(furniture.counts)):
            before = group[-1] if group and rng.random() < 0.15 else None
            group.append(_receptacle(furniture.type, cells.pop(), before, rng))
        receptacles += group if size == "full" else group[: furniture.small]
    start = f"loc|{cells[0][0]}|{cells[0][1]}|{rng.randrange(4)}|30"
    lone = f"loc|{cells[1][0]}|{cells[1][1]}|{rng.randrange(4)}|60"
    fixtures = []
    for fixture in catalogue.FIXTURES[kind]:
        if rng.random() >= fixture.chance:
            continue
        if not fixture.on:
            fixtures.append(
                Thing(thing_id(fixture.type, (0.0, 0.0, 0.0)), fixture.type, lone, None)
            )
            continue
        stands = [each for type_ in fixture.on for each in receptacles if each.type == type_]
        if stands:
            fixtures.append(place(fixture.type, stands[0], Random(f"{fixture.type} {scene}")))
    return Room(scene, kind, start, tuple(receptacles), tuple(fixtures))


def place(type_: str, receptacle: Receptacle, rng: Random) -> Thing:
    """A thing of this type, somewhere in or on the receptacle."""
    x, y, z = receptacle.spot
    spot = (x + rng.uniform(-0.2, 0.2), y + rng.uniform(0.02, 0.2), z + rng.uniform(-0.2, 0.2))
    return Thing(thing_id(type_, spot), type_, receptacle.location, receptacle.id)


def thing_id(type_: str, spot: tuple[float, float, float]) -> str:
    """An id as the benchmark writes it, such as `Apple|-00.34|+01.16|00.00`."""
    rounded = (round(value, 2) for value in spot)
    return "|".join([type_, *(f"{value:+06.2f}" if value else "00.00" for value in rounded)])


def _receptacle(
    type_: str, cell: tuple[int, int], before: Receptacle | None, rng: Random
) -> Receptacle:
    """One receptacle; it shares the place to stand with `before`, if given, and stands above."""
    height, horizon = catalogue.WHERE[type_]
    turn = rng.randrange(4)
    if before:
        location, (x, y, z) = before.location, before.spot
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
    return Receptacle(id_, type_, location, openable, spot)
