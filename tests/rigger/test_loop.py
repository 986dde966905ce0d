"""The loop, on a real env in real worker processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_core import StackSpec, Stage, make, run_episode
from harness_core.errors import SpecError, StrategyError
from harness_core.policies import PolicySpec, ScriptedPolicy
from harness_core.registry import register
from harness_core.rollout import RolloutPool
from harness_core.store import RunStore
from harness_rigger.loop import Budget, Rigged, Rigger, effective
from harness_rigger.objectives import SuccessBand
from harness_rigger.search import SearchStrategy
from harness_rigger.search.contracts import EarlyEnd, FirstSentences, LongWay
from support.rigger_plugin import Breaks, Wall
from support.subjects import Listed

LADDER = StackSpec("ladder", task="rung-3")
LOW = StackSpec("ladder", task="rung-2")
UP = PolicySpec("scripted", {"actions": ["up"] * 40})


@pytest.fixture(scope="module")
def pool() -> Iterator[RolloutPool]:
    register("support.ladder_plugin")
    register("support.rigger_plugin")
    with RolloutPool(2) as pool:
        yield pool


def rig(
    pool: RolloutPool, *candidates: object, stack: StackSpec = LADDER, max_steps: int = 20
) -> Rigged:
    strategy = Listed([each if isinstance(each, tuple) else (each,) for each in candidates])
    budget = Budget(baseline=10, max_steps=max_steps, batch=10)
    objective = SuccessBand(least=10, most=40)
    return Rigger(pool, UP, objective, strategy, budget=budget).rig(stack)


def reasons(rigged: Rigged) -> list[str]:
    return [trial.decision.reason for trial in rigged.case.trials]


def test_what_cannot_be_solved_is_named(pool: RolloutPool) -> None:
    """Zero success with every action blocked is unsolvable, not hard, and is rejected."""
    rigged = rig(pool, Wall())
    assert reasons(rigged) == ["unsolvable"]
    assert rigged.case.trials[0].decision.outcome == "reject"
    assert "100% of the actions were blocked" in rigged.case.trials[0].decision.message
    assert (rigged.outcome, rigged.stack) == ("exhausted", None)


def test_what_changes_nothing_is_named(pool: RolloutPool) -> None:
    """A candidate that the policy never meets is unchanged, whatever the rate."""
    assert reasons(rig(pool, LongWay("fly", 3), FirstSentences(9))) == ["unchanged"] * 2


def test_a_broken_component_is_named(pool: RolloutPool) -> None:
    """A raising hook and an impossible replay count against the component, with the message."""
    rigged = rig(pool, Breaks(), Stage(["sideways"]))
    assert reasons(rigged) == ["component-error"] * 2
    first, second = rigged.case.trials
    assert "broken on purpose" in first.decision.message
    assert "'sideways', was refused" in second.decision.message
    assert second.evidence.episodes == ()


def test_too_easy_and_too_hard_are_refined(pool: RolloutPool) -> None:
    """A rate beside the band is a refine, and an accepted candidate ends the loop."""
    rigged = rig(pool, EarlyEnd(3), EarlyEnd(1), EarlyEnd(2), stack=LOW)
    assert reasons(rigged)[:2] == ["too-easy", "too-hard"]
    assert rigged.outcome == "accepted"
    assert rigged.stack is not None
    assert rigged.stack.components == rigged.trial.candidate.components  # type: ignore[union-attr]


def test_an_env_in_the_band_is_kept(pool: RolloutPool) -> None:
    """Nothing is written where the baseline is in the band already."""
    rigged = rig(pool, EarlyEnd(1), stack=LOW, max_steps=2)
    assert (rigged.outcome, rigged.stack, rigged.case.trials) == ("kept", LOW, ())
    assert len(rigged.case.baseline.episodes) > 10, "ten rollouts are too few to keep an env"


def test_search_finds_the_band(pool: RolloutPool) -> None:
    """The search strategy brings an always solved task into the band, from the evidence."""
    budget = Budget(baseline=20, max_steps=20, batch=10)
    objective = SuccessBand(least=10, most=60)
    rigged = Rigger(pool, UP, objective, SearchStrategy(), budget=budget).rig(LADDER)
    assert rigged.outcome == "accepted"
    assert 0.4 <= rigged.trial.evidence.rate.value <= 0.6  # type: ignore[union-attr]


def test_search_helps_a_policy_that_fails(pool: RolloutPool) -> None:
    """A task that is never solved starts further down the teacher's path."""
    stack = StackSpec("toy24", task="1-1-4-6")
    solution = ["combine 6 * 4", "combine 24 * 1", "combine 24 * 1"]
    teacher = PolicySpec("scripted", {"actions": solution})
    budget = Budget(baseline=10, max_steps=3, batch=10)
    objective = SuccessBand(low=0.2, high=0.5, least=10, most=60)
    rigger = Rigger(
        pool, PolicySpec("random"), objective, SearchStrategy(), budget=budget, teacher=teacher
    )
    rigged = rigger.rig(stack)
    assert rigged.case.baseline.rate.successes == 0
    assert rigged.outcome == "accepted"
    (stage,) = rigged.trial.candidate.components  # type: ignore[union-attr]
    assert stage == Stage(solution[: len(stage.actions)])  # type: ignore[attr-defined]


