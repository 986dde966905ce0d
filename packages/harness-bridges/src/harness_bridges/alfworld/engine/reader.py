"""A game file becomes a `World`; whatever the engine would have to guess at is refused."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import evolve

from harness_bridges.alfworld.engine.dialects import dialect_of
from harness_bridges.alfworld.engine.goal import Form, Goal, recognise
from harness_bridges.alfworld.engine.reach import within_reach
from harness_bridges.alfworld.engine.state import NOTHING, State, members
from harness_bridges.alfworld.engine.world import World
from harness_bridges.alfworld.games.files import read_game
from harness_core.errors import EnvError

MAX_CHARACTERS = 500_000
"""Of a problem text; the largest of the benchmark has 100,000."""

MAX_THINGS = 2_000
"""Objects and receptacles of a game; the largest of the benchmark has about 200."""

MAX_DEPTH = 32
"""Brackets within brackets of a problem; the benchmark's have at most twelve."""

_ABLE_TO = ("pickupable", "cleanable", "heatable", "coolable", "sliceable", "toggleable")

PREDICATES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*_ABLE_TO, "isreceptacleobject"), ("object",)),
    **dict.fromkeys(("isclean", "ishot", "iscool", "issliced", "istoggled"), ("object",)),
    **dict.fromkeys(("openable", "opened"), ("receptacle",)),
    "atlocation": ("agent", "location"),
    "receptacleatlocation": ("receptacle", "location"),
    "objectatlocation": ("object", "location"),
    "inreceptacle": ("object", "receptacle"),
    "inreceptacleobject": ("object", "object"),
    "receptacletype": ("receptacle", "rtype"),
    "objecttype": ("object", "otype"),
    "cancontain": ("rtype", "otype"),
    "wasinreceptacle": ("object", "receptacle"),
    **dict.fromkeys(("moveable", "ison"), ("object",)),
    "full": ("receptacle",),
}
"""The facts that a problem may begin with, and what they are about. No rule and no text depends
on the last three lines, but a thing that they name has its number."""

_TOOLS = {"heat": ("microwavetype",), "cool": ("fridgetype",)}
_KNIVES = ("knifetype", "butterknifetype")

_WORDS = re.compile(r"\(([^()]*)\)|([()]|[^\s()]+)")
"""A form without inner forms, as most are; else a bracket or a word."""

Facts = dict[str, list[tuple[str, ...]]]


def load_world(path: Path) -> World:
    """The world of a game file; files that did not change are read once.

    Raises:
        EnvError: the file cannot be read, or is no game that the engine can play; the message
            names the file and the place.
    """
    path = Path(path)
    try:
        status = path.stat()
    except OSError:
        return read_world(read_game(path), str(path))
    return _loaded(path, (status.st_mtime_ns, status.st_ctime_ns), status.st_size)


@lru_cache(maxsize=64)
def _loaded(path: Path, changed: tuple[int, int], size: int) -> World:
    if size > 2 * MAX_CHARACTERS:
        raise _refused(str(path), f"it has {size:,} bytes; no game has more than a few 100,000")
    try:
        return read_world(read_game(path), str(path))
    except RecursionError:
        raise _refused(str(path), "its JSON is nested too deeply") from None


def read_world(game: Mapping[str, Any], name: str = "The game") -> World:
    """The world of a game file's content.

    Args:
        game: with the keys `pddl_domain`, `grammar` and `pddl_problem`.
        name: for messages.

    Raises:
        EnvError: it is no game that the engine can play.
    """
    try:
        for key in ("pddl_domain", "grammar", "pddl_problem"):
            if not isinstance(game.get(key), str):
                raise EnvError(f"its key {key!r} is missing or no text")
        dialect, task = dialect_of(game["pddl_domain"], game["grammar"])
        facts, goal = _sections(game["pddl_problem"])
        world = _world(facts, goal, task, dialect.wording, dialect.sinks)
        if not within_reach(world):
            raise EnvError(f"its goal is out of reach, whatever is done: {_shown(goal)}")
    except EnvError as error:
        raise _refused(name, str(error)) from error
    return evolve(world, digest=game_digest(game))


