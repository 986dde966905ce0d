"""The state of a game as data, from an engine's facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness_bridges.alfworld.engine import State, World
from harness_bridges.alfworld.engine.state import NOTHING, members
from harness_core.values import JsonDict

Fact = tuple[str, ...]
"""A predicate and the readable names of its arguments: `("inreceptacle", "mug 1", "desk 1")`."""

_STATES = {
    "isclean": "clean",
    "ishot": "hot",
    "iscool": "cool",
    "issliced": "sliced",
    "istoggled": "on",
}
_CHANGING = {"atlocation", "objectatlocation", "inreceptacle", "opened", "holds", *_STATES}
"""The predicates that tell two states of one game apart. `checked` is left out: looking at a
thing sets it, and neither the verifier nor any text depends on it."""

SCHEMA: JsonDict = {
    "type": "object",
    "properties": {
        "goal": {"type": "string", "description": "the task sentence"},
        "family": {"type": "string", "description": "one of the six kinds of task"},
        "dialect": {"enum": ["move", "put"], "description": "how the game words putting down"},
        "won": {"type": "boolean", "description": "whether the goal holds now"},
        "admissible": {"type": "array", "items": {"type": "string"}},
        "location": {
            "type": "array",
            "items": {"type": "string"},
            "description": "the receptacles that the agent stands at; empty at the start",
        },
        "holding": {"type": "string", "description": "the held object; empty if none"},
        "receptacles": {
            "type": "object",
            "description": "by name, such as 'drawer 1'",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "openable": {"type": "boolean"},
                    "open": {"type": "boolean"},
                    "contents": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
        "states": {
            "type": "object",
            "description": "object name -> its states, of clean, hot, cool, sliced, on",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
        "facts": {
            "type": "array",
            "items": {"type": "string"},
            "description": "all that can change, such as 'inreceptacle(mug 1, desk 1)'; sorted",
        },
    },
}


def world(facts: Iterable[Fact]) -> JsonDict:
    """`location`, `holding`, `receptacles`, `states` and `facts`, as `SCHEMA` describes them."""
    facts = list(facts)
    pairs: dict[str, list[tuple[str, str]]] = {}
    for predicate, first, *rest in facts:
        pairs.setdefault(predicate, []).append((first, rest[0] if rest else ""))
    here = {place for _, place in pairs.get("atlocation", ())}
    openable = {name for name, _ in pairs.get("openable", ())}
    opened = {name for name, _ in pairs.get("opened", ())}
    receptacles: dict[str, JsonDict] = {
        name: {"openable": name in openable, "open": name in opened, "contents": []}
        for name, _ in pairs.get("receptacleatlocation", ())
    }
    for thing, name in pairs.get("inreceptacle", ()):
        receptacles[name]["contents"].append(thing)
    states: dict[str, list[str]] = {}
    for predicate, state in _STATES.items():
        for thing, _ in pairs.get(predicate, ()):
            states.setdefault(thing, []).append(state)
    return {
        "location": [n for n, place in pairs.get("receptacleatlocation", ()) if place in here],
        "holding": next((thing for _, thing in pairs.get("holds", ())), ""),
        "receptacles": receptacles,
        "states": states,
        "facts": [f"{f[0]}({', '.join(f[1:])})" for f in facts if f[0] in _CHANGING],
    }


def facts_of(game: World, state: State) -> list[Fact]:
    """What is true in the native engine, as the reference tells it, sorted.

    Only the predicates that `world` reads: those that can change, and where and what
    receptacles are.
    """
    return sorted(_facts(game, state))


def _facts(game: World, state: State) -> Iterator[Fact]:
    things, places, spots = game.objects, game.receptacles, game.locations
    yield "atlocation", game.agent, spots[state.at]
    if state.held != NOTHING:
        yield "holds", game.agent, things[state.held]
    for place, spot in enumerate(game.place):
        if spot != NOTHING:
            yield "receptacleatlocation", places[place], spots[spot]
    yield from (("openable", places[place]) for place in members(game.openable))
    yield from (("opened", places[place]) for place in members(state.opened))
    for place, inside in enumerate(state.inside):
        yield from (("inreceptacle", things[thing], places[place]) for thing in members(inside))
    for spot, near in enumerate(state.near):
        yield from (("objectatlocation", things[thing], spots[spot]) for thing in members(near))
    for predicate, flag in _STATES.items():
        yield from ((predicate, things[thing]) for thing in members(getattr(state, flag)))
