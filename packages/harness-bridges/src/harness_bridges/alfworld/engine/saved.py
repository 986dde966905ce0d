"""A state as JSON data, in names: what differs from the start of the game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness_bridges.alfworld.engine.state import NOTHING, State, members
from harness_bridges.alfworld.engine.world import World
from harness_core.errors import SpecError
from harness_core.values import JsonDict

_FLAGS = ("clean", "hot", "cool", "sliced", "on")
_SETS = ("inside", "taken", "near")


def save_state(world: World, state: State) -> JsonDict:
    """The state, small enough to keep one for every step."""
    things, places, spots = world.objects, world.receptacles, world.locations
    saved: JsonDict = {
        "at": spots[state.at],
        "held": "" if state.held == NOTHING else things[state.held],
        "opened": _named(places, state.opened),
    }
    for name, where in zip(_SETS, (places, places, spots), strict=True):
        saved[name] = _changed(where, things, getattr(world.start, name), getattr(state, name))
    for name in _FLAGS:
        saved[name] = _named(things, getattr(state, name))
    return saved


def load_state(world: World, saved: JsonDict) -> State:
    """The state that `save_state` wrote.

    Raises:
        SpecError: it is no state of this game.
    """
    things, places, spots = world.thing_number, world.place_number, world.spot_number
    try:
        inside, taken, near = (
            _restored(getattr(world.start, name), where, things, saved[name])
            for name, where in zip(_SETS, (places, places, spots), strict=True)
        )
        return State(
            spots[saved["at"]],
            things[saved["held"]] if saved["held"] else NOTHING,
            _numbers(places, saved["opened"]),
            inside,
            taken,
            near,
            *(_numbers(things, saved[name]) for name in _FLAGS),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise SpecError(
            f"This is no saved state of the game ({type(error).__name__}: {error}). Use the "
            "game file that it was saved with."
        ) from error


def _changed(
    where: tuple[str, ...], things: tuple[str, ...], old: tuple[int, ...], new: tuple[int, ...]
) -> dict[str, list[str]]:
    if old is new:
        return {}
    return {where[index]: _named(things, now) for index, now in enumerate(new) if now != old[index]}


def _named(names: tuple[str, ...], numbers: int) -> list[str]:
    return [names[each] for each in members(numbers)] if numbers else []


def _restored(
    old: tuple[int, ...],
    where: Mapping[str, int],
    things: Mapping[str, int],
    changed: Mapping[str, Iterable[str]],
) -> tuple[int, ...]:
    if not changed:
        return old
    sets = list(old)
    for name, names in changed.items():
        sets[where[name]] = _numbers(things, names)
    return tuple(sets)


def _numbers(number: Mapping[str, int], names: Iterable[str]) -> int:
    found = 0
    for name in names:
        found |= 1 << number[name]
    return found
