"""Policies on models, against a real server, in real envs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from harness_bridges.alfworld.games import generate_games
from harness_core import Action, StackSpec, Task, Tool, make
from harness_core.env import ActionableEnv
from harness_core.episode import Episode, run_episode
from harness_core.errors import HarnessError, SpecError
from harness_core.models import ModelSession
from harness_core.policies import Policy, PolicySpec, Usage
from harness_core.rollout import RolloutPool, Unit
from harness_core.store import RunStore
from harness_core.testing import CorridorEnv
from harness_core.testing.model_server import ModelServer, Say, Seen

Connect = Callable[..., ModelSession]

POLICIES = ("tool-calling", "think-action", "react")

PUZZLE = "1-1-4-6"
WAY = ["combine 4 * 6", "combine 1 * 1", "combine 1 * 24"]


def play(
    session: ModelSession, policy: str, env: ActionableEnv, *, steps: int = 10, **options: Any
) -> Episode:
    """One episode of a model policy."""
    player = session.build_policy(PolicySpec(policy, options))
    with env:
        return run_episode(env, player, max_steps=steps, seed=0)


def in_form(policy: str, action: str) -> Say:
    """A reply that does `action` the way that the policy asks for."""
    if policy == "think-action":
        return Say(f"<think>so be it</think>\n<action>{action}</action>")
    if policy == "react":
        return Say(f"Thought: so be it\nAction: {action}")
    word, *numbers = action.split()
    call = dict(zip(("left", "operator", "right"), numbers, strict=False))
    return Say("so be it", tool_calls=[(word, call)])


@pytest.mark.parametrize("policy", POLICIES)
def test_toy24_is_solved(connect: Connect, policy: str) -> None:
    """A model that knows the way solves a puzzle, in the form that each policy asks for."""
    with ModelServer([in_form(policy, action) for action in WAY]) as server:
        episode = play(connect(server), policy, make("toy24", PUZZLE))
        first, *_, last = server.seen
        served = server.served["m"]
    assert episode.success, episode.failure
    assert [step.invalid for step in episode.steps] == ["", "", ""]
    assert episode.usage == served.usage != Usage()
    assert len(first.messages) == 2
    assert len(last.messages) == 6
    assert f"## Goal\n\n{episode.task.goal}" in first.messages[0]["content"]
    assert "Numbers: 1, 1, 4, 6." in first.last
    assert "- combine 1 * 1" in first.last
    assert "- combine" not in last.messages[1]["content"]
    assert bool(first.tools) == (policy == "tool-calling")


@pytest.mark.parametrize("policy", ["think-action", "react"])
def test_an_alfworld_game_is_won(connect: Connect, policy: str, tmp_path: Path) -> None:
    """A model that knows the plan of a generated household game wins it in as many steps."""
    (game,) = generate_games(tmp_path, count=1, seed=4, receptacles=9)
    plan = json.loads(game.path.read_text())["walkthrough"]
    with ModelServer([in_form(policy, action) for action in plan]) as server:
        env = make("alfworld", game.id, games=str(tmp_path))
        episode = play(connect(server), policy, env, steps=60)
        system = server.seen[0].messages[0]["content"]
    assert episode.success, episode.failure
    assert [step.action.text for step in episode.steps] == plan
    assert "Executes one text command in the household" in system


def test_an_alfworld_game_is_won_by_calls(connect: Connect, tmp_path: Path) -> None:
    """The one tool of a text env carries the text of the action."""
    (game,) = generate_games(tmp_path, count=1, seed=4, receptacles=9)
    plan = json.loads(game.path.read_text())["walkthrough"]
    says = [Say(tool_calls=[("act", {"command": action})]) for action in plan]
    with ModelServer(says) as server:
        env = make("alfworld", game.id, games=str(tmp_path))
        episode = play(connect(server), "tool-calling", env, steps=60)
    assert episode.success, episode.failure


@pytest.mark.parametrize(
    ("policy", "say", "why"),
    [
        ("think-action", Say(""), "The answer is empty. Write <action>one action</action>"),
        ("think-action", Say("I shall stop."), "no <action>...</action>"),
        ("think-action", Say("<think>or"), "all thought"),
        ("think-action", Say("<action>combine 1", finish="length"), "cut off after 2 tokens"),
        ("react", Say("Let me see."), 'End with a line "Action: one action".'),
        ("react", Say("Thought: hm\nAction: comb", finish="length"), "cut off"),
        ("react", Say('Action: combine({"left": 1,})'), "The arguments of combine are no JSON"),
        ("tool-calling", Say(""), 'The answer is empty. Call combine({"left": ..., '),
        ("tool-calling", Say("I stop."), "The answer calls no tool. Call combine("),
        ("tool-calling", Say(tool_calls=[("combine", "{broken")]), "combine are no JSON"),
        ("tool-calling", Say(tool_calls=[("fly", {})]), "There is no tool 'fly'."),
        ("tool-calling", Say(tool_calls=[("stop", '{"a')], finish="length"), "cut off"),
        ("tool-calling", Say('{"name": "fly", "arguments": {}}'), "There is no tool 'fly'."),
    ],
)
def test_an_answer_that_is_no_action_costs_a_step_and_is_told_why(
    connect: Connect, policy: str, say: Say, why: str
) -> None:
    """The env is not asked; step and text are kept, and the model reads why in its next turn."""
    with ModelServer([say, in_form(policy, "stop")]) as server:
        episode = play(connect(server), policy, make("toy24", PUZZLE))
        told = server.seen[1].last
        before = server.seen[1].messages[-2]
    wrong, stopped = episode.steps
    assert why in wrong.invalid
    assert (wrong.executed, wrong.text) == (None, say.text)
    assert told.startswith(wrong.invalid)
    assert "Numbers: 1, 1, 4, 6." in told
    calls = before.get("tool_calls", [])
    assert before["content"] or calls
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)
    assert episode.ending == "terminated"
    assert not stopped.invalid


@pytest.mark.parametrize(
    ("policy", "say", "note"),
    [
        ("think-action", Say("<action>reset</action><action>stop</action>"), "held 2 actions"),
        ("react", Say("Action: reset\nAction: stop"), "held 2 actions"),
        ("tool-calling", Say(tool_calls=[("reset", {}), ("stop", {})]), "made 2 calls"),
    ],
)
def test_of_several_actions_the_first_is_done(
    connect: Connect, policy: str, say: Say, note: str
) -> None:
    """Only the first of several actions is done, and the model is told so."""
    with ModelServer([say] * 2) as server:
        episode = play(connect(server), policy, make("toy24", PUZZLE), steps=2)
        told = server.seen[1].last
    assert str(episode.steps[0].action).startswith("reset")
    assert note in told


def test_what_the_endpoint_gives_is_kept_with_the_step(connect: Connect, tmp_path: Path) -> None:
    """Reasoning, calls, token ids and log-probabilities come back from the store with the step."""
    say = Say(
        "go", reasoning="hm", tool_calls=[("stop", {})], token_ids=[5, 6], logprobs=[-0.5, -1.0]
    )
    unit = Unit(
        StackSpec("toy24", PUZZLE),
        PolicySpec("tool-calling", {"logprobs": True, "model": "openai/m"}),
    )
    with ModelServer([say]) as server, RunStore(tmp_path / "run.db") as store:
        session = connect(server, store=store)
        with RolloutPool(store=store, models=session) as pool:
            pool.run([unit])
        episode = store.episode(unit.key)
    assert episode is not None
    assert episode.steps[0].info == {
        "reasoning": "hm",
        "tool_calls": [{"name": "stop", "arguments": "{}"}],
        "token_ids": [5, 6],
        "logprobs": [-0.5, -1.0],
    }


class Advised:
    """A policy that gets advice with its task."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.act = policy.act

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        data = {**task.data, "guidance": "Multiply first."}
        self._policy.reset(evolve(task, data=data), tools, seed)


