"""Means over runs, and paired intervals for differences."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from attrs import frozen

RESAMPLES = 2000


@frozen
class Score:
    """A success rate over several runs of the same tasks.

    Args:
        n: episodes that count.
        mean: of the runs' rates; NaN where nothing counts.
        deviation: sample standard deviation of the runs' rates; 0 for a single run.
        runs: the rate of each run.
    """

    n: int
    mean: float
    deviation: float
    runs: tuple[float, ...]


Outcomes = Mapping[str, Sequence[bool | None]]
"""Task -> its outcome in each run; `None` where infrastructure ended the episode."""


def score(outcomes: Outcomes) -> Score:
    """The rates of all runs and their spread. What infrastructure ended is left out."""
    by_run = zip(*outcomes.values(), strict=True) if outcomes else ()
    counted = [[won for won in run if won is not None] for run in by_run]
    rates = tuple(fmean(run) for run in counted if run)
    return Score(
        n=sum(map(len, counted)),
        mean=fmean(rates) if rates else float("nan"),
        deviation=stdev(rates) if len(rates) > 1 else 0.0,
        runs=rates,
    )


@frozen
class Difference:
    """How much better one arm is than another on the same tasks, with a 95 % interval.

    Args:
        mean: of the tasks' differences.
        low: of the interval.
        high: of the interval.
        n: tasks that both played.
    """

    mean: float
    low: float
    high: float
    n: int


def difference(better: Outcomes, worse: Outcomes) -> Difference | None:
    """The paired bootstrap over tasks: tasks are drawn, with all their runs in both arms.

    Returns:
        `None` where no task counts in both.

    Source: Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 13, percentile
    interval.
    """
    pairs = [
        _rate(better[task]) - _rate(worse[task])
        for task in sorted(better.keys() & worse.keys())
        if _counts(better[task]) and _counts(worse[task])
    ]
    if not pairs:
        return None
    chance = random.Random(0)
    means = sorted(fmean(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    tail = round(RESAMPLES * 0.025)
    return Difference(fmean(pairs), means[tail], means[-1 - tail], len(pairs))


def _counts(runs: Sequence[bool | None]) -> bool:
    return any(won is not None for won in runs)


def _rate(runs: Sequence[bool | None]) -> float:
    return fmean(won for won in runs if won is not None)
