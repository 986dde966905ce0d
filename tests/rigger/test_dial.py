"""Predicting a toll from the steps that episodes needed."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_rigger.objectives import StepBand, SuccessBand
from harness_rigger.search.dial import Needs, moves, need, predicted
from support.subjects import episode, evidence


def test_need_leaves_out_what_was_paid() -> None:
    """Blocked actions are no need; what was cut off is a lower bound; giving up is endless."""
    assert need(episode(20, True, blocked=6)) == 14
    assert need(episode(50, False, "budget", blocked=6)) == 45
    assert need(episode(8, False, "truncated")) == 9
    assert need(episode(20, False, "stopped")) == inf


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans()), min_size=1), st.integers(0, 51))
def test_without_cuts_successes_are_counted(outcomes: list[tuple[int, bool]], limit: int) -> None:
    """Where no episode was cut off, the estimate is the plain share of successes in time."""
    seen = evidence(*(episode(steps, solved, "stopped") for steps, solved in outcomes))
    share = sum(solved and steps <= limit for steps, solved in outcomes) / len(outcomes)
    assert Needs.of(seen).within(limit) == pytest.approx(share)


def test_an_episode_that_was_cut_off_counts_for_as_long_as_it_ran() -> None:
    """Two of four succeed at 5, one is cut at 5, one succeeds at 9: 1 - 1/2 * 0."""
    seen = evidence(
        *(episode(5, True) for _ in range(2)), episode(5, False, "truncated"), episode(9, True)
    )
    assert Needs.of(seen).within(5) == pytest.approx(0.5)
    assert Needs.of(seen).within(8) == pytest.approx(0.5)
    assert Needs.of(seen).within(9) == pytest.approx(1.0)


def test_a_toll_shifts_both_measures() -> None:
    """Needs of 11 to 20: a toll of 35 leaves half of them; a toll of 10 makes them ten longer."""
    seen = evidence(*(episode(steps, True) for steps in range(11, 21)))
    assert predicted(SuccessBand(), Needs.of(seen), 50, 35) == pytest.approx(0.5)
    assert predicted(StepBand(), Needs.of(seen), 50, 10) == pytest.approx(25.5)
    assert predicted(StepBand(), Needs.of(seen), 50, 40) is None
    never = Needs.of(evidence(episode(9, False, "stopped")))
    assert predicted(SuccessBand(), never, 50, 5) is None


def test_moves_are_those_of_solved_episodes() -> None:
    """Executed moves of successes count, by the mean; there is always at least one."""
    seen = evidence(episode(4, True), episode(8, True, blocked=2), episode(30, False))
    assert moves(seen, "go to") == 5
    assert moves(seen, "fly to") == 1
    assert moves(evidence(), "go to") == 1
