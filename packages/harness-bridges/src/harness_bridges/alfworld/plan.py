"""Shortest plans: from any state of a game to one where its goal holds.

A plan is searched visit by visit (A*, Hart, Nilsson and Raphael 1968). A visit walks to a
receptacle, opens it if its door is in the way, and does one thing there. Some shortest plan is
made of these visits alone:

- with an empty hand, take an object of the wanted type. Another object is of no use: it is
  never in the way, and whoever fetches a lamp could have used it where it stood.
- with a full hand, put down what is held, wherever that is allowed; treat it as the goal asks;
  or, to look at it, turn on a lamp, or walk to one that is on. A lamp can wait until then.

Walking takes one command from anywhere to anywhere, and nothing is gained by closing a door or
by opening one before it is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from heapq import heappop, heappush
from itertools import chain, count
from math import inf
from operator import or_
from typing import Any

from harness_bridges.alfworld.engine import rules
from harness_bridges.alfworld.engine.goal import treated
from harness_bridges.alfworld.engine.state import NOTHING, State, members
from harness_bridges.alfworld.engine.world import Act, World
from harness_core.errors import HarnessError

LIMIT = 100_000
"""Visits that a search expands before it gives up; the benchmark's games need a handful."""


def plan(world: World, state: State | None = None, *, limit: int = LIMIT) -> list[str] | None:
    """A shortest plan, always the same for the same state.

    Args:
        world: the game.
        state: where to begin; the start of the game if left out.
        limit: how many visits to expand at most.

    Returns:
        Admissible commands, after the last of which the goal holds, and not before; empty if it
        holds already. None if no plan exists.

    Raises:
        HarnessError: the limit was reached.
    """
    state = world.start if state is None else state
    acts = _shortest(world, state, limit)
    return None if acts is None else list(_commands(world, state, acts))


def distance(world: World, state: State | None = None, *, limit: int = LIMIT) -> int | None:
    """The length of a shortest plan; arguments, None and errors as for `plan`."""
    acts = _shortest(world, world.start if state is None else state, limit)
    return None if acts is None else len(acts)


def _shortest(world: World, start: State, limit: int) -> list[Act] | None:
    search = Search(world)
    order = count()
    bound = search.bound(start)
    known: dict[Any, int] = {search.key(start): 0}
    queue: list[tuple[float, float, int, int, State, list[Act]]] = []
    if bound < inf:
        queue.append((bound, bound, next(order), 0, start, []))
    expanded = 0
    while queue:
        _, bound, _, cost, state, acts = heappop(queue)
        if not bound:
            return acts
        if cost > known[search.key(state)]:
            continue
        if expanded == limit:
            raise HarnessError(
                f"No plan was found within {limit:,} visits. Allow more: plan(..., limit=...)."
            )
        expanded += 1
        for visit in search.visits(state):
            after, done = search.carry_out(state, visit)
            key, total = search.key(after), cost + len(done)
            if total < known.get(key, inf):
                known[key] = total
                bound = search.bound(after)
                if bound < inf:
                    entry = (total + bound, bound, next(order), total, after, acts + done)
                    heappush(queue, entry)
    return None


def _commands(world: World, state: State, acts: list[Act]) -> Iterator[str]:
    """The words for acts, as the game offers them."""
    for act in acts:
        offered = rules.offer(world, state)
        known = chain(offered.acts.items(), offered.ways.items())
        yield next(command for command, each in known if each == act)
        state = rules.effect(world, state, act)


class _Way:
    """Fewest commands to or from locations, where a walk between any two takes one."""

    __slots__ = ("_best", "_costs")

    def __init__(self) -> None:
        self._costs: dict[int, float] = {}
        self._best = inf

    def add(self, spot: int, cost: float) -> None:
        self._costs[spot] = min(cost, self._costs.get(spot, inf))
        self._best = min(cost, self._best)

    def __call__(self, spot: int) -> float:
        return min(self._costs.get(spot, inf), self._best + 1)


