"""Rates with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

from attrs import frozen

from harness_core.episode import Episode


@frozen
class Rate:
    """`successes` of `n` independent trials."""

    successes: int
    n: int

    @property
    def value(self) -> float:
        """The share in [0, 1]; NaN for n = 0."""
        return self.successes / self.n if self.n else float("nan")

    def interval(self, z: float = 1.96) -> tuple[float, float]:
        """Wilson's score interval (Wilson 1927); z = 1.96 covers 95 %. (0, 1) for n = 0."""
        if not self.n:
            return 0.0, 1.0
        share, n = self.value, self.n
        middle = share + z * z / (2 * n)
        spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)

    def __str__(self) -> str:
        if not self.n:
            return "no episodes"
        low, high = self.interval()
        return f"{self.value:.1%} [{low:.1%}, {high:.1%}] (n = {self.n})"


def success_rate(episodes: Iterable[Episode]) -> Rate:
    """Successes among the episodes that count: failures of others than the policy do not."""
    counted = [episode.success for episode in episodes if episode.success is not None]
    return Rate(sum(counted), len(counted))
