"""Generated games with rare facts put in, as the benchmark's own games have them or could."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from harness_core.values import JsonDict

Facts = dict[str, list[tuple[str, ...]]]


def oddly(game: JsonDict, seed: str) -> JsonDict:
    """The game with several rare facts more, or other ones in place of its own.

    Args:
        game: a game file's content.
        seed: which facts, and of what.
    """
    rng = Random(seed)
    problem: str = game["pddl_problem"]
    for change in rng.sample(CHANGES, 9):
        problem = change(problem, rng)
    return {**game, "pddl_problem": problem}


def facts_of(problem: str) -> Facts:
    """The facts that a problem begins with, in its own spelling."""
    init = problem.partition("(:init")[2].partition("(:goal")[0]
    facts: Facts = {}
    for predicate, *ids in map(str.split, re.findall(r"\(([^()]+)\)", init)):
        facts.setdefault(predicate, []).append(tuple(ids))
    return facts


def with_fact(problem: str, *fact: str) -> str:
    """The problem with one fact more."""
    return problem.replace("(:init", f"(:init ({' '.join(fact)})", 1)


def without_fact(problem: str, *fact: str) -> str:
    """The problem with one fact less."""
    return problem.replace(f"({' '.join(fact)})", "", 1)


def _things(problem: str) -> list[str]:
    return [thing for thing, _ in facts_of(problem)["objectType"]]


def _places(problem: str) -> list[str]:
    return [place for place, _ in facts_of(problem)["receptacleAtLocation"]]


def _twice_inside(problem: str, rng: Random) -> str:
    """Some objects are in a second receptacle, too."""
    for thing in rng.sample(_things(problem), 4):
        problem = with_fact(problem, "inReceptacle", thing, rng.choice(_places(problem)))
    return problem


def _shared(problem: str, rng: Random) -> str:
    """Receptacles share a location, and an object is in several of them."""
    at = facts_of(problem)["receptacleAtLocation"]
    group = rng.sample(at, min(4, len(at)))
    for place, where in group[1:]:
        problem = problem.replace(
            f"(receptacleAtLocation {place} {where})",
            f"(receptacleAtLocation {place} {group[0][1]})",
        )
    for thing in rng.sample(_things(problem), 3):
        for place, _ in group[:3]:
            problem = with_fact(problem, "inReceptacle", thing, place)
    return problem


def _crowded(problem: str, rng: Random) -> str:
    """All receptacles stand at two locations."""
    at = facts_of(problem)["receptacleAtLocation"]
    two = rng.sample(sorted({where for _, where in at}), 2)
    for place, where in at:
        problem = problem.replace(
            f"(receptacleAtLocation {place} {where})",
            f"(receptacleAtLocation {place} {rng.choice(two)})",
        )
    return problem


def _treated(problem: str, rng: Random) -> str:
    """Some objects are clean, hot, cool, sliced or on at the start, in any combination."""
    for flag in ("isClean", "isHot", "isCool", "isSliced", "isToggled", "isCool"):
        for thing in rng.sample(_things(problem), 3):
            problem = with_fact(problem, flag, thing)
    return problem


def _able(problem: str, rng: Random) -> str:
    """Anything may be able to be anything, such as a lamp that can be carried."""
    for able in ("pickupable", "cleanable", "heatable", "coolable", "sliceable", "toggleable"):
        known = {thing for thing, *_ in facts_of(problem).get(able, [])}
        for thing in rng.sample(_things(problem), 2):
            if thing not in known:
                problem = with_fact(problem, able, thing)
    return problem


def _lit(problem: str, rng: Random) -> str:
    """Things that can be carried can be turned on, and some are."""
    pickupable = [thing for thing, *_ in facts_of(problem)["pickupable"]]
    lamps = {thing for thing, *_ in facts_of(problem).get("toggleable", [])}
    for thing in rng.sample(pickupable, len(pickupable) // 2):
        if thing not in lamps:
            problem = with_fact(problem, "toggleable", thing)
        if rng.random() < 0.5:
            problem = with_fact(problem, "isToggled", thing)
    return problem


def _nested(problem: str, rng: Random) -> str:
    """Containers have things in them, themselves too, and each other."""
    outer = rng.sample(_things(problem), 3)
    for thing in outer:
        problem = with_fact(problem, "isReceptacleObject", thing)
        for inner in {thing, *rng.sample(_things(problem), 2), outer[0]}:
            problem = with_fact(problem, "inReceptacleObject", inner, thing)
    return problem


def _fixed(problem: str, rng: Random) -> str:
    """Some objects cannot be picked up."""
    for thing, *_ in rng.sample(facts_of(problem)["pickupable"], 2):
        problem = without_fact(problem, "pickupable", thing)
    return problem


def _opened(problem: str, rng: Random) -> str:
    """Some receptacles are open at the start, of those that cannot be closed too."""
    for place in rng.sample(_places(problem), 3):
        problem = with_fact(problem, "opened", place)
    return problem


def _begun(problem: str, rng: Random) -> str:
    """The agent starts at a receptacle."""
    ((agent, where),) = facts_of(problem)["atLocation"]
    _, other = rng.choice(facts_of(problem)["receptacleAtLocation"])
    return problem.replace(f"(atLocation {agent} {where})", f"(atLocation {agent} {other})")


def _elsewhere(problem: str, rng: Random) -> str:
    """Objects count as being at other locations, at several, or at none."""
    pairs = facts_of(problem)["objectAtLocation"]
    for thing, where in rng.sample(pairs, min(6, len(pairs))):
        if rng.random() < 0.5:
            problem = without_fact(problem, "objectAtLocation", thing, where)
        if rng.random() < 0.7:
            problem = with_fact(problem, "objectAtLocation", thing, rng.choice(pairs)[1])
    return problem


def _nowhere(problem: str, rng: Random) -> str:
    """A receptacle has no location."""
    return without_fact(
        problem, "receptacleAtLocation", *rng.choice(facts_of(problem)["receptacleAtLocation"])
    )


def _untyped(problem: str, rng: Random) -> str:
    """An object and a receptacle have no type."""
    for kind in ("objectType", "receptacleType"):
        problem = without_fact(problem, kind, *rng.choice(facts_of(problem)[kind]))
    return problem


def _roomy(problem: str, rng: Random) -> str:
    """A kind of receptacle takes what it does not usually take."""
    facts = facts_of(problem)
    known = set(facts["canContain"])
    for _ in range(4):
        pair = (rng.choice(facts["receptacleType"])[1], rng.choice(facts["objectType"])[1])
        if pair not in known:
            known.add(pair)
            problem = with_fact(problem, "canContain", *pair)
    return problem


def _noted(problem: str, rng: Random) -> str:
    """Facts that nothing depends on."""
    things, places = _things(problem), _places(problem)
    problem = with_fact(problem, "moveable", rng.choice(things))
    problem = with_fact(problem, "full", rng.choice(places))
    problem = with_fact(problem, "isOn", rng.choice(things))
    return with_fact(problem, "wasInReceptacle", rng.choice(things), rng.choice(places))


CHANGES: tuple[Callable[[str, Random], str], ...] = (
    *(_twice_inside, _twice_inside, _shared, _crowded, _treated, _able, _lit, _nested, _fixed),
    *(_opened, _begun, _elsewhere, _nowhere, _untyped, _roomy, _noted),
)
