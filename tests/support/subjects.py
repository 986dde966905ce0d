"""A strategy that writes what it is told, and evidence made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from harness_core.component import Component
from harness_core.episode import Episode, Step
from harness_core.values import Action, Observation, Task, Verdict
from harness_rigger.evidence import Evidence
from harness_rigger.strategy import Candidate, Case, Diagnosis


class Listed:
    """Writes the given candidates, one after the other."""

    def __init__(self, candidates: Sequence[tuple[Component, ...]]) -> None:
        self._candidates = candidates

    def diagnose(self, case: Case) -> Diagnosis:
        standing = case.objective.standing(case.baseline)
        direction = None if standing.side == 0 else case.objective.direction(standing)
        return Diagnosis(direction, "as told")

    def write(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        if len(case.trials) == len(self._candidates):
            return None
        return Candidate(self._candidates[len(case.trials)], f"candidate {len(case.trials)}")


def episode(steps: int, success: bool, ending: str = "", blocked: int = 0) -> Episode:
    """An episode of so many steps, the first ones blocked; `ending` by success if not given."""
    shown = Observation("there")
    taken = tuple(
        Step(
            Action("go to x"),
            shown,
            None if number < blocked else Action("go to x"),
            blocked="no" if number < blocked else "",
        )
        for number in range(steps)
    )
    ended = ending or ("terminated" if success else "budget")
    return Episode(Task("t"), 0, shown, taken, ended, Verdict(success))  # type: ignore[arg-type]


def evidence(*episodes: Episode) -> Evidence:
    """A batch."""
    return Evidence(episodes)
