"""Real ALFWorld games: stored plans win through the bridge, and the competent policy copes."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import pytest

from harness_bridges.alfworld.games import FAMILIES, Game
from harness_core.policies import PolicySpec
from support.alfworld_games import REAL, plays_walkthrough, real_games, wins

pytestmark = pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no real games")

EACH = int(os.environ.get("ALFWORLD_EACH", "4"))
"""How many games of each of the six families TextWorld plays; 10 makes the full 60."""


@pytest.fixture(scope="module")
def run_all() -> Iterator[Callable[..., list[Any]]]:
    """Calls a function on every drawn game, two at a time, each process with its own engine."""
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield lambda function, games: list(pool.map(function, games))


@pytest.fixture(scope="module")
def games(engine: str) -> list[Game]:
    """All seen games for the native engine, a draw of all for TextWorld."""
    return real_games(EACH if engine == "textworld" else None)


def test_stored_walkthroughs_win(
    games: list[Game], engine: str, run_all: Callable[..., list[Any]]
) -> None:
    """Every step of every drawn game's own plan is admissible, and the last one wins."""
    played = run_all(partial(plays_walkthrough, engine=engine), games)
    assert [game.id for game, won in zip(games, played, strict=True) if not won] == []


def test_the_competent_policy_wins(
    games: list[Game], engine: str, run_all: Callable[..., list[Any]]
) -> None:
    """At least 90 % of the games within 50 steps; the figures by family are printed."""
    played = partial(wins, engine=engine, policy=PolicySpec("household"), seed=0)
    ended = run_all(played, games)
    won: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    of = Counter(game.family for game in games)
    for game, result in zip(games, ended, strict=True):
        success, count = result
        won[game.family] += success
        steps[game.family] += count * success
    for family in FAMILIES:
        mean = steps[family] / max(1, won[family])
        print(f"{family:32} {won[family]}/{of[family]} won, {mean:.1f} steps")
    assert sum(won.values()) >= 0.9 * len(games), won
