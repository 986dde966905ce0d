"""The search itself: coarse shapes, and a fine toll on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import ceil, inf

from attrs import field, frozen

from harness_core.component import Component
from harness_core.stage import Stage
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import StepBand, SuccessBand
from harness_rigger.search.contracts import EarlyEnd, FirstSentences, LongWay, WithholdAdmissible
from harness_rigger.search.dial import Needs, moves, paid, predicted
from harness_rigger.search.household import household_shapes
from harness_rigger.strategy import Candidate, Case, Diagnosis, Trial

PER_MOVE = 2
"""The most that one move costs besides: a policy that tries thrice must get through."""

CARRIED = 3
"""The toll that one move of an earlier episode can carry: under a toll, policies move more."""

AS_IT_IS = "as it is"
LONG_WAY, EARLY_END = "long way", "early end"


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
class Option:
    """A shape with a toll, and what the rollouts in that shape say of it.

    Args:
        shape: the coarse change.
        dial: how the toll is taken: `LONG_WAY` or `EARLY_END`; empty without toll.
        toll: steps that are taken from the budget.
        off: how far the predicted measure is from the middle of the band.
    """

    shape: Shape
    dial: str = ""
    toll: int = 0
    off: float = 0.0


@frozen
class SearchStrategy:
    """Reshapes without a model.

    Every shape is rolled as it is; its rollouts predict what any toll on it would do: a toll on
    moves, or an early end. The toll whose prediction is nearest to the middle of the band is
    tried, over all shapes seen so far, and its rollouts sharpen the next prediction. Where none
    is in the band, the next shape is rolled: other places for the target objects and less to
    read where a task is too easy, a start further down a known path where it is too hard.

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
            return Diagnosis(direction, f"solves every baseline rollout{_detour(case)}")
        ending, count = Counter(e.ending for e in failed).most_common(1)[0]
        return Diagnosis(direction, f"{count} of {len(failed)} failures end with {ending!r}")

    def write(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        """The next shape and toll; `None` when every idea is used up."""
        untried = [option for option in self._options(case) if not _tried(case, option)]
        best = min(untried, key=lambda option: option.off, default=None)
        if best is not None and best.off <= _half_width(case):
            return self._candidate(case, best)
        shape = _next_head(case) if diagnosis.direction == "easier" else _next_shape(case)
        if shape is not None:
            return self._candidate(case, Option(shape))
        if best is None or best.off > 2 * _half_width(case):
            return None
        return self._candidate(case, best)

    def _options(self, case: Case) -> Iterator[Option]:
        """All tolls on all shapes that were rolled; of equals the first is to be preferred."""
        for shape in _rolled_shapes(case):
            for dial in (LONG_WAY, EARLY_END):
                needs, most = Needs.of(_seen(case, shape, dial)), _carried(case, shape, dial)
                for toll in range(1, self._capacity(case, shape, dial) + 1):
                    value = predicted(case.objective, needs, case.max_steps, min(toll, most))
                    if value is not None:
                        off = abs(value - case.objective.middle)
                        yield Option(shape, dial, toll, round(off, 6))

    def _capacity(self, case: Case, shape: Shape, dial: str) -> int:
        """The largest toll of that kind: what the moves of a shape's episodes can carry."""
        if dial == EARLY_END:
            return case.max_steps - 1 if isinstance(case.objective, SuccessBand) else 0
        carried = CARRIED * moves(_seen(case, shape, dial), self._verb(case))
        return min(carried, case.max_steps - 1)

    def _candidate(self, case: Case, option: Option) -> Candidate:
        toll, components, rationale = option.toll, option.shape.components, option.shape.name
        if option.dial == EARLY_END:
            components = (*components, EarlyEnd(case.max_steps - toll))
            rationale += f", early end after {case.max_steps - toll}"
        elif option.dial == LONG_WAY:
            verb = self._verb(case)
            per_move = ceil(toll / moves(_seen(case, option.shape, LONG_WAY), verb))
            components = (*components, LongWay(verb, toll, min(PER_MOVE, per_move)))
            rationale += f", ways longer by {toll}"
        parameters = {"shape": option.shape.name, "dial": option.dial, "toll": toll}
        return Candidate(components, rationale, parameters)

    def _verb(self, case: Case) -> str:
        if self.verb:
            return self.verb
        actions = [step.action.text for e in case.baseline.episodes for step in e.steps]
        actions += [action.text for action in case.path]
        if any(text.startswith("go to ") for text in actions):
            return "go to"
        first_words = Counter(text.split(" ")[0] for text in actions if text)
        return first_words.most_common(1)[0][0] if first_words else ""


def _detour(case: Case) -> str:
    """How much longer the policy takes than it must, where the env knows."""
    if case.distance is None:
        return ""
    return f", in {case.baseline.mean_steps:.1f} steps where {case.distance:g} would do"


def _half_width(case: Case) -> float:
    band = case.objective
    return (band.high - band.low) / 2 if isinstance(band, SuccessBand | StepBand) else 0.0


def _rolled_shapes(case: Case) -> list[Shape]:
    """The env as it is, then every shape whose rollouts differ from it."""
    rolled = [
        Shape(str(trial.candidate.parameters["shape"]), trial.candidate.components)
        for trial in case.trials
        if not _toll(trial) and trial.evidence.episodes and trial.decision.reason != "unchanged"
    ]
    return [Shape(), *rolled]


def _seen(case: Case, shape: Shape, dial: str) -> Evidence:
    """The rollouts of a shape without toll, and with tolls of that kind."""
    episodes = case.baseline.episodes if shape.name == AS_IT_IS else ()
    for trial in (*_trials(case, shape, ""), *_trials(case, shape, dial)):
        episodes += trial.evidence.episodes
    return Evidence(episodes)


def _carried(case: Case, shape: Shape, dial: str) -> float:
    """The toll that was really paid where a larger one was asked; infinite where none was."""
    trials = [t for t in _trials(case, shape, dial) if dial == LONG_WAY and t.evidence.solved]
    short = [paid(trial.evidence) for trial in trials if paid(trial.evidence) < _toll(trial)]
    return min(short, default=inf)


def _trials(case: Case, shape: Shape, dial: str) -> list[Trial]:
    wanted = {"shape": shape.name, "dial": dial}
    return [t for t in case.trials if wanted.items() <= t.candidate.parameters.items()]


def _toll(trial: Trial) -> int:
    return int(trial.candidate.parameters["toll"])


def _tried(case: Case, option: Option) -> bool:
    return any(_toll(trial) == option.toll for trial in _trials(case, option.shape, option.dial))


def _next_shape(case: Case) -> Shape | None:
    """The next coarse change of a task that is too easy."""
    shapes = [Shape(name, components) for name, components in household_shapes(case)]
    shapes.append(Shape("first two sentences", (FirstSentences(2),)))
    if "admissible" in case.start.data:
        shapes.append(Shape("no admissible list", (WithholdAdmissible(1),)))
    used = {trial.candidate.parameters["shape"] for trial in case.trials}
    return next((shape for shape in shapes if shape.name not in used), None)


def _next_head(case: Case) -> Shape | None:
    """Bisects the known path for a start that is neither too hard nor too easy."""
    names = {f"head start of {head}": head for head in range(1, len(case.path))}
    low, high = 0, len(case.path)
    for trial in case.trials:
        head = names.get(trial.candidate.parameters["shape"], 0)
        if not head or _toll(trial):
            continue
        if case.objective.direction(trial.standing) == "easier":
            low = max(low, head)
        else:
            high = min(high, head)
    middle = (low + high + 1) // 2
    if not low < middle < high:
        return None
    return Shape(f"head start of {middle}", (Stage(case.path[:middle]),))
