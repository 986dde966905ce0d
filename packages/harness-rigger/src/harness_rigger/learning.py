"""The objective `learning-signal`: groups of rollouts that a policy gradient can learn from."""

from __future__ import annotations

from math import inf, isnan, sqrt

from attrs import field, frozen

from harness_core.errors import SpecError
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Direction, Standing, SuccessBand


@frozen
class LearningSignal:
    """The returns of a group shall differ: their variance p(1 - p) is at least `low`.

    Where every rollout of a group has the same return, its advantages are zero and nothing is
    learned. For returns of 0 and 1 the variance is at least `low` exactly when the rate p is
    within sqrt(1/4 - low) of one half, so the evidence is weighed as for a success rate.

    Args:
        low: in (0, 0.25); 0.25 is reached at p = 1/2.
        least: rollouts without which nothing is accepted.
        most: rollouts after which the likeliest side decides.
        inside: posterior probability at which the signal is clearly large enough.
        outside: posterior probability at which it is clearly too small.
    """

    low: float = 0.2
    least: int = 5
    most: int = 60
    inside: float = 0.7
    outside: float = 0.9
    _rates: SuccessBand = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if not 0 < self.low < 0.25:
            raise SpecError(f"A variance p(1 - p) is in (0, 0.25); got low={self.low}.")
        half = sqrt(0.25 - self.low)
        band = SuccessBand(0.5 - half, 0.5 + half, self.least, self.most, self.inside, self.outside)
        object.__setattr__(self, "_rates", band)

    @property
    def middle(self) -> float:
        """The largest variance."""
        return 0.25

    def standing(self, evidence: Evidence) -> Standing:
        """The variance of the returns; `side` is that of the success rate."""
        rate = self._rates.standing(evidence)
        return Standing(rate.value * (1 - rate.value), rate.side, rate.clear, (rate,))

    def direction(self, standing: Standing) -> Direction:
        return self._rates.direction(standing.parts[0])

    def distance(self, standing: Standing) -> float:
        return inf if isnan(standing.value) else 0.25 - standing.value

    def describe(self) -> str:
        return (
            f"variance of the returns, p(1 - p), at least {self.low:g}: a success rate in "
            f"[{self._rates.low:.2f}, {self._rates.high:.2f}]"
        )
