"""The EnvRigger loop: observe, diagnose, write, validate, decide.

E' = H(E, t; pi)
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import Any, Literal, TypeVar

from attrs import frozen

from harness_core.env import ActionableEnv
from harness_core.episode import Episode
from harness_core.errors import HarnessError, SpecError, StrategyError
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool, Unit
from harness_core.serial import digest_of
from harness_core.spec import StackSpec
from harness_core.values import Action, JsonDict
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Objective
from harness_rigger.strategy import Candidate, Case, Decision, Diagnosis, Reason, Strategy, Trial

T = TypeVar("T")

TEACHER_SEED = 10_000
TRIAL_SEED = 100_000
"""Seeds of baseline rollouts start at 0; those of the teacher and of each trial elsewhere, so
that every trial is judged on rollouts that nothing was fitted to."""

MOST_TRIALS = 30
"""Candidates for one task, those that could not even be reset included."""


@frozen
class Budget:
    """What one task may cost.

    Args:
        baseline: rollouts in the env as it is.
        revisions: candidates after the first; one that cannot be reset costs no rollout and is
            not counted.
        max_steps: step budget of an episode.
        batch: rollouts between two looks at the evidence.
    """

    baseline: int = 5
    revisions: int = 5
    max_steps: int = 50
    batch: int = 5

    def __attrs_post_init__(self) -> None:
        if min(self.baseline, self.max_steps, self.batch) < 1 or self.revisions < 0:
            raise SpecError(
                f"A budget has at least 1 baseline rollout, step and rollout a batch; got {self}."
            )


@frozen
class Rigged:
    """The result for one task.

    Args:
        outcome: `"accepted"`, at the end of the budget also where the evidence only just says
            so; `"kept"`, the env is in the band as it is; `"exhausted"`, the revision budget or
            the strategy's ideas ran out.
        stack: the accepted stack, the original where it was kept, else `None`.
        case: everything seen on the way.
        diagnosis: of the baseline.
        trial: the accepted one.
    """

    outcome: Literal["accepted", "kept", "exhausted"]
    stack: StackSpec | None
    case: Case
    diagnosis: Diagnosis
    trial: Trial | None = None

    def to_dict(self) -> JsonDict:
        """A corpus line: the stack with its digest and evidence; figures, not trajectories."""
        return {
            "task": self.case.stack.task,
            "outcome": self.outcome,
            "objective": self.case.objective.describe(),
            "digest": self.stack.digest if self.stack else None,
            "stack": self.stack.to_dict() if self.stack else None,
            "weakness": self.diagnosis.weakness,
            "baseline": self.case.baseline.summary(),
            "distance": finite(self.case.distance),
            "trials": [trial_dict(self.case.stack, trial) for trial in self.case.trials],
        }


def trial_dict(stack: StackSpec, trial: Trial) -> JsonDict:
    """A candidate around `stack`, its decision and its figures, as JSON data."""
    return {
        "digest": stack.wrapped(*trial.candidate.components).digest,
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


class Rigger:
    """Runs the loop for one policy.

    Args:
        pool: runs the rollouts; with a store, an interrupted loop resumes from them.
        policy: the subject.
        objective: the target.
        strategy: writes the candidates.
        budget: per task.
        teacher: a stronger policy that shows a way where the subject finds none.
        tell: called with a line of text at every stage.
    """

    def __init__(
        self,
        pool: RolloutPool,
        policy: PolicySpec,
        objective: Objective,
        strategy: Strategy,
        *,
        budget: Budget | None = None,
        teacher: PolicySpec | None = None,
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._pool, self._policy, self._objective = pool, policy, objective
        self._strategy, self._teacher, self._tell = strategy, teacher, tell
        self._budget = budget or Budget()

    def rig(self, stack: StackSpec) -> Rigged:
        """Reshapes one task.

        Raises:
            HarnessError: the env as it is cannot be run.
        """
        case = self._observe(stack)
        diagnosis = self._asked(Diagnosis, lambda: self._strategy.diagnose(case))
        self._tell(f"{stack.task or stack.env}: {case.baseline.rate}; {diagnosis.weakness}")
        if diagnosis.direction is None:
            return Rigged("kept", stack, case, diagnosis)
        while case.rolled <= self._budget.revisions and len(case.trials) < MOST_TRIALS:
            candidate = self._written(case, diagnosis)
            if candidate is None:
                break
            trial = self._validate(case, candidate)
            if self._pool.store:
                kept = trial_dict(stack, trial)
                self._pool.store.put_record("trial", kept["digest"], kept)
            self._tell(f"  {candidate.rationale}: {trial.decision.message}")
            case = case.after(trial)
            if trial.decision.outcome == "accept":
                return _accepted(case, trial, diagnosis)
        borderline = [t for t in case.trials if t.decision.reason == "borderline"]
        if not borderline:
            return Rigged("exhausted", None, case, diagnosis)
        best = min(borderline, key=lambda trial: case.objective.distance(trial.standing))
        return _accepted(case, best, diagnosis)

    def _written(self, case: Case, diagnosis: Diagnosis) -> Candidate | None:
        write = self._strategy.write
        return self._asked((Candidate, type(None)), lambda: write(case, diagnosis))

    def _asked(self, kind: Any, ask: Callable[[], T]) -> T:
        """What the strategy answers.

        Raises:
            StrategyError: it raised, or answered with something else than `kind`.
        """
        name = type(self._strategy).__name__
        try:
            answer = ask()
        except HarnessError:
            raise
        except Exception as error:
            told = f"Strategy {name} raised {type(error).__name__}: {error}"
            raise StrategyError(told) from error
        if not isinstance(answer, kind):
            raise StrategyError(f"Strategy {name} may not answer with {answer!r:.80}.")
        return answer

    def _observe(self, stack: StackSpec) -> Case:
        baseline = self._baseline(stack)
        solved = baseline.solved
        if not solved and self._teacher is not None:
            seeds = range(TEACHER_SEED, TEACHER_SEED + 2)
            solved = self._roll(stack, self._teacher, seeds).solved
        with self._pool.borrow(stack) as env:
            start = env.reset(seed=0)
            state, distance = env.get_env_state(), env.distance()
            path = effective(env, min(solved, key=lambda e: len(e.steps))) if solved else ()
        return Case(
            stack, self._objective, self._budget.max_steps, start.observation, state,
            baseline, path, distance=distance,
        )  # fmt: skip

    def _baseline(self, stack: StackSpec) -> Evidence:
        """Rollouts of the env as it is; more of them while it only seems to be in the band."""
        evidence = self._roll(stack, self._policy, range(self._budget.baseline))
        while len(evidence.episodes) < self._objective.most:
            standing = self._objective.standing(evidence)
            if standing.clear or standing.side:
                break
            known = len(evidence.episodes)
            more = self._roll(stack, self._policy, range(known, known + self._budget.batch))
            evidence = Evidence(evidence.episodes + more.episodes)
        return evidence

    def _validate(self, case: Case, candidate: Candidate) -> Trial:
        stack = case.stack.wrapped(*candidate.components)
        first = TRIAL_SEED * (len(case.trials) + 1)
        try:
            with self._pool.borrow(stack) as env:
                start, distance = env.reset(seed=0), env.distance()
        except HarnessError as error:
            return _trial(case, candidate, (), "component-error", str(error))
        if distance is not None and distance > case.max_steps:
            told = "no plan leads to success" if isinf(distance) else f"{distance:g} steps at least"
            return _trial(case, candidate, (), "unsolvable", told, distance)
        episodes: tuple[Episode, ...] = ()
        while True:
            seeds = range(first + len(episodes), first + len(episodes) + self._budget.batch)
            episodes += self._roll(stack, self._policy, seeds).episodes
            evidence = Evidence(episodes)
            if evidence.component_errors:
                error_text = evidence.component_errors[0]
                return _trial(case, candidate, episodes, "component-error", error_text, distance)
            standing = self._objective.standing(evidence)
            enough = len(episodes) >= self._objective.least
            if (enough and standing.clear) or len(episodes) >= self._objective.most:
                break
        changed = (
            start.observation != case.start
            or evidence.touched()
            or not evidence.endings <= case.baseline.endings
        )
        reason, message = _judge(case, evidence, changed)
        return _trial(case, candidate, episodes, reason, message, distance)

    def _roll(self, stack: StackSpec, policy: PolicySpec, seeds: range) -> Evidence:
        units = [Unit(stack, policy, seed, self._budget.max_steps) for seed in seeds]
        return Evidence(tuple(self._pool.run(units)))


def _accepted(case: Case, trial: Trial, diagnosis: Diagnosis) -> Rigged:
    stack = case.stack.wrapped(*trial.candidate.components)
    return Rigged("accepted", stack, case, diagnosis, trial)


def effective(env: ActionableEnv, episode: Episode) -> tuple[Action, ...]:
    """The executed actions of `episode` that lead on in `env`, which was just reset.

    What changed nothing is left out, and so is every detour that came back to where it began.
    """
    path: list[Action] = []
    states = [digest_of(env.get_env_state().data)]
    for action in (step.executed for step in episode.steps):
        if action is None:
            continue
        env.step(action)
        after = digest_of(env.get_env_state().data)
        if after in states:
            known = states.index(after)
            del path[known:], states[known + 1 :]
        else:
            path.append(action)
            states.append(after)
    return tuple(path)


def _judge(case: Case, evidence: Evidence, changed: bool) -> tuple[Reason, str]:
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
    if not evidence.solved and (
        evidence.timeouts == len(evidence.counted) or evidence.blocked_share > 0.5
    ):
        dominated = f"{evidence.blocked_share:.0%} of the actions were blocked"
        return "unsolvable", f"never solved, {evidence.timeouts} timeouts, {dominated}"
    if case.objective.direction(standing) == "harder":
        return "too-easy", figures
    return "too-hard", figures


def _trial(
    case: Case,
    candidate: Candidate,
    episodes: tuple[Episode, ...],
    reason: Reason,
    message: str,
    distance: float | None = None,
) -> Trial:
    outcome: Literal["accept", "refine", "reject"] = "reject"
    if reason == "in-band":
        outcome = "accept"
    elif reason in ("borderline", "too-easy", "too-hard"):
        outcome = "refine"
    evidence = Evidence(episodes)
    standing = case.objective.standing(evidence)
    return Trial(candidate, evidence, standing, Decision(outcome, reason, message), distance)
