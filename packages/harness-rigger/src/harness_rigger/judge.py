"""Decides about a candidate, from its rollouts."""

from __future__ import annotations

from typing import Literal

from harness_rigger.evidence import Evidence
from harness_rigger.strategy import Broken, Candidate, Case, Decision, Reason, Trial

REFINED = ("borderline", "too-easy", "too-hard")


def judged(case: Case, evidence: Evidence, changed: bool) -> tuple[Reason, str]:
    """The typed reason, and the figures in words.

    Args:
        case: what the candidate is for.
        evidence: its rollouts.
        changed: whether the policy met anything of it.
    """
    standing = case.objective.standing(evidence)
    figures = str(evidence.rate)
    if evidence.solved:
        figures += f", {evidence.mean_steps:.1f} steps when solved"
    if not evidence.rate.n:
        return "no-evidence", "no episode counts: infrastructure failed"
    if not changed:
        return "unchanged", f"the policy met nothing of it; {figures}"
    if standing.side == 0:
        return "in-band" if standing.clear else "borderline", figures
    stuck = evidence.timeouts == len(evidence.counted) or evidence.blocked_share > 0.5
    if not evidence.solved and stuck and evidence.reachable is not True:
        dominated = f"{evidence.blocked_share:.0%} of the actions were blocked"
        return "unsolvable", f"never solved, {evidence.timeouts} timeouts, {dominated}"
    if case.objective.direction(standing) == "harder":
        return "too-easy", figures
    return "too-hard", figures


def trial_of(
    case: Case,
    candidate: Candidate,
    evidence: Evidence,
    reason: Reason,
    message: str,
    distance: float | None = None,
) -> Trial:
    """The trial of a candidate, with the decision that follows from the reason."""
    outcome: Literal["accept", "refine", "reject"] = "reject"
    if reason == "in-band":
        outcome = "accept"
    elif reason in REFINED:
        outcome = "refine"
    standing = case.objective.standing(evidence)
    return Trial(candidate, evidence, standing, Decision(outcome, reason, message), distance)


def trial_of_broken(case: Case, broken: Broken) -> Trial:
    """The trial of what is no candidate."""
    nothing = Candidate((), broken.rationale, broken.parameters)
    return trial_of(case, nothing, Evidence(()), "broken", broken.message)
