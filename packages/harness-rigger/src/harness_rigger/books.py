"""Keeps what a rigging says and decides, in the run store."""

from __future__ import annotations

from typing import Any

from harness_core.serial import digest_of
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from harness_core.values import JsonDict
from harness_rigger.rigged import Lineage, Outcome, Rigged, diagnosis_dict, trial_dict
from harness_rigger.strategy import Case, Diagnosis, Trial


class Books:
    """The records of one task: `"diagnosis"`, `"trial"` one for each candidate, and `"rigged"`.

    Args:
        store: where they are kept; `None` keeps none.
        case: the task.
        lineage: of what comes out.
    """

    def __init__(self, store: RunStore | None, case: Case, lineage: Lineage) -> None:
        self._store, self._stack, self._lineage = store, case.stack, lineage
        about = [case.stack.to_dict(), lineage.to_dict(), case.objective.describe()]
        self.key = digest_of(about)[:16]
        self._about: JsonDict = {
            "rigging": self.key,
            "task": case.stack.task or case.stack.env,
            "round": lineage.round,
        }

    def keep_diagnosis(self, diagnosis: Diagnosis) -> None:
        """Keeps it."""
        self._put("diagnosis", self.key, diagnosis_dict(diagnosis))

    def keep_trial(self, number: int, trial: Trial) -> None:
        """Keeps a candidate with its decision."""
        kept = {"number": number, **trial_dict(self._stack, trial)}
        self._put("trial", f"{self.key}/{number:03d}", kept)

    def accept(self, case: Case, trial: Trial, diagnosis: Diagnosis) -> Rigged:
        """The result where `trial` is accepted; kept."""
        stack = case.stack.wrapped(*trial.candidate.components)
        return self.close("accepted", stack, case, diagnosis, trial.decision.reason, trial)

    def close(
        self,
        outcome: Outcome,
        stack: StackSpec | None,
        case: Case,
        diagnosis: Diagnosis,
        reason: Any,
        trial: Trial | None = None,
    ) -> Rigged:
        """The result; kept."""
        rigged = Rigged(outcome, stack, case, diagnosis, trial, self._lineage, reason)
        self._put("rigged", self.key, rigged.to_dict())
        return rigged

    def _put(self, kind: str, key: str, data: JsonDict) -> None:
        if self._store is not None:
            self._store.put_record(kind, key, {**self._about, **data})
