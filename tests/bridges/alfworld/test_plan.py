"""The planner: no plan is longer than an exhaustive search finds, whatever the state."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import evolve

from harness_bridges.alfworld.engine import Play, State, World, load_world, read_world
from harness_bridges.alfworld.games import FAMILIES, find_games, read_game
from harness_bridges.alfworld.games.files import game_content
from harness_bridges.alfworld.games.generate import draw_problems
from harness_bridges.alfworld.games.knobs import Knobs
from harness_bridges.alfworld.plan import Search, distance, plan
from harness_core.errors import HarnessError
from support.alfworld_games import REAL
from support.alfworld_rooms import distances, odd_room, room

EACH = int(os.environ.get("ALFWORLD_EACH", "10"))
"""Real games of a family that are tried; a large number tries all."""


def wins(world: World, state: State, commands: list[str]) -> bool:
    """Whether every command is admissible, and the goal holds after the last, not before."""
    play = Play(world)
    play.resume(state)
    return all(not play.won and play.act(command).valid for command in commands) and play.won


def wandered(world: World, count: int, seed: str) -> Iterator[State]:
    """States on a random walk."""
    play, rng = Play(world), Random(seed)
    for _ in range(count):
        for _ in range(rng.randint(1, 25)):
            play.act(rng.choice(play.admissible()))
        yield play.state


def ahead(kind: str) -> Iterator[tuple[World, State, int | None]]:
    """States of twelve odd rooms in which the goal does not hold, and their exact distances."""
    rng, rooms = Random(kind), 0
    while rooms < 12:
        world = odd_room(kind, rng)
        states = [each for each in distances(world, most=2000) if each[1] != 0]
        rooms += bool(states)
        for state, length in rng.sample(states, min(40, len(states))):
            yield world, state, length


@pytest.mark.parametrize("kind", ["put", "two", "clean", "heat", "cool", "look"])
def test_no_commands_whatever_lead_to_the_goal_sooner(kind: str) -> None:
    """Plans are as long as a search over all commands finds, and None where it finds nothing."""
    seen: Counter[int | None] = Counter()
    for world, state, length in ahead(kind):
        seen[length] += 1
        bound, commands = Search(world).bound(state), plan(world, state)
        assert distance(world, state) == length, (world, state)
        if length is None:
            assert commands is None
            assert bound == inf
        else:
            assert commands is not None
            assert len(commands) == length
            assert wins(world, state, commands), (world, state, commands)
            assert 0 < bound <= length, (world, state)
    assert {None, 1, 2, 3, 4, 5} <= seen.keys(), "the rooms are too easy"


def kitchen(kind: str, goal: str, things: dict[str, Collection[str]], **more: Any) -> World:
    """A room with a receptacle of each type, which takes any object; an apple is wanted."""
    places = ("shelf 1", "drawer 1", "fridge 1", "sinkbasin 1", "countertop 1", "sidetable 1")
    return room(
        kind,
        "apple",
        goal,
        places={place: number + 1 for number, place in enumerate(places)},
        things=things,
        openable=("drawer 1", "fridge 1"),
        **more,
    )


OUT: dict[str, Collection[str]] = {"apple 1": ["countertop 1"]}
HOLD_APPLE = ["go to countertop 1", "take apple 1 from countertop 1"]
HOLD_PEN = ["go to sidetable 1", "take pen 1 from sidetable 1", "go to countertop 1"]
HOLD_LAMP = ["go to sidetable 1", "take desklamp 1 from sidetable 1", "go to countertop 1"]

CASES = {
    "a closed door": (
        kitchen("put", "shelf", {"apple 1": ["drawer 1"]}),
        [],
        (
            "go to drawer 1, open drawer 1, take apple 1 from drawer 1, go to shelf 1, "
            "move apple 1 to shelf 1"
        ),
    ),
    "the target in hand, the goal closed": (
        kitchen("put", "drawer", OUT),
        HOLD_APPLE,
        "go to drawer 1, open drawer 1, move apple 1 to drawer 1",
    ),
    "something else in hand": (
        kitchen("put", "shelf", OUT | {"pen 1": ["sidetable 1"]}),
        HOLD_PEN,
        (
            "move pen 1 to countertop 1, take apple 1 from countertop 1, go to shelf 1, "
            "move apple 1 to shelf 1"
        ),
    ),
    "hot, and wanted cool": (
        kitchen("cool", "shelf", OUT, flags={"hot": ["apple 1"]}),
        HOLD_APPLE,
        "go to fridge 1, cool apple 1 with fridge 1, go to shelf 1, move apple 1 to shelf 1",
    ),
    "cool already": (
        kitchen("cool", "shelf", OUT, flags={"cool": ["apple 1"]}),
        [],
        (
            "go to countertop 1, take apple 1 from countertop 1, go to shelf 1, "
            "move apple 1 to shelf 1"
        ),
    ),
    "the tool is the goal": (
        kitchen("cool", "fridge", {"apple 1": ["fridge 1"]}),
        [],
        (
            "go to fridge 1, open fridge 1, take apple 1 from fridge 1, "
            "cool apple 1 with fridge 1, move apple 1 to fridge 1"
        ),
    ),
    "in two receptacles, one of them the goal": (
        kitchen("clean", "shelf", {"apple 1": ["countertop 1", "shelf 1"]}),
        [],
        (
            "go to countertop 1, take apple 1 from countertop 1, go to sinkbasin 1, "
            "clean apple 1 with sinkbasin 1"
        ),
    ),
    "a target in hand, a better one here": (
        kitchen(
            "clean",
            "drawer",
            {"apple 1": ["sinkbasin 1", "drawer 1"], "apple 2": ["countertop 1"]},
        ),
        ["go to countertop 1", "take apple 2 from countertop 1", "go to sinkbasin 1"],
        (
            "move apple 2 to sinkbasin 1, take apple 1 from sinkbasin 1, "
            "clean apple 1 with sinkbasin 1"
        ),
    ),
    "one of two is there": (
        kitchen("two", "shelf", OUT | {"apple 2": ["shelf 1"], "apple 3": ["drawer 1"]}),
        [],
        (
            "go to countertop 1, take apple 1 from countertop 1, go to shelf 1, "
            "move apple 1 to shelf 1"
        ),
    ),
    "the lamp is on": (
        kitchen("look", "desklamp", OUT | {"desklamp 1": ["sidetable 1"]}),
        ["go to sidetable 1", "use desklamp 1"],
        "go to countertop 1, take apple 1 from countertop 1, go to sidetable 1",
    ),
    "the lamp in hand": (
        kitchen("look", "desklamp", OUT | {"desklamp 1": ["sidetable 1"]}),
        HOLD_LAMP,
        "move desklamp 1 to countertop 1, take apple 1 from countertop 1, use desklamp 1",
    ),
}


@pytest.mark.parametrize(("world", "before", "expected"), CASES.values(), ids=CASES.keys())
def test_plans_in_a_kitchen(world: World, before: list[str], expected: str) -> None:
    """The plan is the one that a person finds, whatever was done before."""
    play = Play(world)
    assert all(play.act(command).valid for command in before)
    assert ", ".join(plan(world, play.state) or []) == expected
    assert wins(world, play.state, expected.split(", "))


def test_a_goal_that_holds_needs_no_plan() -> None:
    """Where the goal holds already, the plan is empty and the distance 0."""
    world = kitchen("put", "shelf", {"apple 1": ["shelf 1"]})
    assert plan(world) == []
    assert distance(world) == 0


UNREACHABLE = {
    "no object": kitchen("put", "shelf", {"pen 1": ["shelf 1"]}),
    "no receptacle": kitchen("put", "sofa", OUT),
    "a receptacle that refuses it": kitchen("put", "shelf", OUT, refused=[("shelf", "apple")]),
    "an object that cannot be taken": kitchen("put", "shelf", OUT, fixed=["apple 1"]),
    "one of two": kitchen("two", "shelf", {"apple 1": ["countertop 1", "sidetable 1"]}),
    "no microwave": kitchen("heat", "shelf", OUT),
    "a lamp on no receptacle": kitchen("look", "desklamp", OUT | {"desklamp 1": []}),
    "the lamp by its own light": room(
        "look",
        "desklamp",
        "desklamp",
        places={f"drawer {number}": number for number in range(1, 20)},
        openable=[f"drawer {number}" for number in range(1, 20)],
        things={"desklamp 1": ["drawer 1"]},
    ),
}


@pytest.mark.parametrize("world", UNREACHABLE.values(), ids=UNREACHABLE.keys())
def test_no_plan_where_the_goal_is_out_of_reach(world: World) -> None:
    """Without an object, a place or a tool there is no plan and no distance."""
    assert plan(world) is None
    assert distance(world) is None


def test_a_reached_limit_is_an_error_and_no_verdict() -> None:
    """A search that was cut off raises, and says how to go on; one that fits does not."""
    world = kitchen("put", "shelf", OUT)
    for ask in (plan, distance):
        with pytest.raises(HarnessError, match="limit="):
            ask(world, limit=1)
    assert plan(world, limit=2)


def test_plans_speak_the_dialect_of_the_game() -> None:
    """Older games say `put X in/on Y`; plans for them do."""
    world = evolve(kitchen("put", "shelf", OUT), dialect="put", has_help=False)
    commands = plan(world)
    assert commands is not None
    assert commands[-1] == "put apple 1 in/on shelf 1"
    assert wins(world, world.start, commands)


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_games_are_planned_from_anywhere(family: str) -> None:
    """From the start and from wherever a random walk leads, plans win."""
    for problem, _ in draw_problems(6, seed=2, knobs=Knobs(families=[family], closed=0.6)):
        world = read_world(game_content(problem))
        for state in (world.start, *wandered(world, count=10, seed=problem.trial)):
            commands = plan(world, state)
            assert commands is None or wins(world, state, commands)


def test_the_same_state_has_the_same_plan_in_any_process() -> None:
    """Plans do not depend on the process or its hash seed."""
    script = (
        "from harness_bridges.alfworld.engine import read_world\n"
        "from harness_bridges.alfworld.games.files import game_content\n"
        "from harness_bridges.alfworld.games.generate import draw_problems\n"
        "from harness_bridges.alfworld.plan import plan\n"
        "for problem, _ in draw_problems(18):\n"
        "    print(plan(read_world(game_content(problem))))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert printed.pop().count("\n") == 18


@pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no folder of real games")
@pytest.mark.parametrize("family", FAMILIES)
def test_real_games_are_solved_no_slower_than_by_their_walkthroughs(family: str) -> None:
    """Plans for real games win, and are at most as long as the stored walkthroughs."""
    games = [game for game in find_games(Path(REAL)) if game.family == family]
    for game in Random(0).sample(games, min(EACH, len(games))):
        world = load_world(game.path)
        commands = plan(world)
        assert commands is not None, game.id
        assert wins(world, world.start, commands), game.id
        assert len(commands) <= len(read_game(game.path)["walkthrough"]), game.id
        for state in wandered(world, count=3, seed=game.id):
            commands = plan(world, state)
            assert commands is None or wins(world, state, commands), game.id
