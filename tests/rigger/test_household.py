"""The families for ALFWorld, on the real engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_core import StackSpec, Stage
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool
from harness_rigger.loop import Budget, Rigged, Rigger
from harness_rigger.objectives import StepBand, SuccessBand
from harness_rigger.search import SearchStrategy

pytestmark = pytest.mark.textworld

CLEAN = "pick_clean_then_place_in_recep"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StackSpec]:
    """A generated game whose target lies in plain sight."""
    from harness_bridges.alfworld.games import generate_games

    games: Path = tmp_path_factory.mktemp("games")
    (game,) = generate_games(games, count=1, seed=4, families=[CLEAN], receptacles=9, hidden=False)
    before = os.environ.get("ALFWORLD_DATA")
    os.environ["ALFWORLD_DATA"] = str(games)
    yield StackSpec("alfworld", task=game.id)
    if before is None:
        del os.environ["ALFWORLD_DATA"]
    else:
        os.environ["ALFWORLD_DATA"] = before


@pytest.fixture(scope="module")
def pool(stack: StackSpec) -> Iterator[RolloutPool]:
    with RolloutPool(2) as pool:
        yield pool


def rig(
    pool: RolloutPool, stack: StackSpec, objective: SuccessBand | StepBand, policy: PolicySpec
) -> Rigged:
    budget = Budget(baseline=10, batch=10)
    return Rigger(pool, policy, objective, SearchStrategy(), budget=budget).rig(stack)


def test_hiding_the_target_defeats_a_policy_that_opens_nothing(
    pool: RolloutPool, stack: StackSpec
) -> None:
    """The first shape hides the target; a policy that leaves doors closed never finds it."""
    policy = PolicySpec("household-no-open")
    rigged = rig(pool, stack, SuccessBand(least=5, most=10), policy)
    assert rigged.case.baseline.rate.value == 1.0
    hidden = [t for t in rigged.case.trials if "hidden in" in t.candidate.rationale]
    rolled = [trial for trial in hidden if trial.evidence.episodes]
    assert rolled
    assert isinstance(rolled[0].candidate.components[0], Stage)
    assert rolled[0].evidence.rate.successes == 0


def test_a_policy_that_dithers_is_brought_into_both_bands(
    pool: RolloutPool, stack: StackSpec
) -> None:
    """An always solved task gets a success rate near one half, and about thirty steps."""
    policy = PolicySpec("household-loops", {"strength": 0.2})
    half = rig(pool, stack, SuccessBand(least=10, most=40), policy)
    assert half.outcome == "accepted"
    assert half.trial is not None
    assert 0.35 <= half.trial.evidence.rate.value <= 0.65
    long = rig(pool, stack, StepBand(least=10, most=40), policy)
    assert long.outcome == "accepted"
    assert long.trial is not None
    assert 25 <= long.trial.evidence.mean_steps <= 35