class Search:
    """What the goal makes of a world: the visits worth making, and a bound on what is missing.

    The bound never exceeds the length of a shortest plan. It is the length of the best plan of
    the usual kind (put down what is in the way, fetch, treat, put down), in which doors that two
    visits may share are counted once or not at all.
    """

    def __init__(self, world: World) -> None:
        goal = world.goal
        self.world, self.goal, self.spot = world, goal, world.place
        self.places = [place for place, spot in enumerate(world.place) if spot != NOTHING]
        self.wanted, self.takeable = goal.objects, goal.objects & world.pickupable
        self.tools = [place for place in self.places if world.tools.get(goal.kind, 0) >> place & 1]
        self.ends = [
            place
            for place in goal.receptacles
            if place in self.places and world.accepts[place] & self.wanted
        ]
        self._missing = {"look": self._look, "two": self._two}.get(goal.kind, self._place)

    def key(self, state: State) -> Any:
        """What of a state matters for a plan."""
        done = state.on if self.goal.kind == "look" else treated(state, self.goal.kind)
        return state.at, state.held, state.opened, state.inside, done

    def visits(self, state: State) -> Iterator[Act]:
        held = state.held
        if held == NOTHING:
            for thing, place in self._found(state):
                yield Act("take", thing, place)
            return
        for place in self.places:
            if self.world.accepts[place] >> held & 1:
                yield Act("put", held, place)
        if not self.wanted >> held & 1:
            return
        if self.goal.kind == "look":
            for place in self.places:
                lamps = state.inside[place] & self.goal.lamps
                if lamps & state.on:
                    yield Act("go", place=place)
                elif lamps:
                    yield Act("use", next(members(lamps)), place)
        elif self.tools and not treated(state, self.goal.kind) >> held & 1:
            for place in self.tools:
                yield Act(self.goal.kind, held, place)

    def carry_out(self, state: State, visit: Act) -> tuple[State, list[Act]]:
        """The state after a visit, and the acts that it takes."""
        place, acts = visit.place, []
        if self.spot[place] != state.at:
            acts.append(Act("go", place=place))
        if visit.verb in ("take", "put") and not rules.accessible(self.world, state, place):
            acts.append(Act("open", place=place))
        if visit.verb == "use":
            acts.append(Act("use", visit.thing))
        elif visit.verb != "go":
            acts.append(visit)
        for act in acts:
            state = rules.effect(self.world, state, act)
        return state, acts

    def bound(self, state: State) -> float:
        """No plan is shorter; 0 exactly where the goal holds, infinite only if there is none."""
        if self.goal.holds(state, self.world.here[state.at]):
            return 0
        return self._missing(state)

    def _found(self, state: State) -> Iterator[tuple[int, int]]:
        """Wanted objects that can be taken, and where from."""
        for place in self.places:
            for thing in members(state.inside[place] & self.takeable):
                yield thing, place

    def _put_down(self, state: State) -> Iterator[tuple[int, float]]:
        """Where the held object can go, and at least how many commands that takes."""
        shut = self._shut(state)
        for place in self.places:
            if self.world.accepts[place] >> state.held & 1:
                shared = place in self.ends or state.inside[place] & self.wanted
                door = 0 if shared else shut >> place & 1
                yield place, (self.spot[place] != state.at) + door + 1

    def _takes(self, state: State) -> list[tuple[int, int, float]]:
        """Wanted objects but the held one, their places, and the cost of having them in hand."""
        free = _Way()
        if state.held == NOTHING:
            free.add(state.at, 0)
        else:
            for place, cost in self._put_down(state):
                free.add(self.spot[place], cost)
        shut, spot = self._shut(state), self.spot
        return [
            (thing, place, free(spot[place]) + (shut >> place & 1) + 1)
            for thing, place in self._found(state)
            if thing != state.held
        ]

    def _shut(self, state: State) -> int:
        return self.world.openable & ~state.opened

    def _held(self, state: State) -> int:
        """The held object if it is a wanted one, or `NOTHING`."""
        held = state.held
        return held if held != NOTHING and self.wanted >> held & 1 else NOTHING

    def _look(self, state: State) -> float:
        held, spot, lamps = state.held, self.spot, self.goal.lamps
        takes = self._takes(state)
        light = self._light(state)
        best = inf if self._held(state) == NOTHING else light(state.at)
        for thing, place, cost in takes:
            left = self._light(state, thing, place) if lamps >> thing & 1 else light
            best = min(best, cost + left(spot[place]))
        if held != NOTHING and lamps >> held & 1:
            for stand, cost in self._put_down(state):
                for _, place, _ in takes:
                    walks = 2 * (spot[stand] != spot[place])
                    rest = (self._shut(state) >> place & 1) + 1 + (not state.on >> held & 1)
                    best = min(best, cost + walks + rest)
        return best

    def _light(self, state: State, taken: int = NOTHING, place: int = NOTHING) -> _Way:
        """To where a lamp is, and turning it on; without one that is taken from its place."""
        way = _Way()
        for stand in self.places:
            lamps = state.inside[stand] & self.goal.lamps
            if stand == place:
                lamps &= ~(1 << taken)
            if lamps:
                way.add(self.spot[stand], 0 if lamps & state.on else 1)
        return way

    def _place(self, state: State) -> float:
        """For one object, with or without a treatment."""
        shut, spot, treats = self._shut(state), self.spot, self.goal.kind != "put"
        done = treated(state, self.goal.kind) if treats else self.wanted
        there = reduce(or_, (state.inside[end] for end in self.goal.receptacles), 0)
        home, treat, treat_then_home = _Way(), _Way(), _Way()
        for place in self.ends:
            home.add(spot[place], (shut >> place & 1) + 1)
        for place in self.tools:
            treat.add(spot[place], 1)
            treat_then_home.add(spot[place], 1 + home(spot[place]))

        def rest(thing: int, place: int, at: int) -> float:
            """From having it in hand; it was taken from `place`."""
            if done >> thing & 1:
                return home(at)
            if there >> thing & 1 and any(
                state.inside[end] >> thing & 1 for end in self.goal.receptacles if end != place
            ):
                return treat(at)
            if place in self.ends:
                again = min((2 * (spot[tool] != at) + 2 for tool in self.tools), default=inf)
                return min(treat_then_home(at), again)
            return treat_then_home(at)

        held = self._held(state)
        best = inf if held == NOTHING else rest(held, NOTHING, state.at)
        if treats or held == NOTHING:
            for thing, place, cost in self._takes(state):
                best = min(best, cost + rest(thing, place, spot[place]))
        return best

    def _two(self, state: State) -> float:
        takes = self._takes(state)
        return min((self._both(state, takes, end) for end in self.ends), default=inf)

    def _both(self, state: State, takes: list[tuple[int, int, float]], end: int) -> float:
        """For two objects in this receptacle."""
        spot, shut, held = self.spot, self._shut(state), self._held(state)
        at, there = spot[end], state.inside[end] & self.wanted
        put = (shut >> end & 1) + 1
        if held != NOTHING and not there >> held & 1:
            first = (at != state.at) + put
            if there:
                return first
            return first + min((trip for trip, _ in self._trips(state, takes, at)), default=inf)
        if there:
            costs = (c + (spot[p] != at) for thing, p, c in takes if not there >> thing & 1)
            return put + min(costs, default=inf)
        trips = self._trips(state, takes, at)
        best = inf
        for thing, place, cost in takes:
            second = next((trip for trip, other in trips if other != thing), inf)
            if shut >> place & 1 and state.inside[place] & self.takeable & ~(1 << thing):
                second = min(second, 2 * (spot[place] != at) + 2)
            best = min(best, cost + (spot[place] != at) + second)
        return put + best

    def _trips(
        self, state: State, takes: list[tuple[int, int, float]], at: int
    ) -> list[tuple[int, int]]:
        """What fetching each object to this location and putting it down costs; least first."""
        shut, spot = self._shut(state), self.spot
        return sorted(
            (2 * (spot[place] != at) + (shut >> place & 1) + 2, thing) for thing, place, _ in takes
        )
