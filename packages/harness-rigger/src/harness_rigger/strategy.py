"""The values that the loop and its strategies exchange."""

from __future__ import annotations

from typing import Literal, Protocol

from attrs import evolve, field, frozen

from harness_core.component import Component, flatten
from harness_core.spec import StackSpec
from harness_core.values import Action, EnvState, JsonDict, Observation, Tool
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Direction, Objective, Standing

Skip = Literal["no-evidence", "hopeless", "no-weakness", "no-lever", "unanswered"]
"""Why a task is left alone: no rollout counts; the policy never solves it and nothing would help;
there is nothing to aim at; no component reaches the weakness; no usable answer was given."""

Reason = Literal[
    "in-band",
    "borderline",
    "too-easy",
    "too-hard",
    "unsolvable",
    "unchanged",
    "broken",
    "component-error",
    "no-evidence",
]


@frozen
class Diagnosis:
    """What the baseline says about the policy.

    Args:
        direction: where the env should go; `None` if it is right as it is, or to be skipped.
        weakness: the observed weakness in words.
        evidence: the steps that show it, in words.
        skip: why the task is left alone, where it is not right as it is.
        parameters: what the strategy wants to keep about it, JSON data.
    """

    direction: Direction | None
    weakness: str
    evidence: tuple[str, ...] = ()
    skip: Skip | None = None
    parameters: JsonDict = field(factory=dict)


@frozen
class Candidate:
    """Components to try, as a whole.

    Args:
        components: innermost first.
        rationale: why these.
        parameters: what the strategy wants to remember about them, JSON data.
        probe: whether they must first survive the baseline's own actions, before any rollout;
            for what a model wrote.
    """

    components: tuple[Component, ...] = field(converter=flatten)
    rationale: str = ""
    parameters: JsonDict = field(factory=dict)
    probe: bool = False


@frozen
class Broken:
    """What was to be a candidate, but cannot be read or built. Costs no rollout.

    Args:
        message: the exact error.
        rationale: why the candidate was written.
        parameters: what the strategy wants to remember about it, JSON data.
    """

    message: str
    rationale: str = ""
    parameters: JsonDict = field(factory=dict)


@frozen
class Decision:
    """What became of a candidate.

    Args:
        outcome: accept it, refine it, or reject its kind.
        reason: the typed why.
        message: the why in words, with the figures.
    """

    outcome: Literal["accept", "refine", "reject"]
    reason: Reason
    message: str


@frozen
class Trial:
    """One candidate with its fresh rollouts and the decision.

    Args:
        candidate: what was tried.
        evidence: its rollouts.
        standing: where they put the measured value.
        decision: what became of it.
        distance: fewest actions to a success from its start, where the env knows.
    """

    candidate: Candidate
    evidence: Evidence
    standing: Standing
    decision: Decision
    distance: float | None = None


@frozen
class Case:
    """All that is known about one task and one policy.

    Args:
        stack: the env as it is.
        objective: the target.
        max_steps: step budget of an episode.
        start: the first observation of the env as it is.
        state: its state at that point.
        baseline: rollouts in the env as it is.
        path: actions that solve the task from `start`, each with an effect; empty if no
            success is known.
        trials: what was tried, in order.
        distance: fewest actions to a success from `start`, where the env knows.
        goal: what the agent is told to achieve.
        tools: the action space.
        schema: JSON schema of `state.data`.
        private: the names in `state.data` that a designer is not told.
        reversible: whether a contract may take back an ending.
    """

    stack: StackSpec
    objective: Objective
    max_steps: int
    start: Observation
    state: EnvState
    baseline: Evidence
    path: tuple[Action, ...] = ()
    trials: tuple[Trial, ...] = ()
    distance: float | None = None
    goal: str = ""
    tools: tuple[Tool, ...] = ()
    schema: JsonDict = field(factory=dict)
    private: frozenset[str] = frozenset()
    reversible: bool = False

    @property
    def rolled(self) -> int:
        """How many trials came to rollouts."""
        return sum(bool(trial.evidence.episodes) for trial in self.trials)

    def after(self, trial: Trial) -> Case:
        """The case with one more trial."""
        return evolve(self, trials=(*self.trials, trial))


class Strategy(Protocol):
    """Writes candidates. The loop runs them, keeps the budget and the books."""

    def diagnose(self, case: Case) -> Diagnosis:
        """Reads the baseline."""

    def write(self, case: Case, diagnosis: Diagnosis) -> Candidate | Broken | None:
        """The next candidate, in the light of all trials; `None` when out of ideas."""
