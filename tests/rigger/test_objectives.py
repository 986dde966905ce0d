"""Target bands."""

from __future__ import annotations

from math import isinf, isnan

import pytest

from harness_core.errors import SpecError
from harness_rigger.objectives import StepBand, SuccessBand, beta_cdf
from support.subjects import episode, evidence


def successes(solved: int, of: int) -> object:
    return evidence(*(episode(5, number < solved) for number in range(of)))


def test_beta_cdf_is_the_uniform_priors_posterior() -> None:
    """Without data P(p < x) = x; after one success it is x squared; it mirrors at one half."""
    assert beta_cdf(0.3, 0, 0) == pytest.approx(0.3)
    assert beta_cdf(0.3, 1, 0) == pytest.approx(0.09)
    assert beta_cdf(0.4, 7, 3) == pytest.approx(1 - beta_cdf(0.6, 3, 7))


@pytest.mark.parametrize(
    ("solved", "of", "side", "clear"),
    [
        (0, 10, -1, True),
        (10, 10, 1, True),
        (5, 10, 0, False),
        (30, 60, 0, True),
        (24, 60, 0, False),
        (23, 60, -1, False),
        (3, 6, 0, False),
    ],
)
def test_success_band_needs_evidence(solved: int, of: int, side: int, clear: bool) -> None:
    """The likeliest side of the band is told, and clear only with enough rollouts."""
    standing = SuccessBand().standing(successes(solved, of))
    assert (standing.side, standing.clear) == (side, clear)


def test_directions_lead_to_the_middle() -> None:
    """A high rate asks for a harder env, many steps for an easier one, no success as well."""
    rates, steps = SuccessBand(), StepBand()
    assert rates.direction(rates.standing(successes(9, 10))) == "harder"
    assert rates.direction(rates.standing(successes(1, 10))) == "easier"
    assert steps.direction(steps.standing(evidence(episode(10, True)))) == "harder"
    assert steps.direction(steps.standing(evidence(episode(45, True)))) == "easier"
    assert steps.direction(steps.standing(evidence(episode(50, False)))) == "easier"


def test_step_band_measures_successes_alone() -> None:
    """Steps of failures do not count; without a success there is no value."""
    band = StepBand(least=2)
    mixed = band.standing(evidence(episode(30, True), episode(32, True), episode(50, False)))
    assert (mixed.value, mixed.side, mixed.clear) == (31.0, 0, True)
    none = band.standing(evidence(episode(50, False)))
    assert isnan(none.value)
    assert isinf(band.distance(none))


@pytest.mark.parametrize("options", [{"low": 0.6, "high": 0.4}, {"least": 9, "most": 5}])
def test_an_impossible_band_is_refused(options: dict[str, float]) -> None:
    """A band that is upside down, or fewer rollouts allowed than needed, is an error."""
    with pytest.raises(SpecError):
        SuccessBand(**options)


def test_few_successes_are_never_in_the_band() -> None:
    """Fewer successes than `least` say that the env is too hard, however long they were."""
    few = StepBand().standing(evidence(*[episode(30, True)] * 4, *[episode(50, False)] * 56))
    assert (few.side, few.clear) == (1, False)
