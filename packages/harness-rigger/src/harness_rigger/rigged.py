"""What a rigging leaves: the result for one task, and its lines in the store and in a corpus."""

from __future__ import annotations

from math import isinf
from typing import Literal

from attrs import frozen

from harness_core.policies import PolicySpec
from harness_core.serial import digest_of, to_data
from harness_core.spec import StackSpec
from harness_core.values import JsonDict
from harness_rigger.strategy import Case, Diagnosis, Reason, Skip, Trial

Outcome = Literal["accepted", "kept", "skipped", "exhausted"]


@frozen
class Lineage:
    """Where a stack comes from.

    Args:
        policy: the subject whose rollouts decided.
        strategy: id of the strategy that wrote it.
        round: number of the round, from 1; in later ones the policy has learned from the earlier.
    """

    policy: PolicySpec
    strategy: str = ""
    round: int = 1

    def to_dict(self) -> JsonDict:
        """The JSON form, with the digest of the policy."""
        policy = to_data(self.policy)
        return {
            "round": self.round,
            "strategy": self.strategy,
            "policy": policy,
            "policy_digest": digest_of(policy),
        }


@frozen
class Rigged:
    """The result for one task.

    Args:
        outcome: `"accepted"`, at the end of the budget also where the evidence only just says
            so; `"kept"`, the env is in the target as it is; `"skipped"`, the strategy says that
            nothing is to be done, and why; `"exhausted"`, the budget or the ideas ran out.
        stack: the accepted stack, the original where it was kept, else `None`.
        case: everything seen on the way.
        diagnosis: of the baseline.
        trial: the accepted one.
        lineage: where it comes from.
        reason: the typed why of the outcome.
    """

    outcome: Outcome
    stack: StackSpec | None
    case: Case
    diagnosis: Diagnosis
    trial: Trial | None = None
    lineage: Lineage | None = None
    reason: Reason | Skip | Literal["revisions", "ideas", "candidates"] = "in-band"

    def to_dict(self) -> JsonDict:
        """A corpus line: the stack with digest, evidence and lineage; no trajectories."""
        original, trial = self.case.stack, self.trial
        model = trial.candidate.parameters.get("model", "") if trial else ""
        lineage = self.lineage.to_dict() if self.lineage else {}
        return {
            "task": original.task,
            "outcome": self.outcome,
            "reason": self.reason,
            "objective": self.case.objective.describe(),
            "digest": self.stack.digest if self.stack else None,
            "stack": self.stack.to_dict() if self.stack else None,
            "evidence": trial.evidence.summary() if trial else None,
            "lineage": {**lineage, "model": model, "original": original.to_dict()},
            **diagnosis_dict(self.diagnosis),
            "baseline": self.case.baseline.summary(),
            "max_steps": self.case.max_steps,
            "distance": finite(self.case.distance),
            "trials": [trial_dict(original, trial) for trial in self.case.trials],
        }


def diagnosis_dict(diagnosis: Diagnosis) -> JsonDict:
    """A diagnosis as JSON data."""
    return {
        "direction": diagnosis.direction,
        "skip": diagnosis.skip,
        "weakness": diagnosis.weakness,
        "shown_by": list(diagnosis.evidence),
        "diagnosed": diagnosis.parameters,
    }


def trial_dict(stack: StackSpec, trial: Trial) -> JsonDict:
    """A candidate around `stack`, its decision and its figures, as JSON data."""
    components = trial.candidate.components
    return {
        "digest": stack.wrapped(*components).digest,
        "components": [to_data(component) for component in components],
        "rationale": trial.candidate.rationale,
        "parameters": trial.candidate.parameters,
        "decision": trial.decision.outcome,
        "reason": trial.decision.reason,
        "message": trial.decision.message,
        "distance": finite(trial.distance),
        "evidence": trial.evidence.summary(),
    }


def finite(distance: float | None) -> float | None:
    """A distance as JSON writes it: `None` also for one that is infinite."""
    return None if distance is None or isinf(distance) else distance