@pytest.mark.parametrize("policy", POLICIES)
def test_guidance_stands_under_its_own_heading(connect: Connect, policy: str) -> None:
    """Guidance of the task is in the system prompt, before the goal; without it, no heading is."""
    with ModelServer(lambda seen: in_form(policy, "stop")) as server:
        player = connect(server).build_policy(PolicySpec(policy))
        for each in (Advised(player), player):
            with make("toy24", PUZZLE) as env:
                run_episode(env, each)
        advised, plain = (seen.messages[0]["content"] for seen in server.seen)
    assert "## Guidance\n\nMultiply first.\n\n## Goal" in advised
    assert "Guidance" not in plain


def test_without_a_list_the_calls_are_described(connect: Connect) -> None:
    """Where no texts are shown, a writing model reads the tools, and its written calls count."""
    way = ["switch()", 'walk({"way": "right"})']
    with ModelServer([in_form("react", action) for action in way]) as server:
        env = CorridorEnv("length-2")
        episode = play(connect(server), "react", env, show_admissible=False)
        first = server.seen[0]
    assert episode.steps[1].action == Action(tool="walk", arguments={"way": "right"})
    assert episode.success
    assert "- walk(" in first.messages[0]["content"]
    assert "Admissible" not in first.text


def test_a_conversation_that_is_too_long_is_shortened(connect: Connect) -> None:
    """When the endpoint says that it is too long, old observations go and the game goes on."""

    def script(seen: Seen) -> Say:
        if len(seen.text) > 2000:
            return Say("This model's maximum context length is 700 tokens.", status=400)
        return in_form("react", "reset" if seen.number < 30 else "stop")

    with ModelServer(script) as server:
        episode = play(
            connect(server), "react", make("toy24", PUZZLE), steps=60, context_tokens=4000
        )
    assert episode.failure is None
    assert len(episode.steps) > 20
    assert any("left out" in seen.text for seen in server.seen)


def test_the_same_episode_is_paid_once(connect: Connect, tmp_path: Path) -> None:
    """An episode that is played again on the same store makes no call, and is the same."""
    with (
        ModelServer([in_form("react", action) for action in WAY]) as server,
        RunStore(tmp_path / "run.db") as store,
    ):
        first = play(connect(server, store=store), "react", make("toy24", PUZZLE))
        again = play(connect(server, store=store), "react", make("toy24", PUZZLE))
        assert len(server.seen) == 3
    assert first == again


def test_calls_go_on_the_account_of_the_role(connect: Connect) -> None:
    """The option `role` decides on whose account the calls are."""
    with ModelServer(lambda seen: in_form("react", "stop")) as server:
        session = connect(server)
        play(session, "react", make("toy24", PUZZLE), role="teacher")
        (spend,) = session.spend()
    assert (spend.role, spend.calls) == ("teacher", 1)


@pytest.mark.parametrize("policy", POLICIES)
def test_without_a_model_the_message_says_what_to_set(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy for which no model is named cannot be built, and the message names MODEL."""
    monkeypatch.delenv("MODEL", raising=False)
    monkeypatch.delenv("MODEL_POLICY", raising=False)
    with pytest.raises(HarnessError, match="Set MODEL"):
        PolicySpec(policy).build()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"role": "critic"}, "no role 'critic'"),
        ({"max_tokens": 0}, "max_tokens=0"),
        ({"colour": "red"}, "It takes: model, role"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], why: str) -> None:
    """An option that makes no sense is an error that says which."""
    with pytest.raises(SpecError, match=why):
        PolicySpec("react", {"model": "openai/m", **options}).build()
