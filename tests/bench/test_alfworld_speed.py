"""The native ALFWorld engine against TextWorld, untouched, on the same kitchens in one run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from time import perf_counter
from typing import Any, NamedTuple

import pytest

from harness_bridges.alfworld.engine import Play, World, load_world, read_world
from harness_bridges.alfworld.engine.saved import load_state, save_state
from harness_bridges.alfworld.games import Game, generate_games, read_game
from harness_core import Action, make

pytestmark = pytest.mark.textworld
pytest.importorskip("textworld")

KITCHENS = 8
FAMILIES = ["pick_and_place_simple", "pick_clean_then_place_in_recep", "pick_two_obj_and_place"]
STEPS = 20_000

_TEXTWORLD = """
import json, random, sys, time
import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
infos = textworld.EnvInfos(won=True, admissible_commands=True)
env = AlfredDemangler(textworld.envs.PddlEnv(infos))
resets, steps, rng = [], [], random.Random(0)
for path in sys.argv[1:]:
    env.load(path)
    env.reset()
    began = time.perf_counter()
    state = env.reset()
    resets.append(time.perf_counter() - began)
    for _ in range(10):
        command = rng.choice(state["admissible_commands"])
        began = time.perf_counter()
        state, _, _ = env.step(command)
        steps.append(time.perf_counter() - began)
print(json.dumps([sum(resets) / len(resets), sum(steps) / len(steps)]), file=sys.__stdout__)
"""


class Seconds(NamedTuple):
    """Mean seconds of one reset and of one step."""

    reset: float
    step: float


@pytest.fixture(scope="module")
def kitchens(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    """Eight kitchens as large as the benchmark's."""
    root = tmp_path_factory.mktemp("kitchens")
    return generate_games(root, count=KITCHENS, rooms=["kitchen"], families=FAMILIES)


@pytest.fixture(scope="module")
def reference(kitchens: list[Game], tmp_path_factory: pytest.TempPathFactory) -> Seconds:
    """TextWorld as it is installed, in a process of its own."""
    paths = [str(game.path) for game in kitchens]
    done = subprocess.run(
        [sys.executable, "-c", _TEXTWORLD, *paths],
        env={"PATH": "/usr/bin:/bin", "ALFWORLD_DATA": str(tmp_path_factory.mktemp("data"))},
        capture_output=True,
        text=True,
        check=True,
    )
    return Seconds(*json.loads(done.stdout.splitlines()[-1]))


def seconds(call: Callable[[], object], times: int, batches: int = 5) -> float:
    """Seconds of one call: the mean of the best batch."""
    best = float("inf")
    for _ in range(batches):
        began = perf_counter()
        for _ in range(times):
            call()
        best = min(best, (perf_counter() - began) / times)
    return best


def walk(step: Callable[[str], list[str]], admissible: list[str], steps: int) -> float:
    """Seconds of one step of a random walk, its choice of commands included."""
    draw = Random(0).random
    began = perf_counter()
    for _ in range(steps):
        admissible = step(admissible[int(draw() * len(admissible))])
    return (perf_counter() - began) / steps


def engine_walk(path: Path) -> float:
    play = Play(load_world(path))
    return walk(lambda command: play.act(command).admissible, play.start().admissible, STEPS)


def env_walk(game: Game) -> float:
    with make("alfworld", task=game.id, games=str(game.path.parents[3])) as env:
        start = env.reset().observation.data["admissible"]

        def step(command: str) -> Any:
            return env.step(Action(command)).observation.data["admissible"]

        return walk(step, start, STEPS // 4)


def test_a_step_is_20_000_times_as_fast(kitchens: list[Game], reference: Seconds) -> None:
    """The engine's steps are at least 20,000 times as fast, the env's 5,000 times."""
    engine = fmean(min(engine_walk(game.path) for _ in range(3)) for game in kitchens)
    env = fmean(min(env_walk(game) for _ in range(3)) for game in kitchens)
    print(f"\nTextWorld {reference.step * 1e3:.1f} ms a step")
    print(f"engine {engine * 1e6:.2f} us a step: {reference.step / engine:,.0f} times as fast")
    print(f"env {env * 1e6:.1f} us a step: {reference.step / env:,.0f} times as fast")
    assert reference.step >= 20_000 * engine
    assert reference.step >= 5_000 * env


def test_larger_rooms_cost_little_more(tmp_path: Path) -> None:
    """A step in a room of 100 receptacles takes at most 20 times one in a room of 5."""
    taken = {}
    for receptacles in (5, 10, 25, 50, 100):
        (game,) = generate_games(
            tmp_path, count=1, rooms=["kitchen"], families=FAMILIES, receptacles=receptacles
        )
        taken[receptacles] = min(engine_walk(game.path) for _ in range(3))
        print(f"\n{receptacles} receptacles: {taken[receptacles] * 1e6:.2f} us a step", end="")
    assert taken[100] <= 20 * taken[5]


def test_a_reset_is_5_000_times_as_fast(kitchens: list[Game], reference: Seconds) -> None:
    """A reset of the env is at least 5,000 times as fast as TextWorld's."""
    game = kitchens[0]
    with make("alfworld", task=game.id, games=str(game.path.parents[3])) as env:
        taken = seconds(env.reset, 300)
    print(f"\nTextWorld {reference.reset * 1e3:.0f} ms, env {taken * 1e6:.0f} us a reset")
    print(f"{reference.reset / taken:,.0f} times as fast")
    assert reference.reset >= 5_000 * taken


def load(path: Path) -> World:
    return read_world(read_game(path))


def test_a_game_is_loaded_within_5_milliseconds(kitchens: list[Game]) -> None:
    """From the file to a world that can be played."""
    taken = fmean(seconds(partial(load, game.path), 5) for game in kitchens)
    print(f"\nload {taken * 1e3:.1f} ms")
    assert taken <= 5e-3


def test_a_state_is_saved_and_restored_within_20_microseconds(kitchens: list[Game]) -> None:
    """As JSON data, after a walk; a state that stays in the process is copied for nothing."""
    play = Play(load_world(kitchens[0].path))
    walk(lambda command: play.act(command).admissible, play.start().admissible, 50)
    saved = save_state(play.world, play.state)
    save = seconds(lambda: save_state(play.world, play.state), 2000)
    load = seconds(lambda: play.resume(load_state(play.world, saved)), 2000)
    print(f"\nsave {save * 1e6:.1f} us, restore {load * 1e6:.1f} us")
    assert save <= 20e-6
    assert load <= 20e-6
