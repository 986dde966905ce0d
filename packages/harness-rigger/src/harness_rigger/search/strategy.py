"""The search itself: a coarse shape, then a fine toll."""

from __future__ import annotations

from collections import Counter
from math import ceil

from attrs import field, frozen

from harness_core.component import Component
from harness_core.stage import Stage
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import SuccessBand
from harness_rigger.search.contracts import EarlyEnd, FirstSentences, LongWay, WithholdAdmissible
from harness_rigger.search.dial import moves, paid, predicted_toll
from harness_rigger.search.household import household_shapes
from harness_rigger.strategy import Candidate, Case, Diagnosis, Trial

PER_MOVE = 2
"""The most that one move costs besides: a policy that tries thrice must get through."""

CARRIED = 3
"""The toll that one move of an earlier episode can carry: under a toll, policies move more."""

AS_IT_IS = "as it is"
EARLY_END = "early end"


@frozen
class Shape:
    """A coarse change: which components, before any toll.

    Args:
        name: in words; names the shape in a candidate's parameters.
        components: innermost first.
    """

    name: str = AS_IT_IS
    components: tuple[Component, ...] = ()


@frozen
class SearchStrategy:
    """Reshapes without a model.

    A task that is too easy gets a toll on moves, as large as the steps that earlier episodes
    left over say; where the moves cannot carry the toll, a coarse change comes first. A task
    that is too hard starts further down a known path, by bisection, and then gets its toll.
    Where no toll can be carried, a success band is met by an early end, which takes the same
    steps away.

    Args:
        verb: how moves begin; empty: `"go to"` where it occurs, else the most frequent first
            word of the baseline's actions.
    """

    verb: str = field(default="")

    def diagnose(self, case: Case) -> Diagnosis:
        """Direction by the objective; weakness by how the failures end."""
        standing = case.objective.standing(case.baseline)
        direction = None if standing.side == 0 else case.objective.direction(standing)
        failed = [e for e in case.baseline.counted if not e.success]
        if not failed:
            return Diagnosis(direction, "solves every baseline rollout")
        ending, count = Counter(e.ending for e in failed).most_common(1)[0]
        return Diagnosis(direction, f"{count} of {len(failed)} failures end with {ending!r}")

    def write(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        """The next shape and toll; `None` when every shape is used up."""
        if not case.trials:
            return self._first(case, diagnosis)
        last = case.trials[-1]
        shape, toll = _shape_of(last), _toll_of(last)
        direction = case.objective.direction(last.standing)
        if last.decision.reason in ("component-error", "unchanged", "no-evidence"):
            return self._other_shape(case, diagnosis)
        if direction == "easier" and toll == 0:
            return self._other_shape(case, diagnosis)
        adjusted = self._adjusted(case, shape, toll, direction == "harder")
        if (
            direction == "harder"
            and toll
            and shape.name != EARLY_END
            and paid(last.evidence) < toll
        ):
            return self._other_shape(case, diagnosis)  # the moves cannot carry more
        if adjusted > self._capacity(case, shape) or _was_tried(case, shape, adjusted):
            return self._other_shape(case, diagnosis)
        return self._tolled(case, shape, adjusted)

    def _first(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        toll = predicted_toll(case.objective, case.baseline, case.max_steps)
        if diagnosis.direction == "harder" and toll and toll <= self._capacity(case, Shape()):
            return self._tolled(case, Shape(), toll)
        return self._other_shape(case, diagnosis)

    def _other_shape(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        if diagnosis.direction == "easier":
            head = _next_head(case)
            if head is None:
                return None
            return self._tolled(case, Shape(_head_name(head), (Stage(case.path[:head]),)), 0)
        used = {_shape_of(trial).name for trial in case.trials}
        shape = next((shape for shape in _harder_shapes(case) if shape.name not in used), None)
        if shape is None:
            return None
        toll = 0
        if shape.name == EARLY_END:
            toll = predicted_toll(case.objective, case.baseline, case.max_steps) or 1
        return self._tolled(case, shape, toll)

    def _tolled(self, case: Case, shape: Shape, toll: int) -> Candidate:
        dial: tuple[Component, ...] = ()
        rationale = shape.name
        if shape.name == EARLY_END:
            dial = (EarlyEnd(case.max_steps - toll),)
            rationale += f" after {case.max_steps - toll}"
        elif toll:
            verb = self._verb(case)
            per_move = ceil(toll / moves(self._seen(case, shape), verb))
            dial = (LongWay(verb, toll, min(PER_MOVE, per_move)),)
            rationale += f", ways longer by {toll}"
        parameters = {"shape": shape.name, "toll": toll}
        return Candidate((*shape.components, *dial), rationale, parameters)

    def _adjusted(self, case: Case, shape: Shape, toll: int, harder: bool) -> int:
        """A toll on the right side of the last one, as predicted where the prediction is."""
        wanted = predicted_toll(case.objective, self._seen(case, shape), case.max_steps)
        if harder:
            return max(toll + 1, wanted or 0)
        return min(toll - 1, toll if wanted is None else wanted)

    def _capacity(self, case: Case, shape: Shape) -> int:
        """The toll that the moves of a shape's episodes can carry."""
        if shape.name == EARLY_END:
            return case.max_steps - 1
        return CARRIED * moves(self._seen(case, shape), self._verb(case))

    def _seen(self, case: Case, shape: Shape) -> Evidence:
        """All rollouts in a shape, at any toll; the baseline where there is none."""
        same = [trial.evidence for trial in case.trials if _shape_of(trial).name == shape.name]
        if not same or shape.name == EARLY_END:
            return case.baseline
        return Evidence(tuple(episode for evidence in same for episode in evidence.episodes))

    def _verb(self, case: Case) -> str:
        if self.verb:
            return self.verb
        actions = [step.action.text for e in case.baseline.episodes for step in e.steps]
        actions += [action.text for action in case.path]
        if any(text.startswith("go to ") for text in actions):
            return "go to"
        first_words = Counter(text.split(" ")[0] for text in actions if text)
        return first_words.most_common(1)[0][0] if first_words else ""


def _harder_shapes(case: Case) -> list[Shape]:
    shapes = [Shape(name, components) for name, components in household_shapes(case)]
    if isinstance(case.objective, SuccessBand):
        shapes.append(Shape(EARLY_END))
    shapes.append(Shape("first two sentences", (FirstSentences(2),)))
    if "admissible" in case.start.data:
        shapes.append(Shape("no admissible list", (WithholdAdmissible(1),)))
    return shapes


def _shape_of(trial: Trial) -> Shape:
    dials = (LongWay, EarlyEnd)
    coarse = tuple(c for c in trial.candidate.components if not isinstance(c, dials))
    return Shape(str(trial.candidate.parameters["shape"]), coarse)


def _was_tried(case: Case, shape: Shape, toll: int) -> bool:
    return any(_shape_of(t).name == shape.name and _toll_of(t) == toll for t in case.trials)


def _toll_of(trial: Trial) -> int:
    return int(trial.candidate.parameters["toll"])


def _head_name(head: int) -> str:
    return f"head start of {head}"


def _next_head(case: Case) -> int | None:
    """Bisects the known path for a start that is neither too hard nor too easy."""
    heads = {_head_name(head): head for head in range(1, len(case.path))}
    low, high = 0, len(case.path)
    for trial in case.trials:
        head = heads.get(_shape_of(trial).name, 0)
        if not head or _toll_of(trial):
            continue
        if case.objective.direction(trial.standing) == "easier":
            low = max(low, head)
        else:
            high = min(high, head)
    middle = (low + high + 1) // 2
    return middle if low < middle < high else None
