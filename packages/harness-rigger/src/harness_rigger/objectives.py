"""Objectives: where a batch of episodes stands against a target band."""

from __future__ import annotations

from math import comb, inf, isnan, sqrt
from statistics import fmean, stdev
from typing import Literal, Protocol, runtime_checkable

from attrs import frozen

from harness_core.errors import SpecError
from harness_rigger.evidence import Evidence

Direction = Literal["harder", "easier"]


@frozen
class Standing:
    """Where the evidence puts the measured value.

    Args:
        value: the measured value; NaN if there is nothing to measure.
        side: -1 below the band, 0 inside, 1 above: the likeliest.
        clear: whether further rollouts would hardly change `side`.
        parts: of an objective that is made of several: where each of them stands.
    """

    value: float
    side: int
    clear: bool
    parts: tuple[Standing, ...] = ()


class Objective(Protocol):
    """What the rigger aims at."""

    @property
    def least(self) -> int:
        """Rollouts without which nothing is accepted."""

    @property
    def most(self) -> int:
        """Rollouts after which the likeliest side decides."""

    @property
    def middle(self) -> float:
        """The value to aim at."""

    def standing(self, evidence: Evidence) -> Standing:
        """Where `evidence` stands."""

    def direction(self, standing: Standing) -> Direction:
        """Where the middle of the band lies from there."""

    def distance(self, standing: Standing) -> float:
        """How far the value is from the middle of the band; infinite where there is none."""

    def describe(self) -> str:
        """The target in words."""


@runtime_checkable
class Relative(Protocol):
    """An objective that measures against the env as it is."""

    def against(self, baseline: Evidence) -> Objective:
        """The objective for a task whose baseline is known."""


def _side(value: float, low: float, high: float) -> int:
    return -1 if value < low else 1 if value > high else 0


def beta_cdf(x: float, successes: int, failures: int) -> float:
    """P(p < x) under the posterior Beta(successes + 1, failures + 1) of a uniform prior.

    For whole parameters it is a binomial tail: P(Bin(n + 1, x) >= successes + 1).
    """
    n = successes + failures + 1
    return sum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(successes + 1, n + 1))


@frozen
class _Band:
    low: float
    high: float
    least: int
    most: int

    def __attrs_post_init__(self) -> None:
        if not self.low < self.high:
            raise SpecError(f"A band runs from low to high; got [{self.low}, {self.high}].")
        if not 1 <= self.least <= self.most:
            raise SpecError(f"A band needs 1 <= least <= most; got {self.least}, {self.most}.")

    @property
    def middle(self) -> float:
        """The value to aim at."""
        return (self.low + self.high) / 2

    def distance(self, standing: Standing) -> float:
        return inf if isnan(standing.value) else abs(standing.value - self.middle)


@frozen
class SuccessBand(_Band):
    """The success rate shall be in [low, high].

    Args:
        low: in [0, 1].
        high: in [0, 1].
        least: rollouts without which nothing is accepted.
        most: rollouts after which the likeliest side decides.
        inside: posterior probability at which a rate is clearly inside.
        outside: posterior probability at which it is clearly below, or clearly above.
    """

    low: float = 0.4
    high: float = 0.6
    least: int = 5
    most: int = 60
    inside: float = 0.7
    outside: float = 0.9

    def standing(self, evidence: Evidence) -> Standing:
        rate = evidence.rate
        if not rate.n:
            return Standing(float("nan"), -1, False)
        failures = rate.n - rate.successes
        below = beta_cdf(self.low, rate.successes, failures)
        above = 1 - beta_cdf(self.high, rate.successes, failures)
        mass, side = max((below, -1), (1 - below - above, 0), (above, 1))
        return Standing(rate.value, side, mass > (self.inside if side == 0 else self.outside))

    def direction(self, standing: Standing) -> Direction:
        return "harder" if standing.value > self.middle else "easier"

    def describe(self) -> str:
        return f"success rate in [{self.low:g}, {self.high:g}]"


@frozen
class StepBand(_Band):
    """The mean steps of successful episodes shall be in [low, high].

    Args:
        low: steps.
        high: steps.
        least: successes without which nothing is accepted: fewer say that the env is too hard.
        most: rollouts after which the likeliest side decides. A mean is clear earlier, when it
            is a standard error away from both edges.
    """

    low: float = 25.0
    high: float = 35.0
    least: int = 5
    most: int = 60

    def standing(self, evidence: Evidence) -> Standing:
        steps = [float(len(episode.steps)) for episode in evidence.solved]
        if not steps:
            return Standing(float("nan"), 1, evidence.rate.n >= self.least)
        mean = fmean(steps)
        if len(steps) < self.least:
            return Standing(mean, _side(mean, self.low, self.high) or 1, False)
        error = stdev(steps) / sqrt(len(steps)) if len(steps) > 1 else float("inf")
        clear = min(abs(mean - self.low), abs(mean - self.high)) > error
        return Standing(mean, _side(mean, self.low, self.high), clear)

    def direction(self, standing: Standing) -> Direction:
        return "harder" if standing.value < self.middle else "easier"

    def describe(self) -> str:
        return f"mean steps of successes in [{self.low:g}, {self.high:g}]"
