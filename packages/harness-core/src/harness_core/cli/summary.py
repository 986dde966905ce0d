"""The table of a run: by family of tasks, and in total."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import get_args

from attrs import frozen

from harness_core.cli.console import say, table
from harness_core.episode import Episode, Failure
from harness_core.errors import Fault
from harness_core.rates import Rate, success_rate
from harness_core.values import JsonDict

FAULTS: tuple[Fault, ...] = tuple(fault for fault in get_args(Fault) if fault != "caller")
COLUMNS = ("family", ">episodes", ">n", ">solved", "95 %", ">steps", *(f">{f}" for f in FAULTS))

REASONS = 5
"""How many kinds of failures are named below the table."""


@frozen
class Row:
    """Some episodes of a run in figures.

    Args:
        family: of their tasks.
        episodes: how many there are.
        rate: the solved ones among those that count.
        steps: mean steps of those that count; `None` if none does.
        failures: how many failed, by fault.
    """

    family: str
    episodes: int
    rate: Rate
    steps: float | None
    failures: dict[str, int]

    @classmethod
    def of(cls, family: str, episodes: Sequence[Episode]) -> Row:
        """The figures of `episodes`."""
        steps = [len(episode.steps) for episode in episodes if episode.success is not None]
        faults = Counter(episode.failure.fault for episode in episodes if episode.failure)
        return cls(
            family,
            len(episodes),
            success_rate(episodes),
            sum(steps) / len(steps) if steps else None,
            {fault: faults[fault] for fault in FAULTS},
        )

    def to_dict(self) -> JsonDict:
        """The figures as JSON data."""
        return {
            "family": self.family,
            "episodes": self.episodes,
            "n": self.rate.n,
            "solved": self.rate.successes,
            "rate": self.rate.value if self.rate.n else None,
            "interval": list(self.rate.interval()),
            "mean_steps": self.steps,
            "failures": self.failures,
        }

    def cells(self) -> list[str]:
        """The figures as texts, one per column."""
        low, high = self.rate.interval()
        counts = self.rate.n > 0
        return [
            self.family,
            str(self.episodes),
            str(self.rate.n),
            f"{self.rate.value:.1%}" if counts else "-",
            f"{low:.1%} to {high:.1%}" if counts else "-",
            f"{self.steps:.1f}" if self.steps is not None else "-",
            *(str(self.failures[fault]) for fault in FAULTS),
        ]


def summarise(episodes: Iterable[Episode]) -> list[Row]:
    """One row per family, in alphabetical order; the last one is the total."""
    families: dict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        families[episode.task.family or "(no family)"].append(episode)
    rows = [Row.of(family, families[family]) for family in sorted(families)]
    return [*rows, Row.of("total", [each for some in families.values() for each in some])]


def print_summary(episodes: Sequence[Episode]) -> None:
    """Prints the table, and the commonest reasons of failures."""
    table(COLUMNS, [row.cells() for row in summarise(episodes)])
    reasons = Counter(_reason(episode.failure) for episode in episodes if episode.failure)
    for reason, times in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))[:REASONS]:
        say(f"{times} failed: {reason}")


def _reason(failure: Failure) -> str:
    return f"{failure.error} ({failure.fault}): {failure.message.partition(chr(10))[0]}"
