"""`Play`: states are values, and episodes do not meet, in threads and processes either."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_bridges.alfworld.engine import Play, World
from harness_bridges.alfworld.engine.saved import load_state, save_state
from harness_bridges.alfworld.frame import Frame
from harness_core.errors import SpecError


def walk(world: World, seed: int, steps: int) -> list[Frame]:
    """The frames of a random walk with a little nonsense."""
    play, rng = Play(world), Random(seed)
    frames = [play.start()]
    for _ in range(steps):
        frames.append(play.act(rng.choice([*frames[-1].admissible, "dance"])))
    return frames


def test_threads_do_not_meet(worlds: list[World]) -> None:
    """64 episodes in 8 threads, stepped in turn over shared worlds, equal the serial ones."""
    plays = [(Play(worlds[number % 12]), Random(number)) for number in range(64)]
    frames = [[play.start()] for play, _ in plays]

    def step(number: int) -> None:
        (play, rng), told = plays[number], frames[number]
        told.append(play.act(rng.choice([*told[-1].admissible, "dance"])))

    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            list(pool.map(step, range(64)))
    assert frames == [walk(worlds[number % 12], number, 50) for number in range(64)]


def _forked(world: World, pipe: Connection) -> None:
    pipe.send(walk(world, 5, 30))


def test_a_forked_child_plays_on(worlds: list[World]) -> None:
    """A world that was played in the parent gives the same episode in a forked child."""
    expected = walk(worlds[0], 5, 30)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_forked, args=(worlds[0], theirs))
    child.start()
    assert ours.recv() == expected
    child.join()


def test_a_state_is_a_value(worlds: list[World]) -> None:
    """States are equal and hash alike when they say the same; going back is going on."""
    play = Play(worlds[2])
    start, seen = play.start(), {play.state}
    away = next(command for command in start.admissible if command.startswith("go to"))
    play.act(away)
    assert play.state not in seen
    kept = play.state
    for command in ("look", "inventory", "dance", away):
        play.act(command)
        assert play.state == kept
    after = walk_on(play)
    play.resume(kept)
    assert walk_on(play) == after
    play.resume(worlds[2].start)
    assert play.state in seen
    assert play.admissible() == start.admissible


def walk_on(play: Play) -> list[Frame]:
    rng, frames = Random(1), []
    for _ in range(20):
        frames.append(play.act(rng.choice(play.admissible())))
    return frames


@given(seed=st.integers(0, 2**32), steps=st.integers(0, 60), number=st.integers(0, 11))
def test_a_saved_state_comes_back(worlds: list[World], seed: int, steps: int, number: int) -> None:
    """Whatever walk led there, the saved state is the state, and the episode goes on alike."""
    play, rng = Play(worlds[number]), Random(seed)
    play.start()
    for _ in range(steps):
        play.act(rng.choice(play.admissible()))
    twin = Play(worlds[number])
    twin.resume(load_state(twin.world, save_state(play.world, play.state)))
    assert (twin.state, hash(twin.state)) == (play.state, hash(play.state))
    assert (twin.won, twin.goal_share) == (play.won, play.goal_share)
    assert walk_on(twin) == walk_on(play)


@pytest.mark.parametrize(
    "changes", [{"at": "nowhere 1"}, {"held": "moon 1"}, {"inside": {"moon 1": []}}, {"clean": 3}]
)
def test_a_state_of_another_game_is_refused(
    worlds: list[World], changes: dict[str, object]
) -> None:
    """Names that the game does not have are an error, not another state."""
    saved = save_state(worlds[0], worlds[0].start)
    with pytest.raises(SpecError, match="no saved state"):
        load_state(worlds[0], {**saved, **changes})
    with pytest.raises(SpecError, match="no saved state"):
        load_state(worlds[0], {})


def test_the_share_is_one_exactly_where_the_goal_holds(worlds: list[World]) -> None:
    """The share of conditions is between 0 and 1, and 1 in won states alone."""
    for number, world in enumerate(worlds):
        play, rng = Play(world), Random(number)
        play.start()
        for _ in range(200):
            play.act(rng.choice(play.admissible()))
            assert 0 <= play.goal_share <= 1
            assert (play.goal_share == 1) == play.won


def test_memory_stays_flat(worlds: list[World]) -> None:
    """Resets and steps add no memory (10 %).

    ALFWORLD_STEPS sets how many steps; default 200,000. There is a reset for every hundred.
    """
    steps = int(os.environ.get("ALFWORLD_STEPS", "200000"))

    def play(count: int) -> None:
        rng = Random(0)
        for number in range(count // 100):
            play = Play(worlds[number % 12])
            admissible = play.start().admissible
            for _ in range(100):
                admissible = play.act(admissible[int(rng.random() * len(admissible))]).admissible

    def pages() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1])

    play(max(100_000, steps // 10))
    before = pages()
    play(steps)
    print(before, pages())
    assert pages() <= 1.1 * before
