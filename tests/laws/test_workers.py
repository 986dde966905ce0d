"""The same seeds give the same episodes, however many workers run them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_core import Action, StackSpec
from harness_core.policies import PolicySpec
from harness_core.registry import register
from harness_core.rollout import RolloutPool, Unit
from harness_core.spec import make
from harness_rigger.search.contracts import EarlyEnd, FirstSentences, LongWay

COMPONENTS = st.lists(
    st.sampled_from([LongWay("up", 2), EarlyEnd(4), FirstSentences(1)]), max_size=3
)
STACKS = st.builds(
    lambda task, components: StackSpec("ladder", task, tuple(components)),
    st.sampled_from(["rung-2", "rung-4", "rung-6"]),
    COMPONENTS,
)


@pytest.fixture(scope="module")
def pools() -> Iterator[list[RolloutPool]]:
    register("support.ladder_plugin")
    with ExitStack() as stack:
        apart = RolloutPool(2, build_policy=PolicySpec.build)
        pools = [RolloutPool(1), RolloutPool(2), RolloutPool(4), apart]
        yield [stack.enter_context(pool) for pool in pools]


@settings(max_examples=15, deadline=None)
@given(st.lists(STACKS, min_size=1, max_size=4), st.integers(0, 2**31))
def test_worker_counts_do_not_matter(
    pools: list[RolloutPool], stacks: list[StackSpec], seed: int
) -> None:
    """One, two and four workers give equal episodes, and so does a second run of each.

    It does not matter either whether the policy plays in the env's process or apart from it.
    """
    policy = PolicySpec("random")
    units = [Unit(stack, policy, seed + number, 8) for stack in stacks for number in range(3)]
    runs = [pool.run(units) for pool in pools for _ in range(2)]
    assert all(run == runs[0] for run in runs)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["1-1-4-6", "1-2-3-4"]), st.integers(0, 2**31))
def test_the_second_reset_starts_the_same_episode(task: str, seed: int) -> None:
    """An env that has played before starts as a fresh one does."""
    used, fresh = make("toy24", task=task), make("toy24", task=task)
    first = used.reset(seed=seed)
    for text in first.observation.data["admissible"][:1]:
        used.step(Action(text))
    assert used.reset(seed=seed) == first == fresh.reset(seed=seed)
