"""What the game says: ALFWorld's grammar, rule by rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness_bridges.alfworld.engine.rules import accessible
from harness_bridges.alfworld.engine.state import NOTHING, State, members
from harness_bridges.alfworld.engine.world import Act, World, remember

NOTHING_HAPPENS = "Nothing happens."

_ROOM = "You are in the middle of a room. Looking quickly around you, you see {}."

HELP = """\
Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""


def intro(world: World) -> str:
    """The first observation: welcome, all receptacles of the room, the task."""
    state = world.start
    if world.here[state.at]:
        room = look(world, state)
    else:
        found = (place for place, at in enumerate(world.place) if at != NOTHING)
        room = _ROOM.format(listed(f"a {world.receptacles[place]}" for place in found))
    return f"-= Welcome to TextWorld, ALFRED! =-\n\n{room}\n\n{world.task}"


def look(world: World, state: State) -> str:
    """`look.feedback`: the receptacles here, and what lies beside them.

    That is what counts as here but was taken out of a receptacle here, once for each.
    """
    here = world.here[state.at]
    if not here:
        return _ROOM.format("nothing")
    near = state.near[state.at]
    beside = (
        f"a {world.objects[thing]}"
        for thing in members(near)
        for place in here
        if state.taken[place] >> thing & 1
    )
    facing = listed(world.receptacles[place] for place in here)
    return f"You are facing the {facing}. Next to it, you see {listed(beside)}."


def receptacle(world: World, state: State, place: int) -> str:
    """`examineReceptacle.feedback`."""
    name = world.receptacles[place]
    if not accessible(world, state, place):
        return f"The {name} is closed."
    seen = listed(f"a {world.objects[thing]}" for thing in members(state.inside[place]))
    if world.openable >> place & 1:
        return f"The {name} is open. In it, you see {seen}."
    return f"On the {name}, you see {seen}."


def _thing(world: World, state: State, thing: int) -> str:
    """`examineObject.feedback`: the first that fits.

    That a lamp is off is never said: the engine knows a fact to be false only once it was undone.
    """
    name, bit = world.objects[thing], 1 << thing
    if world.containers & bit:
        inner = listed(f"a {world.objects[each]}" for each in world.contents.get(thing, ()))
        return f"This is a normal {name}. In it, you see {inner}."
    clean, hot, cool = state.clean & bit, state.hot & bit, state.cool & bit
    words = "hot" if hot else "cool" if cool else ""
    if clean:
        words = f"{words} and clean" if words else "clean"
    if state.sliced & bit and words:
        return f"This is a {words} sliced {name}."
    if words:
        return f"This is a {'cold' if words == 'cool' else words} {name}."
    if world.toggleable & state.on & bit:
        return f"This {name} is on."
    if state.sliced & bit and world.sliceable & bit:
        return f"This is a sliced {name}."
    return f"There's nothing special about {name}."


def _inventory(world: World, state: State, act: Act) -> str:
    if state.held == NOTHING:
        return "You are not carrying anything."
    return f"You are carrying: a {world.objects[state.held]}."


def listed(names: Iterable[str]) -> str:
    """`nothing`; `X`; `X, and Y`; `X, Y, and Z`."""
    *first, last = names = list(names) or ["nothing"]
    return f"{', '.join(first)}, and {last}" if first else last


def _arrive(world: World, state: State, act: Act) -> str:
    """`GotoLocation.feedback`; the older wording names the location, not the receptacle."""
    place = act.place
    key = (place, state.opened >> place & 1, state.inside[place])
    text = world.arrivals.get(key)
    if text is None:
        older = world.dialect == "put"
        end = world.locations[state.at] if older else world.receptacles[place]
        text = f"You arrive at {end}. {receptacle(world, state, place)}"
        remember(world.arrivals, key, text)
    return text


def _open(world: World, state: State, act: Act) -> str:
    return f"You open the {world.receptacles[act.place]}. {receptacle(world, state, act.place)}"


def _put(world: World, state: State, act: Act) -> str:
    thing, place = world.objects[act.thing], world.receptacles[act.place]
    if world.dialect == "put":
        return f"You put the {thing} in/on the {place}."
    return f"You move the {thing} to the {place}."


def _said(form: str) -> Callable[[World, State, Act], str]:
    """An answer that names the object and the receptacle."""
    return lambda world, state, act: form.format(
        world.objects[act.thing], world.receptacles[act.place]
    )


ANSWERS: dict[str, Callable[[World, State, Act], str]] = {
    "look": lambda world, state, act: look(world, state),
    "inventory": _inventory,
    "help": lambda world, state, act: HELP,
    "go": _arrive,
    "examine place": lambda world, state, act: receptacle(world, state, act.place),
    "examine thing": lambda world, state, act: _thing(world, state, act.thing),
    "open": _open,
    "close": lambda world, state, act: f"You close the {world.receptacles[act.place]}.",
    "take": _said("You pick up the {} from the {}."),
    "put": _put,
    "clean": _said("You clean the {} using the {}."),
    "heat": _said("You heat the {} using the {}."),
    "cool": _said("You cool the {} using the {}."),
    "use": lambda world, state, act: f"You turn on the {world.objects[act.thing]}.",
    "slice": lambda world, state, act: (
        f"You sliced the {world.objects[act.thing]} with the {world.objects[act.place]}."
    ),
}
"""What an act is answered, by its verb; the state is the one that it led to."""
