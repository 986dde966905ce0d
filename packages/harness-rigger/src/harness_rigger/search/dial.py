"""Predicts the toll that moves an outcome into its band, from the steps that episodes needed."""

from __future__ import annotations

from math import inf, isinf
from statistics import fmean

from harness_core.episode import Episode
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Objective, StepBand, SuccessBand


def need(episode: Episode, max_steps: int) -> float:
    """Steps that the episode needed for success, tolls not counted.

    Where the budget ran out first, the least that it can have been; infinite where the policy
    failed with steps to spare.
    """
    paid = sum(bool(step.blocked) for step in episode.steps)
    if episode.success:
        return len(episode.steps) - paid
    return max_steps - paid + 1 if episode.ending == "budget" else inf


def predicted_toll(objective: Objective, evidence: Evidence, max_steps: int) -> int | None:
    """The toll under which `evidence` would have met the middle of the band.

    A toll of m turns exactly those successes into failures that need more than
    `max_steps - m` steps, and makes the others m steps longer.

    Returns:
        The toll, at least 0; `None` if no toll can do it.
    """
    needs = sorted(need(episode, max_steps) for episode in evidence.counted)
    if isinstance(objective, StepBand):
        solved = [steps for steps in needs if steps <= max_steps]
        return max(0, round(objective.middle - fmean(solved))) if solved else None
    if not isinstance(objective, SuccessBand) or not needs:
        return None
    kept = round(objective.middle * len(needs))
    last_kept, first_lost = needs[kept - 1] if kept else 0.0, (*needs, inf)[kept]
    if isinf(last_kept):
        return None
    limit = last_kept if isinf(first_lost) else max(last_kept, (last_kept + first_lost - 1) // 2)
    return max(0, int(max_steps - limit))


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
