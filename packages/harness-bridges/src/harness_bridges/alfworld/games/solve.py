"""Playing a problem without an engine: enough of the rules to find a plan and to check it.

Reads the problem's text, so it judges what is written, not what was meant. It knows the actions
of a plan only; texts, lists of admissible commands and `slice` are the engine's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import permutations, product

from harness_bridges.alfworld.games.task import BY_NAME, LOOK, TaskSpec

_FACT = re.compile(r"\((\w+) (\w+)(?: (\w+))?\)")
_COMMANDS = (
    ("go", re.compile(r"go to (?P<place>\w+ \d+)")),
    ("open", re.compile(r"open (?P<place>\w+ \d+)")),
    ("close", re.compile(r"close (?P<place>\w+ \d+)")),
    ("take", re.compile(r"take (?P<thing>\w+ \d+) from (?P<place>\w+ \d+)")),
    ("move", re.compile(r"(?:move|put) (?P<thing>\w+ \d+) (?:to|in/on) (?P<place>\w+ \d+)")),
    ("treat", re.compile(r"(?P<verb>\w+) (?P<thing>\w+ \d+) with (?P<place>\w+ \d+)")),
    ("use", re.compile(r"use (?P<thing>\w+ \d+)")),
)
_TREATMENTS = {
    "clean": ("cleanable", "sinkbasintype"),
    "heat": ("heatable", "microwavetype"),
    "cool": ("coolable", "fridgetype"),
}


class World:
    """The state of one game. Receptacles and objects go by the names that the player sees.

    Args:
        problem: the PDDL text of the problem.
    """

    def __init__(self, problem: str) -> None:
        init = problem.lower().split("(:init", 1)[1].split("(:goal", 1)[0]
        facts: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for predicate, first, second in _FACT.findall(init):
            facts[predicate].append((first, second))
        things = [thing for thing, _ in facts["objecttype"]]
        places = [place for place, _ in facts["receptacletype"]]
        name = _names({*things, *places})
        self.type = {name[i]: t for i, t in facts["objecttype"] + facts["receptacletype"]}
        self.location = {name[place]: where for place, where in facts["receptacleatlocation"]}
        self.inside = {(name[thing], name[place]) for thing, place in facts["inreceptacle"]}
        self.openable = {name[place] for place, _ in facts["openable"]}
        self.can_contain = set(facts["cancontain"])
        self.able = {
            property_: {name[thing] for thing, _ in facts[property_] if thing in name}
            for property_ in ("pickupable", "cleanable", "heatable", "coolable", "toggleable")
        }
        self.agent = facts["atlocation"][0][1]
        self.held = ""
        self.opened: set[str] = set()
        self.on: set[str] = set()
        self.treated: dict[str, set[str]] = {verb: set() for verb in _TREATMENTS}
        self.treated["cool"] |= {name[thing] for thing, _ in facts["iscool"] if thing in name}

    def step(self, command: str) -> bool:
        """Carries out a command; False, and no change, if the rules forbid it."""
        for act, form in _COMMANDS:
            if match := form.fullmatch(command):
                handler = getattr(self, f"_{act}")
                return bool(handler(**match.groupdict()))
        return False

    def won(self, task: TaskSpec) -> bool:
        """Whether the task's goal holds now."""
        wanted, goal = f"{task.object}Type".lower(), f"{task.receptacle}Type".lower()
        if task.family == LOOK:
            lit = any(
                self.type[lamp] == goal and lamp in self.on and self._here(place)
                for lamp, place in self.inside
            )
            return lit and self.type.get(self.held) == wanted
        family = BY_NAME[task.family]
        fit = (
            self.able[_TREATMENTS[family.verb][0]] & self.treated[family.verb]
            if family.verb
            else None
        )
        found: dict[str, int] = defaultdict(int)
        for thing, place in self.inside:
            if self.type[thing] == wanted and self.type[place] == goal:
                found[place] += fit is None or thing in fit
        return any(number >= family.copies for number in found.values())

    def accessible(self, place: str) -> bool:
        """Whether the place is open, or has no door."""
        return place not in self.openable or place in self.opened

    def of_type(self, type_: str) -> list[str]:
        """All things or places of a type, sorted."""
        return sorted(name for name, each in self.type.items() if each == f"{type_}Type".lower())

    def _here(self, place: str) -> bool:
        return self.location.get(place) == self.agent

    def _go(self, place: str) -> bool:
        if place not in self.location or self._here(place):
            return False
        self.agent = self.location[place]
        return True

    def _open(self, place: str) -> bool:
        if not (self._here(place) and place in self.openable and place not in self.opened):
            return False
        self.opened.add(place)
        return True

    def _close(self, place: str) -> bool:
        if not (self._here(place) and place in self.opened):
            return False
        self.opened.remove(place)
        return True

    def _take(self, thing: str, place: str) -> bool:
        if (
            self.held
            or thing not in self.able["pickupable"]
            or (thing, place) not in self.inside
            or not (self._here(place) and self.accessible(place))
        ):
            return False
        self.inside.remove((thing, place))
        self.held = thing
        return True

    def _move(self, thing: str, place: str) -> bool:
        if (
            not self.held
            or thing != self.held
            or not (self._here(place) and self.accessible(place))
            or (self.type[place], self.type[thing]) not in self.can_contain
        ):
            return False
        self.inside.add((thing, place))
        self.held = ""
        return True

    def _treat(self, verb: str, thing: str, place: str) -> bool:
        if verb not in _TREATMENTS:
            return False
        able, tool = _TREATMENTS[verb]
        if not (
            thing == self.held
            and thing in self.able[able]
            and self._here(place)
            and self.type[place] == tool
        ):
            return False
        self.treated[verb].add(thing)
        for opposite in {"heat": ["cool"], "cool": ["heat"]}.get(verb, []):
            self.treated[opposite].discard(thing)
        return True

    def _use(self, thing: str) -> bool:
        if thing not in self.able["toggleable"]:
            return False
        if not any(lamp == thing and self._here(place) for lamp, place in self.inside):
            return False
        self.on.add(thing)
        return True