def game_digest(game: Mapping[str, Any]) -> str:
    """Sixty-four hex digits for the texts that make a game."""
    texts = (game["pddl_domain"], game["grammar"], game["pddl_problem"])
    return sha256("\0".join(texts).encode(errors="surrogatepass")).hexdigest()


def _refused(name: str, reason: str) -> EnvError:
    return EnvError(f"{name} cannot be played: {reason}.")


def _sections(problem: str) -> tuple[Facts, Form]:
    """The facts by predicate, and the goal."""
    if len(problem) > MAX_CHARACTERS:
        raise EnvError(f"its problem has {len(problem):,} characters; at most {MAX_CHARACTERS:,}")
    if not problem.isascii():
        odd = next(sign for sign in problem if not sign.isascii())
        line = problem.partition(odd)[0].count("\n") + 1
        raise EnvError(f"line {line} of its problem has the character {odd!r}, which is not ASCII")
    form = _parsed(problem)
    sections = {part[0]: part[1:] for part in form if isinstance(part, tuple) and part}
    for section in (":objects", ":init", ":goal"):
        if section not in sections:
            raise EnvError(f"its problem has no section ({section} ...)")
    if len(sections[":goal"]) != 1:
        raise EnvError("its problem's (:goal ...) is not one condition")
    kinds = _declared(sections[":objects"])
    facts: Facts = defaultdict(list)
    for fact in sections[":init"]:
        _add_fact(facts, fact, kinds)
    return facts, sections[":goal"][0]


def _declared(words: Sequence[Form]) -> dict[str, str]:
    """What each id of the section `:objects` is: `a b - location c - agent`."""
    kinds: dict[str, str] = {}
    before: list[str] = []
    names = iter(words)
    for word in names:
        if word == "-":
            kind = next(names, "")
            kinds.update(dict.fromkeys(before, str(kind)))
            before = []
        elif isinstance(word, str) and word not in kinds and word not in before:
            before.append(word)
        else:
            raise EnvError(f"its problem declares twice, or not by a name: {_shown(word)}")
    if before:
        raise EnvError(f"its problem does not declare what {before[0]!r} is")
    return kinds


def _add_fact(facts: Facts, fact: Form, kinds: Mapping[str, str]) -> None:
    predicate: Any = fact[0] if isinstance(fact, tuple) and fact else ""
    wanted = PREDICATES.get(predicate)
    if wanted is None:
        raise EnvError(f"its problem has a fact that no rule of the engine knows: {_shown(fact)}")
    ids: Any = fact[1:]
    if tuple(map(kinds.get, ids)) != wanted:
        raise EnvError(
            f"its problem has the fact {_shown(fact)}, which is not about a declared "
            f"{' and a declared '.join(wanted)}"
        )
    facts[predicate].append(ids)


def _shown(form: Form) -> str:
    """A form as text, cut short."""
    if isinstance(form, str):
        return form if len(form) <= 100 else f"{form[:100]}..."
    inner = " ".join(map(_shown, form[:6]))
    return f"({inner} ...)" if len(form) > 6 else f"({inner})"


def _parsed(problem: str) -> tuple[Form, ...]:
    """The nested forms of the problem's text, in lower case.

    Raises:
        EnvError: the brackets do not match, or are nested too deeply.
    """
    bare = re.sub(r";[^\n]*", "", problem).lower()
    stack: list[list[Form]] = [[]]
    for flat, word in _WORDS.findall(bare):
        if not word:
            stack[-1].append(tuple(flat.split()))
        elif word == "(":
            stack.append([])
            if len(stack) > MAX_DEPTH:
                raise EnvError(f"its problem nests more than {MAX_DEPTH} brackets")
        elif word != ")":
            stack[-1].append(word)
        elif len(stack) > 1:
            closed = tuple(stack.pop())
            stack[-1].append(closed)
        else:
            raise _unmatched(bare)
    if len(stack) > 1:
        raise _unmatched(bare)
    if len(stack[0]) != 1 or isinstance(stack[0][0], str):
        raise EnvError("its problem is not one form (define ...)")
    return stack[0][0]


