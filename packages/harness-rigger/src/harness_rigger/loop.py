"""The EnvRigger loop: observe, diagnose, write, validate, decide.

E' = H(E, t; pi)
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import Any, Literal, TypeVar

from attrs import evolve, frozen

from harness_core.env import ActionableEnv
from harness_core.episode import Episode
from harness_core.errors import HarnessError, SpecError, StrategyError
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool, Unit
from harness_core.serial import digest_of
from harness_core.spec import StackSpec
from harness_core.stage import Stage
from harness_core.values import Action
from harness_rigger.books import Books
from harness_rigger.evidence import Evidence
from harness_rigger.judge import judged, trial_of, trial_of_broken
from harness_rigger.objectives import Objective, Relative
from harness_rigger.probe import changes
from harness_rigger.rigged import Lineage
from harness_rigger.rigged import Rigged as Rigged
from harness_rigger.strategy import Broken, Candidate, Case, Diagnosis, Reason, Strategy, Trial

T = TypeVar("T")

TEACHER_SEED = 10_000
TRIAL_SEED = 100_000
"""Seeds of baseline rollouts start at 0; those of the teacher and of each trial elsewhere, so
that every trial is judged on rollouts that nothing was fitted to."""

TEACHER_ROLLOUTS = 2

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
        lineage: of the accepted stacks; by default round 1 of the policy.
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
        lineage: Lineage | None = None,
    ) -> None:
        self._pool, self._policy, self._objective = pool, policy, objective
        self._strategy, self._teacher, self._tell = strategy, teacher, tell
        self._budget = budget or Budget()
        self._lineage = lineage or Lineage(policy)

    def rig(self, stack: StackSpec) -> Rigged:
        """Reshapes one task.

        Raises:
            HarnessError: the env as it is cannot be run.
        """
        return self.reshape(self.observe(stack))

    def reshape(self, case: Case) -> Rigged:
        """Reshapes an observed task.

        Raises:
            HarnessError: a rollout cannot be run, or the strategy is broken.
        """
        books = Books(self._pool.store, case, self._lineage)
        diagnosis = self._asked(Diagnosis, lambda: self._strategy.diagnose(case))
        books.keep_diagnosis(diagnosis)
        told = f"skipped, {diagnosis.skip}: " if diagnosis.skip else ""
        self._tell(f"{_name(case)}: {case.baseline.rate}; {told}{diagnosis.weakness}")
        if diagnosis.skip is not None:
            return books.close("skipped", None, case, diagnosis, diagnosis.skip)
        if diagnosis.direction is None:
            return books.close("kept", case.stack, case, diagnosis, "in-band")
        ended: Literal["revisions", "ideas", "candidates"] = "revisions"
        while case.rolled <= self._budget.revisions:
            if len(case.trials) >= MOST_TRIALS:
                ended = "candidates"
                break
            candidate = self._written(case, diagnosis)
            if candidate is None:
                ended = "ideas"
                break
            trial = self._validate(case, candidate)
            books.keep_trial(len(case.trials), trial)
            self._tell(f"  {trial.candidate.rationale}: {trial.decision.message}")
            case = case.after(trial)
            if trial.decision.outcome == "accept":
                return books.accept(case, trial, diagnosis)
        borderline = [t for t in case.trials if t.decision.reason == "borderline"]
        if not borderline:
            return books.close("exhausted", None, case, diagnosis, ended)
        best = min(borderline, key=lambda trial: case.objective.distance(trial.standing))
        return books.accept(case, best, diagnosis)

    def _written(self, case: Case, diagnosis: Diagnosis) -> Candidate | Broken | None:
        write = self._strategy.write
        return self._asked((Candidate, Broken, type(None)), lambda: write(case, diagnosis))

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

    def observe(self, stack: StackSpec) -> Case:
        """Rolls the env as it is, and reads what may be known about it.

        Raises:
            HarnessError: it cannot be run.
        """
        baseline = self._baseline(stack)
        solved = baseline.solved
        if not solved and self._teacher is not None:
            seeds = range(TEACHER_SEED, TEACHER_SEED + TEACHER_ROLLOUTS)
            solved = self._roll(stack, self._teacher, seeds)
        with self._pool.borrow(stack) as env:
            start = env.reset(seed=0)
            state, distance = env.get_env_state(), env.distance()
            tools, schema = env.tools(), env.state_schema()
            private, reversible = env.private_state, env.reversible_endings
            path = effective(env, min(solved, key=lambda e: len(e.steps))) if solved else ()
        reachable = True if solved else None if distance is None else not isinf(distance)
        baseline = evolve(baseline, reachable=reachable, distance=distance)
        objective = self._objective
        if isinstance(objective, Relative):
            objective = objective.against(baseline)
        return Case(
            stack, objective, self._budget.max_steps, start.observation, state, baseline, path,
            distance=distance, goal=start.task.goal, tools=tools, schema=schema, private=private,
            reversible=reversible,
        )  # fmt: skip

    def _baseline(self, stack: StackSpec) -> Evidence:
        """Rollouts of the env as it is; more of them while it only seems to be in the band."""
        episodes = self._roll(stack, self._policy, range(self._budget.baseline))
        while len(episodes) < self._objective.most:
            standing = self._objective.standing(Evidence(episodes))
            if standing.clear or standing.side:
                break
            known = len(episodes)
            episodes += self._roll(stack, self._policy, range(known, known + self._budget.batch))
        return Evidence(episodes)

    def _validate(self, case: Case, candidate: Candidate | Broken) -> Trial:
        if isinstance(candidate, Broken):
            return trial_of_broken(case, candidate)
        stack, nothing = case.stack.wrapped(*candidate.components), Evidence(())
        try:
            with self._pool.borrow(stack) as env:
                start, distance = env.reset(seed=0), env.distance()
                out_of_reach = distance is not None and distance > case.max_steps
                met = out_of_reach or not candidate.probe or changes(env, _to_probe(case))
        except HarnessError as error:
            lost = error.fault == "infrastructure"
            reason: Reason = "no-evidence" if lost else "component-error"
            return trial_of(case, candidate, nothing, reason, str(error))
        if distance is not None and out_of_reach:
            told = "no plan leads to success" if isinf(distance) else f"{distance:g} steps at least"
            return trial_of(case, candidate, nothing, "unsolvable", told, distance)
        if not met:
            told = f"the actions of all {len(case.baseline.episodes)} baseline rollouts meet none"
            return trial_of(case, candidate, nothing, "unchanged", f"{told} of it", distance)
        return self._judge(case, candidate, start.observation != case.start, distance)

    def _judge(
        self, case: Case, candidate: Candidate, changed: bool, distance: float | None
    ) -> Trial:
        """Rollouts in batches, until the objective's standing is clear."""
        stack = case.stack.wrapped(*candidate.components)
        exact = all(isinstance(component, Stage) for component in candidate.components)
        reachable = True if exact and distance is not None else None
        first = TRIAL_SEED * (len(case.trials) + 1)
        evidence = Evidence((), reachable, distance)
        while True:
            known = first + len(evidence.episodes)
            more = self._roll(stack, self._policy, range(known, known + self._budget.batch))
            evidence = evolve(evidence, episodes=evidence.episodes + more)
            if evidence.component_errors:
                error_text = evidence.component_errors[0]
                return trial_of(case, candidate, evidence, "component-error", error_text, distance)
            if evidence.reachable is None:
                evidence = evolve(evidence, reachable=self._reachable(case, evidence, stack, first))
            standing = case.objective.standing(evidence)
            enough = len(evidence.episodes) >= case.objective.least
            if (enough and standing.clear) or len(evidence.episodes) >= case.objective.most:
                break
        unlike = changed or evidence.touched() or not evidence.endings <= case.baseline.endings
        reason, message = judged(case, evidence, unlike)
        return trial_of(case, candidate, evidence, reason, message, distance)

    def _reachable(
        self, case: Case, evidence: Evidence, stack: StackSpec, first: int
    ) -> bool | None:
        """Whether somebody solves it; a teacher is asked only where the objective depends on it."""
        if evidence.solved:
            return True
        if self._teacher is None or not isinstance(case.objective, Relative):
            return None
        seeds = range(first + TEACHER_SEED, first + TEACHER_SEED + TEACHER_ROLLOUTS)
        return any(episode.success for episode in self._roll(stack, self._teacher, seeds)) or None

    def _roll(self, stack: StackSpec, policy: PolicySpec, seeds: range) -> tuple[Episode, ...]:
        units = [Unit(stack, policy, seed, self._budget.max_steps) for seed in seeds]
        return tuple(self._pool.run(units))


def _name(case: Case) -> str:
    return case.stack.task or case.stack.env


def _to_probe(case: Case) -> list[Episode]:
    """The baseline's episodes: the shortest success first, then a failure, then the others."""
    counted = case.baseline.counted
    solved = sorted(case.baseline.solved, key=lambda episode: len(episode.steps))
    failed = [episode for episode in counted if not episode.success]
    return [*solved[:1], *failed[:1], *solved[1:], *failed[1:]]


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
