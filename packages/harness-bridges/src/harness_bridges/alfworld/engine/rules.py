"""What may be done in a state, and what it changes: ALFWorld's PDDL actions as TextWorld runs them.

Each rule below gives its precondition and its effect in the words of the domain text. Where the
running engine is narrower than that text, the rule says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness_bridges.alfworld.engine.state import NOTHING, State, members, with_at
from harness_bridges.alfworld.engine.world import Act, Offer, World, remember

Found = Iterator[tuple[str, Act]]


def offer(world: World, state: State) -> Offer:
    """All commands that have an answer, sorted as text, with what they mean."""
    at, held = state.at, state.held
    blade = held != NOTHING and world.knives >> held & 1
    key = (
        at,
        held,
        state.near[at] & world.sliceable if blade else 0,
        state.opened & world.doors[at],
        world.contents_at[at](state.inside),
    )
    known = world.offers.get(key)
    if known is None:
        acts = dict(pair for rule in _RULES for pair in rule(world, state))
        ways = world.ways.get(at)
        if ways is None:
            ways = world.ways[at] = dict(sorted(_go(world, state)))
        known = Offer(sorted([*ways, *acts]), acts, ways)
        remember(world.offers, key, known)
    return known


def effect(world: World, state: State, act: Act) -> State:
    """The state after an act that was offered."""
    change = EFFECTS.get(act.verb)
    return state if change is None else change(world, state, act)


def accessible(world: World, state: State, place: int) -> bool:
    """Whether a receptacle is open, or cannot be closed."""
    return not world.openable >> place & 1 or bool(state.opened >> place & 1)


def _always(world: World, state: State) -> Found:
    """look, inventory, help: no condition."""
    yield "look", Act("look")
    yield "inventory", Act("inventory")
    if world.has_help:
        yield "help", Act("help")


def _go(world: World, state: State) -> Found:
    """GotoLocation: a receptacle that is not at the agent's location."""
    for place, name in enumerate(world.receptacles):
        if world.place[place] not in (state.at, NOTHING):
            yield f"go to {name}", Act("go", place=place)


def _went(world: World, state: State, act: Act) -> State:
    return tuple.__new__(State, (world.place[act.place], *state[1:]))  # the most frequent act


def _examine(world: World, state: State) -> Found:
    """examineReceptacle: one that is here. examineObject: the held one.

    The domain text also allows objects in open receptacles here; the running engine does not.
    """
    for place in world.here[state.at]:
        yield f"examine {world.receptacles[place]}", Act("examine place", place=place)
    if state.held != NOTHING:
        yield f"examine {world.objects[state.held]}", Act("examine thing", state.held)


def _open(world: World, state: State) -> Found:
    """OpenObject: openable, here, not opened."""
    for place in world.here[state.at]:
        if world.openable >> place & 1 and not state.opened >> place & 1:
            yield f"open {world.receptacles[place]}", Act("open", place=place)


def _opened(world: World, state: State, act: Act) -> State:
    return state._replace(opened=state.opened | 1 << act.place)


def _close(world: World, state: State) -> Found:
    """CloseObject: openable, here, opened."""
    for place in world.here[state.at]:
        if world.openable >> place & 1 and state.opened >> place & 1:
            yield f"close {world.receptacles[place]}", Act("close", place=place)


def _closed(world: World, state: State, act: Act) -> State:
    return state._replace(opened=state.opened & ~(1 << act.place))


def _take(world: World, state: State) -> Found:
    """PickupObject: hand empty, pickupable, in a receptacle here that is accessible."""
    if state.held != NOTHING:
        return
    for place in world.here[state.at]:
        if accessible(world, state, place):
            for thing in members(state.inside[place] & world.pickupable):
                command = f"take {world.objects[thing]} from {world.receptacles[place]}"
                yield command, Act("take", thing, place)


def _took(world: World, state: State, act: Act) -> State:
    """No longer in that receptacle, nor at this location; it stays in other receptacles."""
    place, bit = act.place, 1 << act.thing
    return state._replace(
        held=act.thing,
        inside=with_at(state.inside, place, state.inside[place] & ~bit),
        taken=with_at(state.taken, place, state.taken[place] | bit),
        near=with_at(state.near, state.at, state.near[state.at] & ~bit),
    )


def _put(world: World, state: State) -> Found:
    """PutObject: held, the receptacle here, accessible, and of a type that may hold its type."""
    if state.held == NOTHING:
        return
    form = "move {} to {}" if world.dialect == "move" else "put {} in/on {}"
    for place in world.here[state.at]:
        if accessible(world, state, place) and world.accepts[place] >> state.held & 1:
            command = form.format(world.objects[state.held], world.receptacles[place])
            yield command, Act("put", state.held, place)


def _did_put(world: World, state: State, act: Act) -> State:
    place, bit = act.place, 1 << act.thing
    return state._replace(
        held=NOTHING,
        inside=with_at(state.inside, place, state.inside[place] | bit),
        taken=with_at(state.taken, place, state.taken[place] & ~bit),
        near=with_at(state.near, state.at, state.near[state.at] | bit),
    )


def _treat(world: World, state: State) -> Found:
    """CleanObject, HeatObject, CoolObject: held, able to, the tool here; open or not."""
    if state.held == NOTHING:
        return
    able = {"clean": world.cleanable, "heat": world.heatable, "cool": world.coolable}
    for verb, things in able.items():
        if things >> state.held & 1:
            for place in world.here[state.at]:
                if world.tools[verb] >> place & 1:
                    names = world.objects[state.held], world.receptacles[place]
                    yield "{} {} with {}".format(verb, *names), Act(verb, state.held, place)


def _cleaned(world: World, state: State, act: Act) -> State:
    return state._replace(clean=state.clean | 1 << act.thing)


def _heated(world: World, state: State, act: Act) -> State:
    bit = 1 << act.thing
    return state._replace(hot=state.hot | bit, cool=state.cool & ~bit)


def _cooled(world: World, state: State, act: Act) -> State:
    bit = 1 << act.thing
    return state._replace(cool=state.cool | bit, hot=state.hot & ~bit)


def _use(world: World, state: State) -> Found:
    """ToggleObject: toggleable, in a receptacle here, open or not. Once on, it stays on."""
    for place in world.here[state.at]:
        for thing in members(state.inside[place] & world.toggleable):
            yield f"use {world.objects[thing]}", Act("use", thing)


def _used(world: World, state: State, act: Act) -> State:
    return state._replace(on=state.on | 1 << act.thing)


def _slice(world: World, state: State) -> Found:
    """SliceObject: a knife held, the other sliceable and at this location, seen or not."""
    if state.held == NOTHING or not world.knives >> state.held & 1:
        return
    for thing in members(state.near[state.at] & world.sliceable):
        command = f"slice {world.objects[thing]} with {world.objects[state.held]}"
        yield command, Act("slice", thing, state.held)


def _did_slice(world: World, state: State, act: Act) -> State:
    return state._replace(sliced=state.sliced | 1 << act.thing)


_RULES: tuple[Callable[[World, State], Found], ...] = (
    *(_always, _examine, _open, _close, _take, _put, _treat, _use, _slice),
)

EFFECTS: dict[str, Callable[[World, State, Act], State]] = {
    "go": _went,
    "open": _opened,
    "close": _closed,
    "take": _took,
    "put": _did_put,
    "clean": _cleaned,
    "heat": _heated,
    "cool": _cooled,
    "use": _used,
    "slice": _did_slice,
}
"""The state after an act that was offered, by its verb; other acts change nothing."""
