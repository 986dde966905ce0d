"""`with-skills`: what a policy is given, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from harness_core import Chain, StackSpec, make
from harness_core.episode import run_episode
from harness_core.errors import SpecError, StoreError
from harness_core.models import ModelSession
from harness_core.policies import PolicySpec
from harness_core.registry import register
from harness_core.rollout import RolloutPool, Unit
from harness_core.testing.model_server import ModelServer
from harness_core.values import JsonDict, Task
from harness_skills.bank import Bank
from harness_skills.bank_file import save_bank
from harness_skills.operations import Operation
from harness_skills.policy import WithSkills, given_to, skilled
from harness_skills.retrieval import Retrieval
from support.skills import episode, skill

register("support.ladder_plugin")
register("support.reading")

Serve = Callable[..., tuple[ModelServer, ModelSession]]

OWN = skill("climb three rungs", "Go up three times.", "strategy", "rung-3")
OTHER = skill("climb rungs", "Go up until you are there.", "strategy", "rung-5")
READER = PolicySpec("support-reader")


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    bank = Bank()
    bank.apply([Operation("add", OWN)])
    bank.apply([Operation("add", OTHER)])
    save_bank(bank, tmp_path / "bank.jsonl")
    return tmp_path / "bank.jsonl"


def play(spec: PolicySpec, task: str = "rung-3") -> Any:
    with make("ladder", task=task) as env:
        return run_episode(env, spec.build(), max_steps=3)


def test_a_policy_reads_the_skills_of_its_task(bank: Path) -> None:
    """The text is in the task's guidance, without what was learned from the task itself."""
    told = play(skilled(READER, bank)).steps[0].text
    assert OTHER.content in told
    assert OWN.content not in told
    told = play(skilled(READER, bank), "rung-4").steps[0].text
    assert OTHER.content in told
    assert OWN.content in told


def test_a_chain_leaves_out_the_skills_of_all_its_tasks(bank: Path) -> None:
    """What was learned from a task that follows in a chain is not given either."""
    after = StackSpec("ladder", "rung-5").wrapped(Chain(StackSpec("ladder", "rung-3")))
    chained = StackSpec("ladder", "rung-4").wrapped(Chain(after))
    with chained.build() as env:
        played = run_episode(env, skilled(READER, bank).build(), max_steps=2)
    assert given_to(played) == ()


@pytest.mark.parametrize("policy", ["random", {"id": "random"}])
def test_a_bare_id_names_the_policy(bank: Path, policy: object) -> None:
    """The inner policy may be an id alone, on the command line for instance."""
    options = {**skilled(READER, bank).options, "policy": policy}
    with ModelSession() as models:
        assert models.resolved(PolicySpec("with-skills", options)).build()


@pytest.mark.parametrize("options", [{}, {"policy": 3, "bank": "b", "digest": "d"}])
def test_a_policy_that_is_none_is_told(options: JsonDict) -> None:
    """Missing or senseless options are a SpecError, before and after they are resolved."""
    with ModelSession() as models, pytest.raises(SpecError):
        models.resolved(PolicySpec("with-skills", options)).build()


def test_what_was_given_is_recorded_once(bank: Path) -> None:
    """The first step holds the ids and the bank's digest beside the policy's own facts."""
    spec = skilled(READER, bank)
    played = play(spec)
    assert played.steps[0].info == {
        "reader": "",
        "skills": {"bank": spec.options["digest"], "ids": [OTHER.id], "left_out": []},
    }
    assert "skills" not in played.steps[1].info
    assert given_to(played) == (OTHER.id,)
    assert given_to(episode("t", True, "up")) == given_to(episode("t", True)) == ()


def test_guidance_that_is_there_stays(bank: Path) -> None:
    """Skills come after it."""
    policy = skilled(READER, bank).build()
    with make("ladder", task="rung-3") as env:
        shown = env.reset().observation
        policy.reset(Task("rung-3", "Climb 3 rungs.", data={"guidance": "Be quick."}), (), 0)
        decision = policy.act(shown)
    assert decision is not None
    assert decision.text.startswith("Be quick.\n\nStrategy:\n- climb rungs")


def test_any_policy_is_played(bank: Path) -> None:
    """One that reads nothing acts as it does without; the pool runs it, and keeps the record."""
    script = PolicySpec("scripted", {"actions": ["up", "up", "up"]})
    stack = StackSpec("ladder", "rung-3")
    with RolloutPool() as pool:
        bare, read = pool.run([Unit(stack, script), Unit(stack, skilled(script, bank))])
    assert [step.action for step in bare.steps] == [step.action for step in read.steps]
    assert given_to(read) == (OTHER.id,)


def test_another_bank_is_another_unit(bank: Path) -> None:
    """The digest is in the unit's key; a version can be named."""
    stack = StackSpec("ladder", "rung-4")
    first, second = skilled(READER, bank, version=1), skilled(READER, bank)
    assert first.options["digest"] != second.options["digest"]
    assert Unit(stack, first).key != Unit(stack, second).key
    assert given_to(play(first, "rung-4")) == (OWN.id,)


def test_a_digest_that_does_not_match_is_an_error(bank: Path) -> None:
    """Nothing is played with other skills than those that are named, or with a part of them."""
    spec = skilled(READER, bank)
    other = evolve(spec, options={**spec.options, "digest": "0" * 64})
    with pytest.raises(SpecError, match="harness skills log"):
        other.build()
    bank.write_bytes(bank.read_bytes()[:-40])
    with pytest.raises(StoreError, match="damaged"):
        evolve(spec, options={**spec.options, "version": 2}).build()


def test_retrieval_is_an_option(bank: Path) -> None:
    """Its fields are checked; a category that the bank has not is an error."""
    spec = skilled(READER, bank, retrieval=Retrieval("lexical", each=1))
    assert given_to(play(spec, "rung-4")) == (OTHER.id,)
    for wrong in ({"by": "magic"}, {"categories": ["none"]}, {"each": 0}):
        with pytest.raises(SpecError):
            evolve(spec, options={**spec.options, "retrieval": wrong}).build()


def test_models_reach_the_policy_and_the_index(bank: Path, serve: Serve) -> None:
    """A session builds the policy inside with itself, and embeds once for all episodes."""
    _, session = serve([])
    spec = skilled(READER, bank, retrieval=Retrieval("embedding", "model"))
    built = session.build_policy(spec)
    assert isinstance(built, WithSkills)
    with make("ladder", task="rung-4") as env:
        played = run_episode(env, built, max_steps=1)
    assert set(given_to(played)) == {OWN.id, OTHER.id}
    (row,) = session.spend()
    session.build_policy(spec)
    assert [each.calls for each in session.spend()] == [row.calls]
    with pytest.raises(SpecError, match="ModelSession"):
        spec.build()


def test_the_model_inside_can_be_named(bank: Path, serve: Serve) -> None:
    """`resolved_options` fills in what the policy inside would use, and leaves others alone."""
    _, session = serve([])
    options = WithSkills.resolved_options(skilled(READER, bank).options, session)
    assert options["policy"]["options"] == {"model": "openai/m"}
    script = skilled(PolicySpec("scripted", {"actions": []}), bank).options
    assert WithSkills.resolved_options(script, session) == script
