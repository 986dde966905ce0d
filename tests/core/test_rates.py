from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_core.episode import run_episode
from harness_core.policies import ScriptedPolicy
from harness_core.rates import Rate, success_rate
from support.ladder import Ladder


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilson_interval(successes: int, n: int, low: float, high: float) -> None:
    """The interval is Wilson's: the last case is the worked example of Newcombe (1998)."""
    assert Rate(successes, n).interval() == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_interval_contains_the_rate(successes: int, failures: int) -> None:
    """The interval lies in [0, 1], contains the rate, and narrows with more of the same."""
    rate = Rate(successes, successes + failures)
    low, high = rate.interval()
    assert 0.0 <= low <= high <= 1.0
    if rate.n:
        assert low - 1e-12 <= rate.value <= high + 1e-12
        more = Rate(4 * successes, 4 * rate.n).interval()
        assert more[1] - more[0] < high - low


def test_no_episodes() -> None:
    """Without episodes the rate is unknown and the interval is everything."""
    assert math.isnan(Rate(0, 0).value)
    assert Rate(0, 0).interval() == (0.0, 1.0)
    assert str(Rate(0, 0)) == "no episodes"
    assert str(Rate(1, 2)) == "50.0% [9.5%, 90.5%] (n = 2)"


def test_only_what_counts_is_counted() -> None:
    """Successes and the policy's failures count; what infrastructure ended does not."""
    up = ScriptedPolicy(["up"] * 30)
    episodes = [
        run_episode(Ladder("rung-1"), up),
        run_episode(Ladder("rung-6"), ScriptedPolicy([])),
        run_episode(Ladder("rung-6", trouble="raise"), up),
    ]
    assert success_rate(episodes) == Rate(1, 2)
