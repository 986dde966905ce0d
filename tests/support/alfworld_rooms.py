"""Little rooms of the native ALFWorld engine, and exact distances in them, for tests."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

from harness_bridges.alfworld.engine import Play, State, World
from harness_bridges.alfworld.engine.goal import Goal
from harness_bridges.alfworld.engine.state import NOTHING

TOOLS = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}


def room(
    kind: str,
    wanted: str,
    goal: str,
    *,
    places: Mapping[str, int],
    things: Mapping[str, Collection[str]],
    openable: Collection[str] = (),
    opened: Collection[str] = (),
    refused: Collection[tuple[str, str]] = (),
    fixed: Collection[str] = (),
    unable: Collection[str] = (),
    flags: Mapping[str, Collection[str]] | None = None,
) -> World:
    """A game to order. Names are as the player sees them, types are names without a number.

    Args:
        kind: the kind of goal.
        wanted: the type of the wanted object.
        goal: the type of the receptacle, or of the lamp.
        places: receptacle -> its location, or `NOTHING`; the agent begins at location 0.
        things: object -> the receptacles that it is in.
        openable: receptacles with a door.
        opened: receptacles that are open at first.
        refused: types of a receptacle and an object that may not be put there.
        fixed: objects that cannot be taken.
        unable: objects that cannot be treated or turned on.
        flags: `"hot"`, `"cool"`, `"clean"`, `"on"` -> the objects that are at first.
    """
    names, spots = tuple(things), 1 + max(0, *places.values())

    def objects(chosen: Collection[str]) -> int:
        return sum(1 << names.index(name) for name in chosen)

    def receptacles(chosen: Collection[str]) -> int:
        return sum(1 << number for number, name in enumerate(places) if name in chosen)

    def of_type(names: Collection[str], type_: str) -> list[str]:
        return [name for name in names if name.split()[0] == type_]

    able = objects(names) & ~objects(unable)
    targets = objects(of_type(names, wanted)) & (able if kind in TOOLS else -1)
    ends = tuple(number for number, name in enumerate(places) if name.split()[0] == goal)
    start = State(
        at=0,
        held=NOTHING,
        opened=receptacles(opened),
        inside=tuple(
            objects([name for name in names if place in things[name]]) for place in places
        ),
        taken=(0,) * len(places),
        near=(0,) * spots,
        **{flag: objects(chosen) for flag, chosen in (flags or {}).items()},
    )
    return World(
        objects=names,
        receptacles=tuple(places),
        locations=tuple(f"loc {spot}" for spot in range(spots)),
        agent="agent 1",
        place=tuple(places.values()),
        here=tuple(
            tuple(number for number, at in enumerate(places.values()) if at == spot)
            for spot in range(spots)
        ),
        openable=receptacles(openable),
        pickupable=objects(names) & ~objects(fixed),
        cleanable=able,
        heatable=able,
        coolable=able,
        sliceable=0,
        toggleable=able & objects(of_type(names, "desklamp")),
        containers=0,
        contents={},
        accepts=tuple(
            objects([n for n in names if (place.split()[0], n.split()[0]) not in refused])
            for place in places
        ),
        tools={verb: receptacles(of_type(places, type_)) for verb, type_ in TOOLS.items()},
        knives=0,
        goal=Goal(kind, targets, ends, objects(of_type(names, goal)) & able),
        task="",
        dialect="move",
        has_help=True,
        start=start,
    )


def odd_room(kind: str, rng: Random) -> World:
    """A room of a few receptacles and objects, in which anything odd is likely.

    Objects lie in several receptacles at once or in none, receptacles share a location, have
    none, are open or refuse the object, targets cannot be taken or treated or are hot, cool or
    clean already, lamps can be carried and may be on.
    """

    def some(chosen: Sequence[Any], share: float) -> list[Any]:
        return [each for each in chosen if rng.random() < share]

    look = kind == "look"
    types = rng.choices(("shelf", "drawer", "fridge", "microwave", "sinkbasin"), k=3)
    types += some([TOOLS[kind]], 0.8) if kind in TOOLS else []
    places = [f"{type_} {number}" for number, type_ in enumerate(types)]
    spots = (0, 1, 1, 2, 2, 3, *some([NOTHING], 0.3))
    apples, lamps = rng.choice((1, 2, 2, 3)), rng.choice((1, 1, 2)) if look else 0
    things = [f"apple {number}" for number in range(apples)]
    things += [f"desklamp {number}" for number in range(lamps)]
    things += some(["pen 1"], 0.6 if len(things) < 3 else 0)
    openable = some([place for place in places if not place.startswith("shelf")], 0.7)
    pairs = [(type_, thing.split()[0]) for type_ in sorted(set(types)) for thing in things]
    return room(
        kind,
        "desklamp" if look and rng.random() < 0.1 else "apple",
        "desklamp" if look else rng.choice(types),
        places={each: rng.choice(spots) for each in places},
        things={each: rng.sample(places, rng.choice((0, 1, 1, 1, 1, 2))) for each in things},
        openable=openable,
        opened=some(openable, 0.3),
        refused=some(pairs, 0.15),
        fixed=some(things, 0.05),
        unable=some(things, 0.05),
        flags={flag: some(things, 0.1) for flag in ("hot", "cool", "clean", "on")},
    )


def distances(world: World, most: int) -> list[tuple[State, int | None]]:
    """All states that any commands lead to, with their exact distances to the goal.

    Found by going through every admissible command of every state. States that differ only in
    what no rule of these rooms asks for, `taken` and `near`, count as one. Empty if there are
    more than `most`.
    """
    play = Play(world)
    states = {_essence(world.start): world.start}
    before: dict[State, list[State]] = defaultdict(list)
    length: dict[State, int] = {}
    queue = deque(states)
    while queue and len(states) <= most:
        here = queue.popleft()
        play.resume(states[here])
        if play.won:
            length[here] = 0
        for command in play.admissible():
            play.resume(states[here])
            play.act(command)
            there = _essence(play.state)
            before[there].append(here)
            if there not in states:
                states[there] = play.state
                queue.append(there)
    if queue:
        return []
    queue.extend(length)
    while queue:
        there = queue.popleft()
        for here in before[there]:
            if here not in length:
                length[here] = length[there] + 1
                queue.append(here)
    return [(state, length.get(each)) for each, state in states.items()]


def _essence(state: State) -> State:
    return state._replace(taken=(), near=())
