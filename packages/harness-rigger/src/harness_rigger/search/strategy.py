"""The search itself: a coarse shape, then a fine toll."""

from __future__ import annotations

from collections import Counter
from math import ceil

from attrs import field, frozen

from harness_core.component import Component
from harness_core.stage import Stage
from harness_rigger.evidence import Evidence
from harness_rigger.search.contracts import FirstSentences, LongWay, WithholdAdmissible
from harness_rigger.search.dial import moves, predicted_toll
from harness_rigger.search.household import household_shapes
from harness_rigger.strategy import Candidate, Case, Diagnosis, Trial

PER_MOVE = 4
"""A toll of more actions a move than this is no longer a longer way but a wall."""


@frozen
class Shape:
    """A coarse change: which components, before any toll.

    Args:
        name: in words; names the shape in a candidate's parameters.
        components: innermost first.
        head: replayed actions of the known path; 0 where the shape is no head start.
    """

    name: str
    components: tuple[Component, ...] = ()
    head: int = 0


@frozen
class SearchStrategy:
    """Reshapes without a model.

    A task that is too easy gets a toll on moves, as large as the steps that earlier episodes
    left over say; where the moves cannot carry the toll, a coarse change comes first. A task
    that is too hard starts further down a known path, by bisection, and then gets its toll.

    Args:
        verb: how moves begin; empty: the most frequent first word of the baseline's actions.
    """

    verb: str = field(default="")

    def diagnose(self, case: Case) -> Diagnosis:
        """Direction by the objective; weakness by how the failures end."""
        standing = case.objective.standing(case.baseline)
        direction = case.objective.direction(standing)
        failed = [e for e in case.baseline.counted if not e.success]
        endings = Counter(episode.ending for episode in failed)
        if not failed:
            weakness = "solves every baseline rollout: the env hides nothing from it"
        else:
            common, count = endings.most_common(1)[0]
            weakness = f"{count} of {len(failed)} failures end with {common!r}"
        return Diagnosis(direction, weakness)

    def write(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        """The next shape and toll; `None` when every shape is used up."""
        if not case.trials:
            return self._first(case, diagnosis)
        last = case.trials[-1]
        shape = _shape_of(case, last)
        if last.decision.reason in ("component-error", "unchanged", "no-evidence"):
            return self._other_shape(case, diagnosis, shape)
        direction = case.objective.direction(last.standing)
        toll = int(last.candidate.parameters["toll"])
        if direction == "easier" and toll == 0:
            return self._other_shape(case, diagnosis, shape)
        return self._tolled(case, shape, self._adjusted(case, shape, toll, direction == "harder"))

    def _first(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        if diagnosis.direction == "easier":
            return self._other_shape(case, diagnosis, Shape("as it is"))
        toll = predicted_toll(case.objective, case.baseline, case.max_steps)
        capacity = PER_MOVE * moves(case.baseline, self._verb(case))
        if toll is not None and 0 < toll <= capacity:
            return self._tolled(case, Shape("as it is"), toll)
        return self._other_shape(case, diagnosis, Shape("as it is"))

    def _adjusted(self, case: Case, shape: Shape, toll: int, harder: bool) -> int:
        """A toll on the right side of the last one, as predicted where the prediction is."""
        seen = Evidence(
            tuple(
                e for t in case.trials if _shape_of(case, t) == shape for e in t.evidence.episodes
            )
        )
        wanted = predicted_toll(case.objective, seen, case.max_steps)
        step = max(1, toll // 3)
        if harder:
            return max(toll + 1, wanted if wanted is not None else toll + step)
        return max(0, min(toll - 1, wanted if wanted is not None else toll - step))

    def _tolled(self, case: Case, shape: Shape, toll: int) -> Candidate:
        verb = self._verb(case)
        components = shape.components
        rationale = shape.name
        if toll > 0:
            solved = [t.evidence for t in case.trials if _shape_of(case, t) == shape]
            fewest = min((moves(e, verb) for e in (*solved, case.baseline) if e.solved), default=1)
            per_move = ceil(toll / max(1, fewest))
            components = (*components, LongWay(verb, toll, per_move))
            rationale += f", ways longer by {toll}"
        return Candidate(components, rationale, {"shape": shape.name, "toll": toll})

    def _other_shape(self, case: Case, diagnosis: Diagnosis, tried: Shape) -> Candidate | None:
        if diagnosis.direction == "easier":
            head = _next_head(case)
            return None if head is None else self._tolled(case, _head_start(case, head), 0)
        used = {str(trial.candidate.parameters["shape"]) for trial in case.trials} | {tried.name}
        for shape in _harder_shapes(case):
            if shape.name not in used:
                return self._tolled(case, shape, 0)
        return None

    def _verb(self, case: Case) -> str:
        if self.verb:
            return self.verb
        actions = [step.action.text for e in case.baseline.episodes for step in e.steps]
        actions += [action.text for action in case.path]
        if any(text.startswith("go to ") for text in actions):
            return "go to"
        first_words = Counter(text.split(" ")[0] for text in actions if text)
        return first_words.most_common(1)[0][0] if first_words else ""


def _head_start(case: Case, head: int) -> Shape:
    return Shape(f"head start of {head}", (Stage(case.path[:head]),), head)


def _harder_shapes(case: Case) -> list[Shape]:
    shapes = [Shape(name, components) for name, components in household_shapes(case)]
    shapes.append(Shape("first two sentences", (FirstSentences(2),)))
    if "admissible" in case.start.data:
        shapes.append(Shape("no admissible list", (WithholdAdmissible(1),)))
        shapes.append(Shape("every second admissible list", (WithholdAdmissible(2),)))
    return shapes


def _shape_of(case: Case, trial: Trial) -> Shape:
    name = str(trial.candidate.parameters["shape"])
    components = tuple(c for c in trial.candidate.components if not isinstance(c, LongWay))
    head = int(name.rsplit(" ", 1)[1]) if name.startswith("head start of ") else 0
    return Shape(name, components, head)


def _next_head(case: Case) -> int | None:
    """Bisects the known path for a start that is neither too hard nor too easy."""
    low, high = 0, len(case.path)
    for trial in case.trials:
        head = _shape_of(case, trial).head
        if not head or trial.candidate.parameters["toll"]:
            continue
        if case.objective.direction(trial.standing) == "easier":
            low = max(low, head)
        else:
            high = min(high, head)
    middle = (low + high + 1) // 2
    return middle if low < middle < high else None