def _unmatched(text: str) -> EnvError:
    """Names the line of a bracket without a partner."""
    opened: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        for bracket in re.findall(r"[()]", line):
            if bracket == "(":
                opened.append(number)
            elif opened:
                opened.pop()
            else:
                return EnvError(f"line {number} of its problem closes a bracket that is not open")
    return EnvError(
        f"the bracket in line {opened[-1]} of its problem is never closed; it is cut off"
    )


def _world(facts: Facts, goal: Form, task: str, wording: str, sinks: tuple[str, ...]) -> World:
    things = {fact[0] for predicate in _OF_THINGS for fact in facts[predicate]}
    things |= {inner for pair in facts["inreceptacleobject"] for inner in pair}
    places = {fact[0] for predicate in _OF_PLACES for fact in facts[predicate]}
    places |= {place for _, place in facts["inreceptacle"]}
    if len(things) + len(places) > MAX_THINGS:
        raise EnvError(f"it has {len(things) + len(places):,} things; at most {MAX_THINGS:,}")
    names = _names({word for rows in facts.values() for row in rows for word in row})
    (agent, begin), *more = facts["atlocation"] or [("", "")]
    if more or not agent:
        raise EnvError("its problem does not say once where the agent is: (atLocation agent1 ...)")
    at = _only(facts["receptacleatlocation"], "is at two locations")
    spots = {begin, *at.values()}
    for id_ in sorted(things | places | spots):
        if not _ID.fullmatch(id_):
            raise EnvError(f"the id {id_!r:.100} in its problem is not of the form TYPE_bar_...")
    thing, place, spot = map(_ordered, (things, places, spots))
    thing_type = _only(facts["objecttype"], "has two types")
    place_type = _only(facts["receptacletype"], "has two types")

    def set_of(predicate: str, number: dict[str, int]) -> int:
        return sum({1 << number[fact[0]] for fact in facts[predicate]})

    things_of = _by_type(thing, thing_type)
    places_of = _by_type(place, place_type)
    fits: dict[str, int] = defaultdict(int)
    for container, held in facts["cancontain"]:
        fits[container] |= things_of.get(held, 0)
    where = {id_: spot[location] for id_, location in at.items()}
    here: list[list[int]] = [[] for _ in spot]
    for id_, index in place.items():
        if id_ in where:
            here[where[id_]].append(index)
    contents: dict[int, list[int]] = defaultdict(list)
    for inner, outer in sorted(set(facts["inreceptacleobject"]), key=lambda pair: thing[pair[0]]):
        if inner != outer:
            contents[thing[outer]].append(thing[inner])
    start = State(
        at=spot[begin],
        held=NOTHING,
        opened=set_of("opened", place),
        inside=_sets(facts["inreceptacle"], thing, place),
        taken=(0,) * len(place),
        near=_sets(facts["objectatlocation"], thing, spot),
        clean=set_of("isclean", thing),
        hot=set_of("ishot", thing),
        cool=set_of("iscool", thing),
        sliced=set_of("issliced", thing),
        on=set_of("istoggled", thing),
    )
    able = {name: set_of(name, thing) for name in _ABLE_TO}
    return World(
        objects=tuple(names[id_] for id_ in thing),
        receptacles=tuple(names[id_] for id_ in place),
        locations=tuple(names[id_] for id_ in spot),
        agent=names[agent],
        place=tuple(where.get(id_, NOTHING) for id_ in place),
        here=tuple(map(tuple, here)),
        openable=set_of("openable", place),
        pickupable=able["pickupable"],
        cleanable=able["cleanable"],
        heatable=able["heatable"],
        coolable=able["coolable"],
        sliceable=able["sliceable"],
        toggleable=able["toggleable"],
        containers=set_of("isreceptacleobject", thing),
        contents=dict(contents),
        accepts=tuple(fits[place_type.get(id_, "")] for id_ in place),
        tools={
            verb: sum(places_of.get(type_, 0) for type_ in types)
            for verb, types in {"clean": sinks, **_TOOLS}.items()
        },
        knives=sum(things_of.get(type_, 0) for type_ in _KNIVES),
        goal=_goal(goal, things_of, places_of, able),
        task=task,
        dialect=wording,
        has_help=wording == "move",
        start=start,
    )


