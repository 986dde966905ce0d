"""Rates over runs, and paired differences."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_skills.protocols.statistics import difference, score

OUTCOMES = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.lists(st.sampled_from([True, False, None]), min_size=3, max_size=3),
    max_size=8,
)


def test_a_score_by_hand() -> None:
    """Two runs of three tasks: rates 2/3 and 1/2, since one episode was lost."""
    got = score({"a": [True, True], "b": [True, None], "c": [False, False]})
    assert got.n == 5
    assert got.runs == pytest.approx((2 / 3, 1 / 2))
    assert got.mean == pytest.approx(7 / 12)
    assert got.deviation == pytest.approx(math.sqrt(2) / 12)


def test_nothing_counts() -> None:
    """Where infrastructure ended everything there is no rate, and no difference."""
    lost = {"a": [None], "b": [None]}
    assert score(lost).n == 0
    assert math.isnan(score(lost).mean)
    assert difference(lost, {"a": [True]}) is None
    assert difference({}, {}) is None


def test_a_difference_by_hand() -> None:
    """The mean is over tasks; with one task the interval has no width."""
    got = difference({"a": [True, True], "x": [True]}, {"a": [True, False], "y": [False]})
    assert got is not None
    assert (got.n, got.mean, got.low, got.high) == (1, 0.5, 0.5, 0.5)


def test_a_clear_difference_is_told_from_chance() -> None:
    """What helps in nine of ten tasks has an interval above 0; what helps in none has 0 inside."""
    worse = {str(number): [False] for number in range(10)}
    better = {str(number): [number > 0] for number in range(10)}
    clear, none = difference(better, worse), difference(worse, worse)
    assert clear is not None
    assert clear.low > 0
    assert none is not None
    assert (none.low, none.high) == (0, 0)


@given(OUTCOMES, OUTCOMES)
def test_the_interval_holds_the_mean_and_turns_with_the_sides(
    one: dict[str, list[bool | None]], other: dict[str, list[bool | None]]
) -> None:
    """low <= mean <= high for any outcomes, and swapping the arms swaps the sign."""
    there, back = difference(one, other), difference(other, one)
    assert (there is None) == (back is None)
    if there is None or back is None:
        return
    assert there.low <= there.mean + 1e-9
    assert there.mean <= there.high + 1e-9
    assert there.mean == pytest.approx(-back.mean)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
