"""Predicting a toll from the steps that episodes needed."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from harness_rigger.objectives import StepBand, SuccessBand
from harness_rigger.search.dial import moves, need, predicted_toll
from support.subjects import episode, evidence


def test_need_leaves_out_what_was_paid() -> None:
    """Blocked actions are no need; a budget used up is a lower bound; giving up is endless."""
    assert need(episode(20, True, blocked=6), 50) == 14
    assert need(episode(50, False, "budget", blocked=6), 50) == 45
    assert need(episode(20, False, "stopped"), 50) == inf


def test_toll_splits_successes_in_the_middle() -> None:
    """Ten successes that need 11 to 20 steps of 50 get the toll that five of them survive."""
    seen = evidence(*(episode(steps, True) for steps in range(11, 21)))
    toll = predicted_toll(SuccessBand(), seen, 50)
    assert toll == 35
    assert sum(need(each, 50) <= 50 - toll for each in seen.episodes) == 5


def test_toll_fills_up_steps() -> None:
    """For a step band the toll is what the mean of the successes lacks."""
    seen = evidence(episode(10, True), episode(14, True), episode(50, False, "stopped"))
    assert predicted_toll(StepBand(), seen, 50) == 18


def test_no_toll_helps_a_policy_that_fails_otherwise() -> None:
    """Where most episodes fail with steps to spare, no toll is predicted."""
    seen = evidence(episode(10, True), *(episode(9, False, "stopped") for _ in range(9)))
    assert predicted_toll(SuccessBand(), seen, 50) is None


@given(st.lists(st.integers(1, 50), min_size=4, max_size=40, unique=True))
def test_predicted_toll_meets_the_band_it_was_predicted_for(steps: list[int]) -> None:
    """Distinct needs are always split within one episode of the middle."""
    seen = evidence(*(episode(each, True) for each in steps))
    toll = predicted_toll(SuccessBand(), seen, 50)
    assert toll is not None
    kept = sum(need(each, 50) <= 50 - toll for each in seen.episodes)
    assert abs(kept - len(steps) / 2) <= 1


def test_moves_are_those_of_solved_episodes() -> None:
    """Executed moves of successes count, by the mean; there is always at least one."""
    seen = evidence(episode(4, True), episode(8, True, blocked=2), episode(30, False))
    assert moves(seen, "go to") == 5
    assert moves(seen, "fly to") == 1
    assert moves(evidence(), "go to") == 1
