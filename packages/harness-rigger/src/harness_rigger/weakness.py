"""The objective `weakness`: a candidate that shows a weakness, given in a sentence."""

from __future__ import annotations

from math import comb, isnan
from typing import Literal

from attrs import evolve, frozen

from harness_core.errors import SpecError
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Direction, Standing


def surely_lower(successes: int, n: int, than: int, of: int) -> float:
    """P(p < q) for two success rates with uniform priors: `successes` of `n`, `than` of `of`.

    With whole parameters it is a finite sum over the betas of p.
    """
    a, b = successes + 1, n - successes + 1
    c, d = than + 1, of - than + 1
    # P(p < q) = sum over k < c of P(exactly k of the c + d - 1 first draws of an urn are q's)
    total = a + b + c + d - 2
    return sum(
        comb(a + k - 1, k) * comb(b + c + d - 2 - k, c + d - 1 - k) for k in range(c)
    ) / comb(total, c + d - 1)


@frozen
class Weakness:
    """The policy shall fail at its weakness, and at nothing else.

    No program can read from a success rate that a failure has the reason that a sentence names.
    What can be measured is that the change, and not mere hardness, decides. A candidate is in the
    target when a success stays within reach (the policy solves it now and then, a teacher solves
    it, or a plan exists and no rule was changed) and the policy

    - *falls*: where it solved the env as it is at a rate of at least `drop`, the rate falls by at
      least `drop`, and has fallen with posterior probability `certain`;
    - *stays down*: where there was less to lose, the rate is below `drop` still, and the
      candidate leaves fewer actions to do than the env as it is: the weakness stands alone.

    Args:
        sentence: the weakness, for the strategy that writes.
        drop: in (0, 1).
        certain: posterior probability, from uniform priors.
        least: rollouts without which nothing is accepted.
        most: rollouts after which a candidate is decided on.
        baseline: evidence of the env as it is; set by the loop.
    """

    sentence: str
    drop: float = 0.3
    certain: float = 0.9
    least: int = 5
    most: int = 20
    baseline: Evidence | None = None

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.sentence, str) or not self.sentence.strip():
            raise SpecError("A weakness is a sentence: sentence='takes things from closed places'.")
        if not 0 < self.drop < 1 or not 0.5 <= self.certain < 1:
            raise SpecError(
                f"drop is in (0, 1) and certain in [0.5, 1); got {self.drop}, {self.certain}."
            )
        if not 1 <= self.least <= self.most:
            raise SpecError(f"1 <= least <= most; got {self.least}, {self.most}.")

    def against(self, baseline: Evidence) -> Weakness:
        """The same, measured against `baseline`."""
        return evolve(self, baseline=baseline)

    @property
    def middle(self) -> float:
        """The lower the rate, the clearer the weakness."""
        return 0.0

    @property
    def falls(self) -> bool:
        """Whether the policy has enough to lose in the env as it is."""
        return self.baseline is None or self.baseline.rate.value >= self.drop

    def standing(self, evidence: Evidence) -> Standing:
        rate = evidence.rate
        if not rate.n:
            return Standing(float("nan"), 1, False)
        if self.baseline is None or evidence is self.baseline:
            return Standing(rate.value, 1, True)
        decided = rate.n >= self.most
        side = self._fell(evidence) if self.falls else self._stayed(evidence)
        if side == 0 and evidence.reachable is not True:
            return Standing(rate.value, -1, rate.n >= self.least)
        return Standing(rate.value, side, decided or side == 0 or self._hopeless(evidence))

    def _fell(self, evidence: Evidence) -> Literal[0, 1]:
        assert self.baseline is not None
        lower = self.baseline.rate.value - evidence.rate.value >= self.drop
        return 0 if lower and self._lower(evidence) >= self.certain else 1

    def _stayed(self, evidence: Evidence) -> Literal[-1, 0, 1]:
        assert self.baseline is not None
        if evidence.rate.value >= self.drop:
            return 1
        before, after = self.baseline.distance, evidence.distance
        return 0 if before is not None and after is not None and after < before else -1

    def _lower(self, evidence: Evidence) -> float:
        assert self.baseline is not None
        before, after = self.baseline.rate, evidence.rate
        return surely_lower(after.successes, after.n, before.successes, before.n)

    def _hopeless(self, evidence: Evidence) -> bool:
        """Whether the policy does as well as before, so that more rollouts are wasted."""
        return evidence.rate.n >= self.least and (
            not self.falls or self._lower(evidence) < 1 - self.certain / 2
        )

    def direction(self, standing: Standing) -> Direction:
        """Harder while the policy solves too much; easier where nobody could."""
        if self.baseline is not None and standing.side == 1 and not self.falls:
            return "easier" if standing.value < self.drop else "harder"
        return "harder" if standing.side == 1 else "easier"

    def distance(self, standing: Standing) -> float:
        return float("inf") if isnan(standing.value) else standing.value

    def describe(self) -> str:
        return (
            f"the policy shows this weakness: {self.sentence.strip()} (its success rate falls by "
            f"{self.drop:g} or more while success stays within reach)"
        )
