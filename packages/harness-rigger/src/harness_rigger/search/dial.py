"""Predicts what a toll does to an outcome, from the steps that episodes needed."""

from __future__ import annotations

from math import inf
from statistics import fmean

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


def success_within(evidence: Evidence, steps: float) -> float:
    """The probability of a success within so many steps, by the product-limit estimate.

    An episode that was cut off counts for as long as it ran.

    Source: Kaplan and Meier (1958), Nonparametric estimation from incomplete observations.
    """
    solved = [need(episode) for episode in evidence.solved]
    cut = [need(episode) for episode in evidence.counted if not episode.success]
    unsolved = 1.0
    for time in sorted({each for each in solved if each <= steps}):
        running = sum(each >= time for each in solved) + sum(each > time for each in cut)
        unsolved *= 1 - solved.count(time) / running
    return 1 - unsolved


def predicted(
    objective: Objective, evidence: Evidence, max_steps: int, toll: float
) -> float | None:
    """The measure of `objective` if `toll` of the `max_steps` were taken away.

    A success rate is the mean over the neighbouring tolls, since a small sample is rough.

    Returns:
        The value; `None` for other objectives, and where there is no success to go by.
    """
    if not evidence.solved:
        return None
    left = max_steps - toll
    if isinstance(objective, SuccessBand):
        return fmean(success_within(evidence, left + near) for near in (-1, 0, 1))
    if isinstance(objective, StepBand):
        kept = [steps for episode in evidence.solved if (steps := need(episode)) <= left]
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
