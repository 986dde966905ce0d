"""Sources of training envs: where the envs come from that a policy learns in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool
from harness_core.spec import StackSpec
from harness_core.values import JsonDict

if TYPE_CHECKING:
    from harness_core.models.session import ModelSession


@frozen
class Wanted:
    """What is asked of a source.

    Args:
        tasks: to draw from, in order; never a held-out one.
        count: how many envs, at most.
        policy: that will learn in them, with what it has learned so far.
        max_steps: step budget of an episode.
        round: from 1; in later ones the policy has learned from the earlier.
        pool: runs rollouts; its store keeps them, so that a source asked again goes on.
        models: for sources that ask a model.
        tell: called with a line of text at every stage.
    """

    tasks: tuple[StackSpec, ...]
    count: int
    policy: PolicySpec
    max_steps: int
    round: int
    pool: RolloutPool
    models: ModelSession | None = None
    tell: Callable[[str], None] = lambda line: None


@frozen
class Sourced:
    """One env to learn in.

    Args:
        stack: the env.
        weakness: of the policy that it was made for; empty if it was made for none.
        change: what differs from the task as it is, in words.
        record: further facts for the books; JSON data.
    """

    stack: StackSpec
    weakness: str = ""
    change: str = ""
    record: JsonDict = field(factory=dict)


class Source(Protocol):
    """What an entry of the kind `source` is, once built with its options."""

    def envs(self, wanted: Wanted) -> Iterator[Sourced]:
        """Up to `wanted.count` envs, the same ones for the same store and request."""