def test_a_second_run_pays_for_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a store, the loop repeats its decisions from kept episodes, and keeps them too."""
    register("support.ladder_plugin")
    log = tmp_path / "log"
    monkeypatch.setenv("LADDER_LOG", str(log))
    results, counts = [], []
    for _ in range(2):
        with RunStore(tmp_path / "run.db") as store, RolloutPool(2, store=store) as pool:
            strategy = Listed([(EarlyEnd(3),), (EarlyEnd(4),), (EarlyEnd(5),)])
            budget = Budget(baseline=10, max_steps=20, batch=10)
            objective = SuccessBand(least=10, most=40)
            rigger = Rigger(pool, UP, objective, strategy, budget=budget)
            results.append(rigger.rig(LADDER).to_dict())
            kept = [(each["digest"], each["reason"]) for each in store.records("trial")]
        counts.append(len(log.read_text().splitlines()))
    told = sorted((each["digest"], each["reason"]) for each in results[0]["trials"])
    assert sorted(kept) == told
    assert results[0] == results[1]
    assert counts[0] == counts[1] > 10


class Raises:
    """A strategy with a bug."""

    def diagnose(self, case: object) -> object:
        raise KeyError("mug")


class Mumbles(Listed):
    """A strategy that writes a component where a candidate is due."""

    def write(self, case: object, diagnosis: object) -> Any:
        return EarlyEnd(3)


@pytest.mark.parametrize(
    ("strategy", "told"),
    [(Raises(), "Raises raised KeyError: 'mug'"), (Mumbles([]), "Mumbles may not answer")],
)
def test_a_broken_strategy_is_named(pool: RolloutPool, strategy: Any, told: str) -> None:
    """What a strategy raises, or answers wrongly, is an error that names the strategy."""
    with pytest.raises(StrategyError, match=told):
        Rigger(pool, UP, SuccessBand(), strategy).rig(LADDER)


@pytest.mark.parametrize("name", ["baseline", "max_steps", "batch", "revisions"])
def test_a_budget_without_rollouts_is_refused(name: str) -> None:
    """A budget under which the loop could not go on is an error when it is made."""
    with pytest.raises(SpecError):
        Budget(**{name: -1})


def test_a_known_path_has_no_detours() -> None:
    """Actions without effect, and rounds that end where they began, are left out of a path."""
    actions = ["combine 1 + 1", "reset", "combine 6 * 4", "combine 24 * 1", "combine 24 * 1"]
    env = make("toy24", task="1-1-4-6")
    played = run_episode(env, ScriptedPolicy(actions))
    env.reset()
    assert [str(action) for action in effective(env, played)] == actions[2:]
