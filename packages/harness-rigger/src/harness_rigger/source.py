"""The source of reshaped envs: what the loop accepts for a policy, task by task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from harness_core.policies import PolicySpec
from harness_core.registry import construct
from harness_core.sources import Sourced, Wanted
from harness_core.values import JsonDict
from harness_rigger.loop import Budget, Rigger
from harness_rigger.rigged import Lineage

if TYPE_CHECKING:
    from harness_core.models.session import ModelSession


@frozen
class ReshapedSource:
    """Rigs the tasks in order until enough stacks were accepted.

    Args:
        strategy: id of the strategy that writes.
        strategy_options: of it.
        objective: id of the target.
        objective_options: of it.
        baseline: rollouts of each task as it is.
        revisions: candidates after the first, for each task.
        teacher: id of a stronger policy that shows a way where the subject finds none.
    """

    strategy: str = "llm"
    strategy_options: JsonDict = field(factory=dict)
    objective: str = "success-band"
    objective_options: JsonDict = field(factory=dict)
    baseline: int = 5
    revisions: int = 5
    teacher: str = ""

    def envs(self, wanted: Wanted) -> Iterator[Sourced]:
        writer = _built("strategy", self.strategy, self.strategy_options, wanted.models)
        aim = _built("objective", self.objective, self.objective_options, wanted.models)
        rigger = Rigger(
            wanted.pool,
            wanted.policy,
            aim,
            writer,
            budget=Budget(self.baseline, self.revisions, wanted.max_steps),
            teacher=PolicySpec(self.teacher) if self.teacher else None,
            tell=wanted.tell,
            lineage=Lineage(wanted.policy, self.strategy, wanted.round),
        )
        found = 0
        for stack in wanted.tasks:
            if found == wanted.count:
                return
            rigged = rigger.rig(stack)
            if rigged.outcome == "accepted" and rigged.stack and rigged.trial:
                found += 1
                change = rigged.trial.candidate.rationale
                yield Sourced(rigged.stack, rigged.diagnosis.weakness, change, rigged.to_dict())


def _built(kind: str, id: str, options: JsonDict, models: ModelSession | None) -> Any:
    return models.build(kind, id, options) if models else construct(kind, id, options)
