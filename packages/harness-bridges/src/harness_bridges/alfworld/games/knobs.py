"""What games are asked for: the choices and the knobs of their difficulty, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import Factory, field, frozen

from harness_bridges.alfworld.games import catalogue
from harness_bridges.alfworld.games.task import BY_NAME, FAMILIES
from harness_core.errors import HarnessError, UnknownIdError

LIMITS: dict[str, tuple[type, float, float]] = {
    "receptacles": (int, 2, 200),
    "closed": (float, 0, 1),
    "distractors": (int, 0, 500),
    "spares": (int, 0, 50),
}
"""Knob -> the kind of number, the least and the greatest."""


def _names(names: Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _rooms(rooms: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(catalogue.SCENES) if rooms is None else _names(rooms)


def _families(knobs: Knobs) -> tuple[str, ...]:
    rooms = set(knobs.rooms)
    return tuple(name for name in FAMILIES if rooms & set(BY_NAME[name].kinds))


@frozen
class Knobs:
    """The arguments of `generate_games` that say what games are like.

    Raises:
        UnknownIdError: an unknown family or room.
        HarnessError: a number that is none, or out of bounds; a family that no room offers.
    """

    rooms: Sequence[str] = field(default=None, converter=_rooms)
    families: Sequence[str] = field(default=Factory(_families, takes_self=True), converter=_names)
    receptacles: int | None = None
    closed: float = 1.0
    hidden: bool | None = None
    distractors: int | None = None
    spares: int | None = None
    plan_length: tuple[int, int] | None = None

    def __attrs_post_init__(self) -> None:
        _check_names("room kind", self.rooms, catalogue.SCENES)
        _check_names("family", self.families, FAMILIES)
        for name in self.families:
            offering = BY_NAME[name].kinds
            if not set(self.rooms) & set(offering):
                raise HarnessError(
                    f"No {' or '.join(self.rooms)} offers {name}, which needs a "
                    f"{' or '.join(offering)}. Name other rooms, or other families."
                )
        for name, (kind, least, most) in LIMITS.items():
            _check_number(name, getattr(self, name), kind, least, most)
        if self.plan_length is not None:
            _check_range("plan_length", self.plan_length)

    def __str__(self) -> str:
        """The knobs that are turned, for messages."""
        turned = {
            name: getattr(self, name) for name in ("receptacles", "closed", "hidden", "spares")
        }
        usual = Knobs()
        return ", ".join(
            f"{name}={value}" for name, value in turned.items() if value != getattr(usual, name)
        )


def _check_names(noun: str, asked: Sequence[str], known: Any) -> None:
    if not asked:
        raise HarnessError(f"Name at least one {noun}, or leave them out for all.")
    for each in asked:
        if each not in known:
            raise UnknownIdError(noun, each, known)


def _check_number(name: str, value: Any, kind: type, least: float, most: float) -> None:
    if value is None and name != "closed":
        return
    allowed = (int, float) if kind is float else int
    if isinstance(value, bool) or not isinstance(value, allowed) or not least <= value <= most:
        what = "number" if kind is float else "whole number"
        raise HarnessError(f"{name} is a {what} from {least:g} to {most:g}; got {value!r}.")


def _check_range(name: str, pair: Any) -> None:
    numbers = isinstance(pair, tuple | list) and [type(each) for each in pair] == [int, int]
    if not numbers or not 1 <= pair[0] <= pair[1]:
        raise HarnessError(
            f"{name} is the least and the greatest number of commands, such as (5, 8); "
            f"got {pair!r}."
        )
