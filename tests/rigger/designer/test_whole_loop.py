"""The whole loop with a designer model, over HTTP, on real envs in real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_core import StackSpec
from harness_core.models import Endpoint, ModelSession, ModelSettings
from harness_core.policies import PolicySpec
from harness_core.registry import register
from harness_core.rollout import RolloutPool
from harness_core.store import RunStore
from harness_core.testing.model_server import Say, Seen
from harness_rigger.corpus import measure, read_corpus, write_corpus
from harness_rigger.designer import LlmStrategy
from harness_rigger.loop import Budget, Rigged, Rigger
from harness_rigger.objectives import SuccessBand
from harness_rigger.rigged import Lineage
from support.designing import candidate, contract, designer, diagnosis, ends_after, stage

LADDER = StackSpec("ladder", task="rung-3")
UP = PolicySpec("scripted", {"actions": ["up"] * 40})
BAND = SuccessBand(0.5, 0.8, least=10, most=60)
BUDGET = Budget(baseline=10, max_steps=20, batch=10)


@pytest.fixture(autouse=True)
def _ladder() -> None:
    register("support.ladder_plugin")


@pytest.fixture(scope="module")
def pool() -> Iterator[RolloutPool]:
    register("support.ladder_plugin")
    with RolloutPool(2) as pool:
        yield pool


def rig(pool: RolloutPool, session: ModelSession, **options: object) -> Rigged:
    strategy = session.build("strategy", "llm", options)
    lineage = Lineage(UP, "llm")
    return Rigger(pool, UP, BAND, strategy, budget=BUDGET, lineage=lineage).rig(LADDER)


def reasons(rigged: Rigged) -> list[str]:
    return [trial.decision.reason for trial in rigged.case.trials]


ANSWERS = [
    diagnosis(),
    candidate(contract("import os\nclass C(Contract):\n    pass")),
    candidate(ends_after(3), rationale="a curfew of 3"),
    candidate(ends_after(4), rationale="a curfew of 4"),
]


def test_every_event_of_a_rigging_is_in_the_store(tmp_path: Path) -> None:
    """Baseline, diagnosis, a broken candidate, its repair, which is too hard, and the refined one,
    which is accepted: all are records, and the accepted stack wins its band from its JSON."""
    with RunStore(tmp_path / "run.db") as store:
        with designer(ANSWERS, store) as (server, session), RolloutPool(2, store=store) as pool:
            rigged = rig(pool, session)
            asked = [seen.last for seen in server.seen]
        baseline = [e for unit, e in store.episodes() if not unit["stack"]["components"]]
        (diagnosed,) = store.records("diagnosis")
        trials = store.records("trial")
        (result,) = store.records("rigged")
    assert len(baseline) == 10
    assert diagnosed["weakness"] == "it never looks down"
    assert [each["reason"] for each in trials] == ["broken", "too-hard", "in-band"]
    assert [each["parameters"]["answer"] for each in trials] == ANSWERS[1:]
    assert [each["evidence"]["n"] > 0 for each in trials] == [False, True, True]
    assert result["outcome"] == rigged.outcome == "accepted"
    assert "`import os`" in asked[2]
    assert "A contract sees only what its hooks are given" in asked[2]
    assert "It went past the target" in asked[3]
    assert "to the letter" in asked[3]

    corpus = tmp_path / "corpus.jsonl"
    write_corpus(corpus, [rigged.to_dict()])
    (entry,) = read_corpus(corpus)
    with RolloutPool(2) as pool:
        (fresh,) = measure(pool, [entry.stack], UP, range(900_000, 900_060), 20)
    assert BAND.low <= fresh.rate.value <= BAND.high


def test_a_second_run_asks_nothing_again(tmp_path: Path) -> None:
    """With the same store, neither a model call nor a rollout is paid twice."""
    results, served = [], []
    for _ in range(2):
        with (
            RunStore(tmp_path / "run.db") as store,
            designer(ANSWERS, store) as (server, session),
            RolloutPool(2, store=store) as pool,
        ):
            results.append(rig(pool, session).to_dict())
            served.append(len(server.seen))
            calls = {each.role: each.calls for each in session.spend()}
    assert results[0] == results[1]
    assert served == [4, 0]
    assert calls == {"designer": 4}


def test_what_cannot_work_costs_no_rollout(pool: RolloutPool) -> None:
    """No JSON, an impossible stage, a failing hook and one that does nothing: each is told, in
    its own words, before a single rollout."""
    answers = [
        diagnosis(),
        "I would rather not.",
        candidate(stage("sideways")),
        candidate(contract("class C(Contract):\n    def filter_action(self, action, env_state):\n"
                           "        return env_state.data['depth']")),
        candidate(contract("class C(Contract):\n    def filter_action(self, action, env_state):\n"
                           "        return Blocked('no') if action.text == 'fly' else action")),
        candidate({"kind": "registered", "spec": {"type": "erly-end", "steps": 3}}),
        candidate(stage()),
    ]  # fmt: skip
    with designer(answers) as (server, session):
        rigged = rig(pool, session, repairs=5)
        asked = [seen.last for seen in server.seen]
    assert reasons(rigged) == [
        "broken", "component-error", "component-error", "unchanged", "broken", "broken",
    ]  # fmt: skip
    assert all(not trial.evidence.episodes for trial in rigged.case.trials)
    assert (rigged.outcome, rigged.reason) == ("exhausted", "ideas")
    assert 'no whole JSON object with "components"' in asked[2]
    assert "'sideways', was refused" in asked[3]
    assert "KeyError: 'depth'" in asked[4]
    assert "Perturb what the agent uses" in asked[5]
    assert "Did you mean 'early-end'?" in asked[6]


def test_a_diagnosis_is_repaired_by_asking_again(pool: RolloutPool) -> None:
    """An unusable diagnosis is asked for again with the exact error; what was said is kept."""
    wrong = diagnosis(direction="easier")
    answers = ["{", wrong, diagnosis(direction="skip", reason="no-lever")]
    with designer(answers) as (server, session):
        rigged = rig(pool, session)
        asked = [seen.last for seen in server.seen]
    assert "not whole" in asked[1]
    assert 'the target lies in the direction "harder"' in asked[2]
    assert (rigged.outcome, rigged.reason, rigged.stack) == ("skipped", "no-lever", None)
    kept = rigged.to_dict()["diagnosed"]["answers"]
    assert [each["answer"] for each in kept] == answers


def test_a_designer_that_says_nothing_usable_is_left_alone(pool: RolloutPool) -> None:
    """After the repairs the task is skipped, and the reason says so."""
    with designer(lambda seen: "hm") as (server, session):
        rigged = rig(pool, session, repairs=2)
        assert len(server.seen) == 3
    assert (rigged.outcome, rigged.reason) == ("skipped", "unanswered")


def test_a_filtered_or_cut_answer_is_data(pool: RolloutPool) -> None:
    """A content filter and an answer that was cut off are broken candidates, not crashes."""
    answers = [
        diagnosis(),
        Say("", finish="content_filter"),
        Say('{"rationale": "long', finish="length"),
        candidate(ends_after(4)),
    ]
    with designer(answers) as (server, session):
        rigged = rig(pool, session)
        asked = [seen.last for seen in server.seen]
    assert reasons(rigged) == ["broken", "broken", "in-band"]
    assert "content filter" in asked[2]
    assert "answer more briefly" in asked[3]


def test_a_conversation_that_is_too_long_is_halved(pool: RolloutPool) -> None:
    """Where the model cannot read it all, the rollouts in the prompt get shorter."""
    lengths: list[int] = []

    def script(seen: Seen) -> Say:
        lengths.append(len(seen.text))
        if len(seen.text) > 4_500:
            return Say("maximum context length is 1000 tokens", status=400)
        return Say(diagnosis(direction="skip", reason="no-weakness"))

    dither = PolicySpec("scripted", {"actions": ["up", "down"] * 100})
    budget = Budget(max_steps=200)
    with designer(script) as (_, session):
        strategy = LlmStrategy(tokens=4_000, models=session)
        rigged = Rigger(pool, dither, BAND, strategy, budget=budget).rig(LADDER)
    assert rigged.reason == "no-weakness"
    assert len(lengths) == 3
    assert lengths == sorted(lengths, reverse=True)


def test_a_task_in_the_band_asks_nobody(pool: RolloutPool) -> None:
    """Where the baseline is in the target, no model call is paid."""
    with designer([]) as (server, session):
        strategy = LlmStrategy(models=session)
        band = SuccessBand(0.8, 1.0, least=5, most=20)
        rigged = Rigger(pool, UP, band, strategy, budget=BUDGET).rig(LADDER)
        assert server.seen == []
    assert rigged.outcome == "kept"


def test_a_model_reaches_its_strategy() -> None:
    """The option `model` overrides the one that is set for the role."""
    with designer([]) as (_, session):
        strategy = session.build("strategy", "llm", {"model": "openai/other"})
    assert strategy.model == "openai/other"
    assert strategy.models is session


def test_settings_hold_no_key() -> None:
    """The endpoint of a designer names a variable, never a key."""
    endpoint = Endpoint("http://127.0.0.1:1/v1", key="SOME_VARIABLE")
    assert "SOME_VARIABLE" in repr(ModelSettings(endpoints=(endpoint,)))
