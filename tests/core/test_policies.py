from __future__ import annotations

import io

import pytest

from harness_core import Action, Observation, Task
from harness_core.errors import InvalidAction, PolicyError, SpecError, UnknownIdError
from harness_core.policies import Decision, HumanPolicy, PolicySpec, RandomPolicy, ScriptedPolicy
from harness_core.values import Tool

SEEN = Observation("A fork.", {"admissible": ["left", "right", "back"]})
TASK = Task("t", "Get out.")


def test_scripted_plays_its_list_at_every_reset() -> None:
    """A script is played from its start after each reset, and ends with a stop."""
    policy = ScriptedPolicy(["left", {"tool": "look", "arguments": {}}])
    for _ in range(2):
        policy.reset(TASK, (), 0)
        played = [policy.act(SEEN) for _ in range(3)]
        assert played == [Decision(Action("left")), Decision(Action(tool="look")), None]


def test_script_of_one_text_is_refused() -> None:
    """One text is not played letter by letter."""
    with pytest.raises(InvalidAction, match="list of actions"):
        ScriptedPolicy("left")


def test_random_follows_its_seed() -> None:
    """The choices are the seed's, and each admissible action is chosen at times."""

    def choices(seed: int) -> list[str]:
        policy = RandomPolicy()
        policy.reset(TASK, (), seed)
        return [str(policy.act(SEEN).action) for _ in range(40)]

    assert choices(1) == choices(1) != choices(2)
    assert set(choices(1)) == {"left", "right", "back"}


def test_random_needs_a_list() -> None:
    """Without admissible actions the random policy says what it lacks."""
    with pytest.raises(PolicyError, match="admissible"):
        RandomPolicy().act(Observation("A wall."))


def test_human_types_text_or_tool_calls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line is an action, JSON a tool call, `?` a question, and the end of the input a stop."""
    lines = '?\n\nleft\n{"tool": "look", "arguments": {"far": true}}\n{not json\n'
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    policy = HumanPolicy()
    policy.reset(TASK, (Tool("look", "Looks around."),), 0)
    decisions = [policy.act(SEEN) for _ in range(4)]
    shown = capsys.readouterr().out
    assert [decision and decision.action for decision in decisions] == [
        Action("left"),
        Action(tool="look", arguments={"far": True}),
        Action("{not json"),
        None,
    ]
    assert "Get out." in shown
    assert "look: Looks around." in shown
    assert "left\nright\nback" in shown


def test_spec_builds_a_fresh_policy() -> None:
    """A policy spec builds the registered policy with its options, a new one each time."""
    spec = PolicySpec("scripted", {"actions": ["left"]})
    one, two = spec.build(), spec.build()
    assert one is not two
    assert one.act(SEEN) == two.act(SEEN) == Decision(Action("left"))


def test_spec_errors() -> None:
    """An unknown policy and an unknown option are told apart."""
    with pytest.raises(UnknownIdError, match="Did you mean 'random'"):
        PolicySpec("randm").build()
    with pytest.raises(SpecError, match="does not take these options"):
        PolicySpec("random", {"speed": 3}).build()