def plan(problem: str, task: TaskSpec) -> list[str] | None:
    """The shortest of the straightforward plans: fetch, treat, put down. None if there is none.

    Args:
        problem: the PDDL text of the problem, as it is at reset.
        task: what to achieve.
    """
    world = World(problem)
    plans = [_commands(world, visits) for visits in _routes(world, task)]
    return min(plans, key=lambda commands: (len(commands), commands), default=None)


def solves(problem: str, task: TaskSpec, commands: Iterable[str]) -> bool:
    """Whether every command is allowed, and the task is done after the last and never before."""
    world = World(problem)
    for command in commands:
        if world.won(task) or not world.step(command):
            return False
    return world.won(task)


Visit = tuple[str, str, bool]
"""A place, what is done there, and whether its door has to be open for that."""


def _routes(world: World, task: TaskSpec) -> Iterator[list[Visit]]:
    """The visits of each plan: one for each choice of objects, tool and goal receptacle."""
    family = BY_NAME[task.family]
    wanted = set(world.of_type(task.object)) & world.able["pickupable"]
    found = sorted(pair for pair in world.inside if pair[0] in wanted)
    if task.family == LOOK:
        lamps = sorted(pair for pair in world.inside if pair[0] in world.of_type(task.receptacle))
        for (thing, place), (lamp, stand) in product(found, lamps):
            yield [_fetch(thing, place), (stand, f"use {lamp}", False)]
        return
    tools = world.of_type(family.tool) if family.tool else [""]
    for picked in permutations(found, family.copies):
        for tool, goal in product(tools, world.of_type(task.receptacle)):
            visits: list[Visit] = []
            for thing, place in picked:
                visits.append(_fetch(thing, place))
                if tool:
                    visits.append((tool, f"{family.verb} {thing} with {tool}", False))
                visits.append((goal, f"move {thing} to {goal}", True))
            yield visits


def _fetch(thing: str, place: str) -> Visit:
    return place, f"take {thing} from {place}", True


def _commands(world: World, visits: list[Visit]) -> list[str]:
    """The visits as commands, with the walking and opening that they need."""
    commands, at, opened = [], world.agent, set(world.opened)
    for place, act, inside in visits:
        if world.location[place] != at:
            commands.append(f"go to {place}")
            at = world.location[place]
        if inside and place in world.openable and place not in opened:
            commands.append(f"open {place}")
            opened.add(place)
        commands.append(act)
    return commands


def _names(ids: set[str]) -> dict[str, str]:
    """The names that the player sees: within a type, the first id has the highest number."""
    groups: dict[str, list[str]] = defaultdict(list)
    for id_ in sorted(ids):
        basin = "basin" if "basin" in id_ else ""
        groups[id_.split("_bar_", 1)[0] + basin].append(id_)
    return {
        id_: f"{type_} {len(group) - position}"
        for type_, group in groups.items()
        for position, id_ in enumerate(group)
    }
