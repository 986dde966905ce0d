"""Whether a goal is out of reach on the face of it, so that the game is none.

As TextWorld's translator decides it, which refuses such games: as if nothing that was once true
became false again, and as if one object could be both of two.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from harness_bridges.alfworld.engine.goal import treated
from harness_bridges.alfworld.engine.state import NOTHING
from harness_bridges.alfworld.engine.world import World


def within_reach(world: World) -> bool:
    """Whether the goal holds in some state, if states only ever gained facts."""
    goal, start = world.goal, world.start
    visited = [place for place, at in enumerate(world.place) if at != NOTHING]
    takeable = _union(start.inside[place] for place in visited) & world.pickupable
    inside = list(start.inside)
    for place in visited:
        inside[place] |= takeable & world.accepts[place]
    if goal.kind == "look":
        there = _union(inside[place] for place in visited)
        lit = start.on | (there & world.toggleable)
        return bool(takeable & goal.objects) and bool(there & lit & goal.lamps)
    wanted = goal.objects
    if goal.kind in world.tools:
        tools = any(world.tools[goal.kind] >> place & 1 for place in visited)
        wanted &= treated(start, goal.kind) | (takeable if tools else 0)
    return any(inside[place] & wanted for place in goal.receptacles)


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)