_OF_THINGS = (
    *("objecttype", "objectatlocation", "inreceptacle", "isreceptacleobject", "toggleable"),
    *("pickupable", "cleanable", "heatable", "coolable", "sliceable"),
    *("isclean", "ishot", "iscool", "issliced", "istoggled"),
)
_OF_PLACES = ("receptacletype", "receptacleatlocation", "openable", "opened")


def _by_type(number: Mapping[str, int], type_of: Mapping[str, str]) -> dict[str, int]:
    """Type -> the objects, or receptacles, of it, a set."""
    found: dict[str, int] = defaultdict(int)
    for id_, index in number.items():
        found[type_of.get(id_, "")] |= 1 << index
    return found


def _goal(
    form: Form, things_of: Mapping[str, int], places_of: Mapping[str, int], able: dict[str, int]
) -> Goal:
    found = recognise(form)
    if found is None:
        raise EnvError(
            f"its goal is none of the six that the native engine knows: {_shown(form)}; "
            "engine='textworld' plays any"
        )
    kind, object_type, place_type = found
    objects = things_of.get(object_type, 0)
    if kind == "look":
        return Goal(kind, objects, (), things_of.get(place_type, 0) & able["toggleable"])
    if kind in _ABLE:
        objects &= able[_ABLE[kind]]
    return Goal(kind, objects, tuple(members(places_of.get(place_type, 0))))


_ABLE = {"clean": "cleanable", "heat": "heatable", "cool": "coolable"}


def _only(pairs: Sequence[tuple[str, ...]], twice: str) -> dict[str, str]:
    """The one partner of each first; a second one is absurd."""
    found: dict[str, str] = {}
    for first, second in pairs:
        if found.setdefault(first, second) != second:
            raise EnvError(f"{first!r} {twice}: {found[first]!r} and {second!r}")
    return found


def _sets(
    pairs: Iterable[tuple[str, ...]], thing: dict[str, int], where: dict[str, int]
) -> tuple[int, ...]:
    sets = [0] * len(where)
    for id_, place in pairs:
        if place in where:
            sets[where[place]] |= 1 << thing[id_]
    return tuple(sets)


_ID = re.compile(r"[a-z0-9]+_bar_\w+")


def _names(ids: Iterable[str]) -> dict[str, str]:
    """The names that the player sees: within a type, the first id has the highest number.

    Ids without a place in the room, such as the agent's, are names themselves.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    names: dict[str, str] = {}
    for id_ in sorted(ids):
        type_, bar, _ = id_.partition("_bar_")
        if bar:
            groups[f"{type_}basin" if "basin" in id_ else type_].append(id_)
        else:
            names[id_] = id_
    for type_, group in groups.items():
        names |= {id_: f"{type_} {len(group) - index}" for index, id_ in enumerate(group)}
    return names


def _ordered(ids: Iterable[str]) -> dict[str, int]:
    """Numbers in the order in which texts list things: within a type, the highest first."""
    return {id_: index for index, id_ in enumerate(sorted(ids))}
