"""One arm of a protocol at work: its envs, its bank, and the policy that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from harness_core.episode import Episode
from harness_core.experiment import Setup
from harness_core.policies import PolicySpec, Usage
from harness_core.registry import load
from harness_core.rollout import RolloutPool, Unit
from harness_core.sources import Source, Sourced, Wanted
from harness_skills.bank import Bank
from harness_skills.bank_file import save_bank
from harness_skills.consolidate import CountingRules, ModelConsolidator
from harness_skills.induce import Experience, Inducer
from harness_skills.item import Skill
from harness_skills.policy import given_to, skilled
from harness_skills.protocols.bench import Bench
from harness_skills.protocols.plan import Arm, Scale
from harness_skills.writer import Writer

if TYPE_CHECKING:
    from harness_core.models import ModelSession

TRAIN_SEED, TEST_SEED = 50_000_000, 90_000_000
"""Seeds of the episodes that are learned from, and of the evaluations, start here."""


@frozen
class Lab:
    """What all arms share.

    Args:
        setup: of the experiment.
        bench: the tasks.
        scale: how much of them.
        policy: without skills.
        pool: runs the episodes; its store keeps them.
        models: makes the model calls.
        counting: consolidate by counting rules instead of a model.
    """

    setup: Setup
    bench: Bench
    scale: Scale
    policy: PolicySpec
    pool: RolloutPool
    models: ModelSession
    counting: bool = False


@frozen
class Lesson:
    """One env that an arm learned in.

    Args:
        batch: that it came with, from 1.
        sourced: the env, and what it was made for.
        solved: episodes that were solved in it.
        played: episodes that count.
    """

    batch: int
    sourced: Sourced
    solved: int
    played: int


@define
class Learner:
    """An arm and all that it has learned so far."""

    arm: Arm
    lab: Lab
    bench: Bench
    bank: Bank = field(factory=Bank)
    lessons: list[Lesson] = field(factory=list)
    usage: Usage = field(factory=Usage)
    problems: list[str] = field(factory=list)
    _file: Path | None = None
    _kept: list[Experience] = field(factory=list)
    _undecided: list[Skill] = field(factory=list)

    @classmethod
    def of(cls, arm: Arm, lab: Lab) -> Learner:
        """An arm that has learned nothing yet."""
        return cls(arm, lab, lab.bench.without(arm.left_out) if arm.left_out else lab.bench)

    @property
    def bare(self) -> PolicySpec:
        """The policy without skills."""
        policy = self.lab.policy
        asks = getattr(load("policy", policy.id), "needs_model", False)
        if not self.arm.model or not asks:
            return policy
        return evolve(policy, options={**policy.options, "model": self.arm.model})

    @property
    def policy(self) -> PolicySpec:
        """The policy with the skills that were learned so far."""
        if self._file is None or not self.bank.freeze().skills:
            return self.bare
        return skilled(self.bare, self._file)

    def envs(self, batch: int) -> list[Sourced]:
        """The envs of a batch, made for the policy as it is now."""
        options = self.arm.options
        if self.arm.model and "strategy_options" in options:
            chosen = {**options["strategy_options"], "model": self.arm.model}
            options = {**options, "strategy_options": chosen}
        source: Source = self.lab.models.build("source", self.arm.source, options)
        first = (batch - 1) * self.lab.scale.every
        tasks = self.bench.stacks(self.bench.train)
        turned = tasks[first % len(tasks) :] + tasks[: first % len(tasks)]
        count = min(self.lab.scale.every, self.lab.scale.envs - first)
        lab = self.lab
        wanted = Wanted(
            tuple(turned),
            count,
            self.policy,
            lab.scale.max_steps,
            batch,
            lab.pool,
            lab.models,
            lab.setup.tell,
        )
        return list(source.envs(wanted))

    def learn(self, batch: int, envs: Sequence[Sourced]) -> None:
        """Plays in the envs, and turns what happened into skills."""
        experiences = list(self._kept)
        first = TRAIN_SEED + 100_000 * self.lab.setup.seed + self.lab.scale.rollouts * batch
        for sourced in envs:
            units = [
                Unit(sourced.stack, self.policy, seed, self.lab.scale.max_steps)
                for seed in range(first, first + self.lab.scale.rollouts)
            ]
            played = list(zip(units, self.lab.pool.run(units), strict=True))
            for unit, episode in played:
                self._count(episode)
                experiences.append(Experience(episode, unit.stack.to_dict(), unit.key))
            counted = [episode for _, episode in played if episode.success is not None]
            solved = sum(bool(episode.success) for episode in counted)
            self.lessons.append(Lesson(batch, sourced, solved, len(counted)))
        writer = Writer(self.lab.models, model=self.arm.model or None)
        induction = Inducer(writer).induce(experiences, batch)
        self._kept = list(induction.returned)
        self.problems += [problem.message for problem in induction.problems]
        self._consolidate(writer, [*self._undecided, *induction.skills])

    def join(self, others: Sequence[Learner]) -> None:
        """Takes over the skills of other arms; what two of them say is kept once."""
        skills = [skill for other in others for skill in other.bank.freeze().skills]
        CountingRules().consolidate(self.bank, list(dict.fromkeys(skills)))
        self._save()

    def evaluate(self) -> list[tuple[Unit, Episode]]:
        """Every held-out task, once in each run, with the bank as it is."""
        policy, scale = self.policy, self.lab.scale
        first = TEST_SEED + 100_000 * self.lab.setup.seed
        units = [
            Unit(stack, policy, first + run, scale.max_steps)
            for run in range(scale.runs)
            for stack in self.bench.stacks(self.bench.test)
        ]
        return list(zip(units, self.lab.pool.run(units), strict=True))

    def _count(self, episode: Episode) -> None:
        self.usage += episode.usage
        if episode.success is not None:
            self.bank.credit(given_to(episode), episode.success)

    def _consolidate(self, writer: Writer, new: list[Skill]) -> None:
        if self.lab.counting:
            CountingRules().consolidate(self.bank, new)
            self._undecided = []
        else:
            left = ModelConsolidator(writer).consolidate(self.bank, new)
            self._undecided = list(left.returned)
            self.problems += [left.problem.message] if left.problem else []
        self._save()

    def _save(self) -> None:
        """Every version has a file of its own: a policy names the one that it was given."""
        digest = self.bank.freeze().digest
        self._file = self.lab.setup.folder / "banks" / f"{digest[:16]}.jsonl"
        save_bank(self.bank, self._file)
