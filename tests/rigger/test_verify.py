"""Corpora measured again, rounds, and the order of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from harness_core import StackSpec
from harness_core.errors import SpecError
from harness_core.policies import PolicySpec
from harness_core.registry import register
from harness_core.rollout import RolloutPool
from harness_rigger.corpus import Entry, read_corpus, write_corpus
from harness_rigger.loop import Budget, Rigger
from harness_rigger.objectives import SuccessBand
from harness_rigger.rigged import Lineage
from harness_rigger.rounds import Round, most_promising_first, rounds
from harness_rigger.search.contracts import EarlyEnd
from harness_rigger.verify import reverify
from harness_rigger.weakness import Weakness
from support.subjects import Listed

LADDER = StackSpec("ladder", task="rung-3")
UP = PolicySpec("scripted", {"actions": ["up"] * 40})
BAND = SuccessBand(0.5, 0.8, least=10, most=40)


@pytest.fixture(scope="module")
def pool() -> Iterator[RolloutPool]:
    register("support.ladder_plugin")
    with RolloutPool(2) as pool:
        yield pool


def rigger(pool: RolloutPool, steps: int, policy: PolicySpec = UP, number: int = 1) -> Rigger:
    budget = Budget(baseline=5, max_steps=20, batch=10)
    lineage = Lineage(policy, "listed", number)
    strategy = Listed([(EarlyEnd(steps),)])
    return Rigger(pool, policy, BAND, strategy, budget=budget, lineage=lineage)


@pytest.fixture(scope="module")
def entry(pool: RolloutPool, tmp_path_factory: pytest.TempPathFactory) -> Entry:
    """A line as it is read back."""
    path: Path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    write_corpus(path, [rigger(pool, 4, number=2).rig(LADDER).to_dict()])
    (entry,) = read_corpus(path)
    return entry


def test_a_line_says_where_it_comes_from(entry: Entry) -> None:
    """Round, strategy, policy with its digest, the original stack and the evidence are there."""
    lineage = entry.line["lineage"]
    assert (lineage["round"], lineage["strategy"]) == (2, "listed")
    assert lineage["policy"] == {"id": "scripted", "options": UP.options}
    assert len(lineage["policy_digest"]) == 64
    assert StackSpec.from_dict(lineage["original"]) == LADDER
    assert entry.line["evidence"]["n"] >= 10
    assert entry.line["reason"] == "in-band"


def test_a_corpus_is_measured_again(pool: RolloutPool, entry: Entry) -> None:
    """The line alone says policy and step budget; fresh rollouts hold the band or do not."""
    (verified,) = reverify(pool, [entry], BAND, rollouts=100)
    assert verified.holds
    assert verified.evidence.rate.n == 100
    (other,) = reverify(pool, [entry], SuccessBand(0.0, 0.2), rollouts=100)
    assert not other.holds


def test_a_relative_objective_measures_the_original_too(pool: RolloutPool, entry: Entry) -> None:
    """A fall is a fall from what the env as it is gives now, within reach of a teacher."""
    narrow = evolve(entry, stack=LADDER.wrapped(EarlyEnd(3)))
    aim = Weakness("is too slow")
    (verified,) = reverify(pool, [narrow], aim, teacher=UP, rollouts=40)
    assert verified.holds
    assert verified.evidence.rate.value < 0.6
    (kept,) = reverify(pool, [evolve(entry, stack=LADDER)], aim, rollouts=20)
    assert not kept.holds


def test_a_line_without_lineage_needs_a_policy(pool: RolloutPool) -> None:
    """What is not in the line must be said."""
    bare = Entry(LADDER.digest, LADDER)
    with pytest.raises(SpecError, match="for which policy"):
        list(reverify(pool, [bare], BAND))
    (verified,) = reverify(pool, [bare], BAND, policy=UP, rollouts=5)
    assert verified.evidence.rate.n == 5


def test_rounds_rig_against_the_policy_as_it_became(pool: RolloutPool) -> None:
    """Each round rigs the same tasks against the policy that the round before led to."""
    told: list[tuple[int, int]] = []

    def learn(done: Round) -> PolicySpec:
        told.append((done.number, len(done.stacks)))
        return PolicySpec("scripted", {"actions": ["down", *["up"] * 39]})

    first, second = rounds(
        [LADDER], UP, 2, lambda policy, number: rigger(pool, 4, policy, number), learn
    )
    assert told == [(1, 1)]
    assert (first.policy, first.rigged[0].outcome) == (UP, "accepted")
    assert second.policy.options["actions"][0] == "down"
    assert second.rigged[0].case.baseline.mean_steps > first.rigged[0].case.baseline.mean_steps
    assert second.rigged[0].lineage == Lineage(second.policy, "listed", 2)


def test_the_most_promising_tasks_come_first(pool: RolloutPool) -> None:
    """In the target, then near it, then far from it."""
    loop = rigger(pool, 4)
    dither = Rigger(
        pool, PolicySpec("scripted", {"actions": ["up"] * 3}), BAND, Listed([]),
        budget=Budget(baseline=20, max_steps=20),
    )  # fmt: skip
    far, middle, easy = (StackSpec("ladder", task=f"rung-{n}") for n in (6, 2, 1))
    cases = [loop.observe(easy), dither.observe(far), dither.observe(middle)]
    ordered = [case.stack.task for case in most_promising_first(cases)]
    assert ordered == ["rung-2", "rung-1", "rung-6"]
