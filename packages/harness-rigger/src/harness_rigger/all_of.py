"""The objective `all-of`: several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve, field, frozen

from harness_core.errors import SpecError
from harness_core.registry import construct
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Direction, Objective, Relative, Standing


def _built(values: Sequence[Any]) -> tuple[Objective, ...]:
    """Objectives as they are, from ids, or from `{"id": ..., <option>: ...}`."""
    if isinstance(values, str | dict) or not isinstance(values, Sequence) or not values:
        raise SpecError(
            'all-of takes a list of objectives: ["success-band", {"id": "step-band", "low": 20}].'
        )
    built: list[Objective] = []
    for value in values:
        if isinstance(value, str):
            built.append(construct("objective", value, {}))
        elif isinstance(value, dict):
            options = {name: given for name, given in value.items() if name != "id"}
            built.append(construct("objective", str(value.get("id", "")), options))
        else:
            built.append(value)
    return tuple(built)


@frozen
class AllOf:
    """Every objective holds. The first that does not says where to go.

    Args:
        objectives: objects, ids, or `{"id": ..., <option>: ...}`; those that decide first.
    """

    objectives: tuple[Objective, ...] = field(converter=_built)

    @property
    def least(self) -> int:
        """The most that any of them wants."""
        return max(each.least for each in self.objectives)

    @property
    def most(self) -> int:
        """The most that any of them wants."""
        return max(each.most for each in self.objectives)

    @property
    def middle(self) -> float:
        """That of the first."""
        return self.objectives[0].middle

    def against(self, baseline: Evidence) -> AllOf:
        """The same, with those measured against `baseline` that are relative."""
        return evolve(
            self,
            objectives=[
                each.against(baseline) if isinstance(each, Relative) else each
                for each in self.objectives
            ],
        )

    def standing(self, evidence: Evidence) -> Standing:
        """That of the first objective that does not hold, or of the first; clear if all are."""
        parts = tuple(each.standing(evidence) for each in self.objectives)
        outside = [part for part in parts if part.side]
        leading = outside[0] if outside else parts[0]
        if any(part.clear for part in outside):
            clear = True
        else:
            clear = not outside and all(part.clear for part in parts)
        return Standing(leading.value, leading.side, clear, parts)

    def direction(self, standing: Standing) -> Direction:
        return self._leading(standing).direction(self._part(standing))

    def distance(self, standing: Standing) -> float:
        return self._leading(standing).distance(self._part(standing))

    def describe(self) -> str:
        return " and ".join(each.describe() for each in self.objectives)

    def _part(self, standing: Standing) -> Standing:
        outside = [part for part in standing.parts if part.side]
        return outside[0] if outside else standing.parts[0]

    def _leading(self, standing: Standing) -> Objective:
        return self.objectives[standing.parts.index(self._part(standing))]
