"""The objectives `weakness`, `learning-signal` and `all-of`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from harness_core.errors import SpecError
from harness_core.registry import construct
from harness_rigger.all_of import AllOf
from harness_rigger.evidence import Evidence
from harness_rigger.learning import LearningSignal
from harness_rigger.objectives import StepBand, SuccessBand, beta_cdf
from harness_rigger.weakness import Weakness, surely_lower
from support.subjects import episode, evidence


def outcomes(solved: int, of: int, **known: Any) -> Evidence:
    """So many rollouts, and what else is known about them."""
    return evolve(evidence(*(episode(5, number < solved) for number in range(of))), **known)


@pytest.mark.parametrize(
    ("s", "n", "t", "m"), [(0, 0, 0, 0), (2, 5, 4, 5), (0, 5, 5, 5), (7, 9, 1, 4)]
)
def test_the_probability_of_a_lower_rate_is_the_integral(s: int, n: int, t: int, m: int) -> None:
    """The closed sum is the integral of one beta's distribution function over the other's."""
    mass = sum(
        beta_cdf((low + high) / 2, s, n - s) * (beta_cdf(high, t, m - t) - beta_cdf(low, t, m - t))
        for low, high in pairwise(k / 4000 for k in range(4001))
    )
    assert surely_lower(s, n, t, m) == pytest.approx(mass, abs=1e-4)


@pytest.mark.parametrize(
    ("solved", "reachable", "side"),
    [(0, True, 0), (1, True, 0), (4, True, 1), (5, True, 1), (0, None, -1), (0, False, -1)],
)
def test_a_policy_with_something_to_lose_must_fall(
    solved: int, reachable: bool | None, side: int
) -> None:
    """The rate falls clearly and success is within reach; else it is too easy, or out of reach."""
    aim = Weakness("opens nothing").against(outcomes(5, 5))
    assert aim.standing(outcomes(solved, 5, reachable=reachable)).side == side


@pytest.mark.parametrize(
    ("solved", "distance", "side"), [(0, 3.0, 0), (0, 6.0, -1), (0, None, -1), (4, 3.0, 1)]
)
def test_a_policy_without_must_stay_down_with_less_to_do(
    solved: int, distance: float | None, side: int
) -> None:
    """A failure that was there before counts only where fewer actions are left than before."""
    aim = Weakness("forgets").against(outcomes(0, 5, distance=6.0))
    assert aim.standing(outcomes(solved, 5, reachable=True, distance=distance)).side == side


def test_directions_of_a_weakness() -> None:
    """Harder where much is solved; easier where nothing is, before and after."""
    strong, weak = outcomes(5, 5), outcomes(0, 5, distance=6.0)
    aim = Weakness("opens nothing").against(strong)
    assert aim.direction(aim.standing(strong)) == "harder"
    assert aim.direction(aim.standing(outcomes(0, 5))) == "easier"
    aim = Weakness("forgets").against(weak)
    assert aim.direction(aim.standing(weak)) == "easier"
    assert aim.direction(aim.standing(outcomes(5, 5, reachable=True))) == "harder"


def test_more_rollouts_are_taken_only_while_they_may_help() -> None:
    """A policy that does as well as before is clear at once; a half fall asks for more."""
    aim = Weakness("opens nothing").against(outcomes(5, 5))
    assert aim.standing(outcomes(5, 5, reachable=True)).clear
    assert not aim.standing(outcomes(4, 5, reachable=True)).clear
    assert aim.standing(outcomes(16, 20, reachable=True)).clear


@pytest.mark.parametrize(
    "options", [{"sentence": " "}, {"sentence": "x", "drop": 0}, {"sentence": "x", "least": 0}]
)
def test_an_impossible_weakness_is_refused(options: dict[str, Any]) -> None:
    """No sentence, no drop and no rollouts are errors when the objective is made."""
    with pytest.raises(SpecError):
        Weakness(**options)


@pytest.mark.parametrize(("solved", "side", "value"), [(0, -1, 0.0), (5, 0, 0.25), (10, 1, 0.0)])
def test_a_learning_signal_is_the_spread_of_a_group(solved: int, side: int, value: float) -> None:
    """Its value is p(1 - p); it is too small on both sides of one half."""
    aim = LearningSignal()
    standing = aim.standing(outcomes(solved, 10))
    assert (standing.side, standing.value) == (side, pytest.approx(value))
    if side:
        assert aim.direction(standing) == ("harder" if side == 1 else "easier")


def test_the_edges_of_a_learning_signal() -> None:
    """A variance of 0.21 is reached from a rate of 0.3 on, and up to 0.7."""
    assert "[0.30, 0.70]" in LearningSignal(low=0.21).describe()
    with pytest.raises(SpecError, match=r"in \(0, 0.25\)"):
        LearningSignal(low=0.3)


def test_all_of_holds_where_every_part_does() -> None:
    """The first part that does not hold leads; in the target, all are clear or none is."""
    both = AllOf([SuccessBand(), StepBand(4, 6)])
    half = both.standing(outcomes(30, 60))
    assert (half.side, half.clear) == (0, True)
    high = both.standing(outcomes(20, 20))
    assert (high.side, both.direction(high)) == (1, "harder")
    long = AllOf([SuccessBand(), StepBand(1, 4)])
    late = long.standing(outcomes(30, 60))
    assert (late.side, long.direction(late)) == (1, "easier")
    assert long.describe() == "success rate in [0.4, 0.6] and mean steps of successes in [1, 4]"


def test_all_of_is_written_as_data() -> None:
    """Ids and options are enough; a relative part is bound to the baseline with the others."""
    parts = ["success-band", {"id": "weakness", "sentence": "opens nothing", "drop": 0.2}]
    aim = construct("objective", "all-of", {"objectives": parts})
    bound = aim.against(outcomes(5, 5))
    assert bound.objectives[1].baseline == outcomes(5, 5)
    assert (bound.least, bound.most) == (5, 60)
    with pytest.raises(SpecError, match="takes a list of objectives"):
        AllOf("success-band")
