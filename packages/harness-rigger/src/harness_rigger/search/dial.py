"""Predicts what a toll does to an outcome, from the steps that episodes needed."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from math import inf
from statistics import fmean

from attrs import frozen

from harness_core.episode import Episode
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Objective, StepBand, SuccessBand


def need(episode: Episode) -> float:
    """Steps that the episode needed for success, tolls not counted.

    Where it was cut off first, the least that it can have been; infinite where the policy
    failed with steps to spare.
    """
    executed = len(episode.steps) - sum(bool(step.blocked) for step in episode.steps)
    if episode.success:
        return executed
    return executed + 1 if episode.ending in ("budget", "truncated") else inf


@frozen(slots=False)
class Needs:
    """What the episodes of a batch needed.

    Args:
        solved: steps that each success needed.
        cut: of the others that count: the least that each would have needed.
    """

    solved: tuple[float, ...]
    cut: tuple[float, ...]

    @classmethod
    def of(cls, evidence: Evidence) -> Needs:
        """Reads the episodes of `evidence`."""
        counted = [(episode.success, need(episode)) for episode in evidence.counted]
        return cls(
            tuple(steps for solved, steps in counted if solved),
            tuple(steps for solved, steps in counted if not solved),
        )

    def within(self, steps: float) -> float:
        """The probability of a success within so many steps, by the product-limit estimate.

        An episode that was cut off counts for as long as it ran.

        Source: Kaplan and Meier (1958), Nonparametric estimation from incomplete observations.
        """
        times, unsolved = self._curve
        return 1 - unsolved[bisect_right(times, steps)]

    @cached_property
    def _curve(self) -> tuple[list[float], list[float]]:
        """The times at which episodes succeed, and what is unsolved before and after each."""
        times = sorted(set(self.solved))
        unsolved = [1.0]
        for time in times:
            running = sum(each >= time for each in self.solved) + sum(
                each > time for each in self.cut
            )
            unsolved.append(unsolved[-1] * (1 - self.solved.count(time) / running))
        return times, unsolved


def predicted(objective: Objective, needs: Needs, max_steps: int, toll: float) -> float | None:
    """The measure of `objective` if `toll` of the `max_steps` were taken away.

    A success rate is the mean over the neighbouring tolls, since a small sample is rough.

    Returns:
        The value; `None` for other objectives, and where there is no success to go by.
    """
    if not needs.solved:
        return None
    left = max_steps - toll
    if isinstance(objective, SuccessBand):
        return fmean(needs.within(left + near) for near in (-1, 0, 1))
    if isinstance(objective, StepBand):
        kept = [steps for steps in needs.solved if steps <= left]
        return fmean(kept) + toll if kept else None
    return None


def paid(evidence: Evidence) -> float:
    """The toll that solved episodes paid, by the mean: blocked actions; 0 without a success."""
    solved = [sum(bool(step.blocked) for step in episode.steps) for episode in evidence.solved]
    return fmean(solved) if solved else 0.0


def moves(evidence: Evidence, verb: str) -> int:
    """Moves that a solved episode makes, by the mean; at least 1."""
    counts = [
        sum(step.executed is not None and step.executed.text.startswith(verb) for step in e.steps)
        for e in evidence.solved
    ]
    return max(1, round(fmean(counts))) if counts else 1
