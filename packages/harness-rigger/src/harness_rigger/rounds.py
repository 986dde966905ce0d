"""Several rounds, and the order of the tasks in one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf, isnan

from attrs import frozen

from harness_core.policies import PolicySpec
from harness_core.spec import StackSpec
from harness_rigger.loop import Rigger
from harness_rigger.rigged import Rigged
from harness_rigger.strategy import Case


@frozen
class Round:
    """What one round brought.

    Args:
        number: from 1.
        policy: that the tasks were rigged against.
        rigged: in the order of the tasks.
    """

    number: int
    policy: PolicySpec
    rigged: tuple[Rigged, ...]

    @property
    def stacks(self) -> tuple[StackSpec, ...]:
        """The accepted ones."""
        return tuple(
            each.stack for each in self.rigged if each.outcome == "accepted" and each.stack
        )


def rounds(
    tasks: Sequence[StackSpec],
    first: PolicySpec,
    count: int,
    rigger: Callable[[PolicySpec, int], Rigger],
    learn: Callable[[Round], PolicySpec],
) -> Iterator[Round]:
    """Rigs the tasks again and again, each time against the policy as it has become.

    Env and policy evolve together: what a round reshapes aims at what the policy has not learned
    yet. With a store, rounds that were done before are only read.

    Args:
        tasks: the envs as they are, the same ones in every round.
        first: the policy of the first round.
        count: of rounds.
        rigger: makes the rigger for a policy and the number of a round; give its `Lineage` both.
        learn: the policy of the next round, from what this one brought: the same id with another
            skill bank, another checkpoint. Asked after every round but the last.
    """
    policy = first
    for number in range(1, count + 1):
        at_work = rigger(policy, number)
        done = Round(number, policy, tuple(at_work.rig(stack) for stack in tasks))
        yield done
        if number < count:
            policy = learn(done)


def most_promising_first(cases: Iterable[Case]) -> list[Case]:
    """Observed tasks, those first whose measure is nearest to the target.

    They need the smallest change, so that a limited budget accepts the most stacks; a task in
    the target already costs nothing more. What cannot be measured comes last.
    """

    def off(case: Case) -> float:
        standing = case.objective.standing(case.baseline)
        distance = case.objective.distance(standing)
        return -1.0 if standing.side == 0 else inf if isnan(distance) else distance

    return sorted(cases, key=off)
