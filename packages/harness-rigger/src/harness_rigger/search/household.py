"""Coarse changes for ALFWorld, from the state that the env tells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from harness_core.component import Component
from harness_core.stage import Stage
from harness_core.values import JsonDict
from harness_rigger.strategy import Case


def household_shapes(case: Case) -> Iterator[tuple[str, tuple[Component, ...]]]:
    """Hides the target objects behind closed doors, or moves them; each with a name in words.

    Yields nothing for an env whose state names no receptacles.
    """
    world = case.state.data
    if not {"receptacles", "goal", "dialect"} <= world.keys():
        return
    targets = list(_targets(case))
    for hidden in (True, False):
        for place in _places(case, targets, hidden):
            actions: list[str] = []
            for thing, start in targets:
                if actions[-1:] != [f"go to {start}"]:
                    actions.append(f"go to {start}")
                actions += _carry(world, thing, start, place, hidden)
            if actions:
                what = f"{targets[0][0]} {'hidden in' if hidden else 'moved to'} {place}"
                yield what, (Stage(actions),)


def _type(name: str) -> str:
    return name.rsplit(" ", 1)[0]


def _named(world: JsonDict) -> set[str]:
    return set(re.findall(r"[a-z]+", str(world["goal"]).lower()))


def _targets(case: Case) -> Iterator[tuple[str, str]]:
    """Objects of the types that the known path picks up, where they lie open: (object, place)."""
    taken = {_type(" ".join(a.text.split()[1:3])) for a in case.path if a.text.startswith("take ")}
    seen: set[str] = set()
    for name, receptacle in sorted(case.state.data["receptacles"].items()):
        if receptacle["openable"] or _type(name) in _named(case.state.data):
            continue
        for thing in receptacle["contents"]:
            if _type(thing) in taken and thing not in seen:
                seen.add(thing)
                yield thing, name


def _places(case: Case, targets: list[tuple[str, str]], hidden: bool) -> list[str]:
    """Receptacles that the goal does not name, closed or open; those that the policy visits
    least first."""
    named = _named(case.state.data)
    starts = {start for _, start in targets}
    visits = Counter(step.action.text for e in case.baseline.episodes for step in e.steps)
    fitting = [
        name
        for name, receptacle in case.state.data["receptacles"].items()
        if receptacle["openable"] is hidden and _type(name) not in named and name not in starts
    ]
    fitting.sort(key=lambda name: (visits[f"go to {name}"], name))
    one_of_a_type = {_type(name): name for name in reversed(fitting)}
    return sorted(one_of_a_type.values(), key=fitting.index)


def _carry(world: JsonDict, thing: str, start: str, place: str, hidden: bool) -> list[str]:
    """Commands that carry `thing`, which lies at hand, to `place` and lead back to `start`."""
    put = f"move {thing} to {place}" if world["dialect"] == "move" else f"put {thing} in/on {place}"
    there = [f"open {place}", put, f"close {place}"] if hidden else [put]
    return [f"take {thing} from {start}", f"go to {place}", *there, f"go to {start}"]
