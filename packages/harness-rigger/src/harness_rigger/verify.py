"""Measures the stacks of a corpus again: is each still where its objective wants it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from harness_core.errors import SpecError
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool, Unit
from harness_core.serial import from_data
from harness_core.spec import StackSpec
from harness_core.stage import Stage
from harness_core.values import JsonDict
from harness_rigger.corpus import Entry
from harness_rigger.evidence import Evidence
from harness_rigger.objectives import Objective, Relative, Standing
from harness_rigger.rigged import finite

FRESH = 50_000_000
"""The first seed: no rigging goes that far."""


@frozen
class Verified:
    """One stack, measured again.

    Args:
        entry: of the corpus.
        evidence: fresh rollouts.
        standing: where they put it.
    """

    entry: Entry
    evidence: Evidence
    standing: Standing

    @property
    def holds(self) -> bool:
        """Whether it is where the objective wants it."""
        return self.standing.side == 0

    def to_dict(self) -> JsonDict:
        """The figures as JSON data."""
        return {
            "digest": self.entry.digest,
            "task": self.entry.stack.task,
            "holds": self.holds,
            "value": self.standing.value if self.evidence.rate.n else None,
            "clear": self.standing.clear,
            "distance": finite(self.evidence.distance),
            **self.evidence.summary(),
        }


def policy_of(entry: Entry) -> PolicySpec:
    """The policy that a line was made for.

    Raises:
        SpecError: the line does not say.
    """
    policy = entry.line.get("lineage", {}).get("policy")
    if policy is None:
        raise SpecError(f"Stack {entry.digest[:12]} does not say for which policy it was made.")
    return from_data(policy, PolicySpec)


def reverify(
    pool: RolloutPool,
    entries: Iterable[Entry],
    objective: Objective,
    *,
    policy: PolicySpec | None = None,
    teacher: PolicySpec | None = None,
    rollouts: int = 20,
    max_steps: int | None = None,
) -> Iterator[Verified]:
    """Every stack of a corpus with fresh rollouts, one after the other.

    Args:
        pool: runs the rollouts.
        entries: as `read_corpus` gives them.
        objective: measures; one that compares with the env as it is has that rolled as well.
        policy: the subject; by default the one that the line was made for.
        teacher: shows that a success is within reach where the subject never succeeds.
        rollouts: of each stack.
        max_steps: step budget; by default that of the line, else 50.

    Raises:
        SpecError: a line does not say what is needed.
    """
    seeds = range(FRESH, FRESH + rollouts)
    for entry in entries:
        subject = policy or policy_of(entry)
        steps = max_steps or int(entry.line.get("max_steps", 50))
        aim, original = objective, entry.line.get("lineage", {}).get("original")
        added = entry.stack.components
        if original is not None:
            added = added[len(StackSpec.from_dict(original).components) :]
        if isinstance(aim, Relative):
            if original is None:
                raise SpecError(f"Stack {entry.digest[:12]} does not say which env it changes.")
            before = StackSpec.from_dict(original)
            aim = aim.against(_measured(pool, before, subject, teacher, seeds, steps, True))
        exact = all(isinstance(component, Stage) for component in added)
        evidence = _measured(pool, entry.stack, subject, teacher, seeds, steps, exact)
        yield Verified(entry, evidence, aim.standing(evidence))


def _measured(
    pool: RolloutPool,
    stack: StackSpec,
    policy: PolicySpec,
    teacher: PolicySpec | None,
    seeds: range,
    max_steps: int,
    exact: bool,
) -> Evidence:
    """Rollouts, with the distance where the env knows, and whether a success is within reach.

    Args:
        exact: whether the env's distance is that of the stack: no rule was changed.
    """
    episodes = pool.run(Unit(stack, policy, seed, max_steps) for seed in seeds)
    with pool.borrow(stack) as env:
        env.reset(seed=0)
        distance = env.distance()
    reachable = any(episode.success for episode in episodes)
    reachable = reachable or (exact and distance is not None and distance <= max_steps)
    if not reachable and teacher is not None:
        shown = pool.run(Unit(stack, teacher, seed, max_steps) for seed in seeds[:2])
        reachable = any(episode.success for episode in shown)
    return Evidence(tuple(episodes), reachable or None, distance)
