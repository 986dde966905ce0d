import attrs
import pytest

from harness_core import (
    Action,
    EnvState,
    Observation,
    ResetResult,
    StackSpec,
    Stage,
    StepResult,
    Task,
    Tool,
    Verdict,
)
from harness_core.errors import InvalidAction


@pytest.mark.parametrize(
    ("value", "action"),
    [
        ("go", Action("go")),
        (Action("go"), Action("go")),
        ({"tool": "walk", "arguments": {"way": "left"}}, Action("", "walk", {"way": "left"})),
        ({"text": "go"}, Action("go")),
    ],
)
def test_an_action_is_read_from_text_a_dict_or_itself(value, action):
    """All forms of writing an action give the same value."""
    assert Action.of(value) == action


@pytest.mark.parametrize(
    "value", [None, 3, ["go"], {"verb": "go"}, {"text": 3}, {"tool": "walk", "arguments": "left"}]
)
def test_anything_else_is_no_action_and_the_error_shows_the_form(value):
    """What cannot be read names itself and the two forms that can."""
    with pytest.raises(InvalidAction, match=r'is no action. Write plain text, or \{"tool"'):
        Action.of(value)


def test_reading_an_action_copies_its_arguments():
    """Later changes to the dict that was read do not reach the action."""
    arguments = {"way": "left"}
    action = Action.of({"tool": "walk", "arguments": arguments})
    arguments["way"] = "right"
    assert action.arguments == {"way": "left"}


def test_an_action_is_written_as_its_text_or_call():
    """`str` gives the text, or the call with its arguments in a fixed order."""
    assert str(Action("go")) == "go"
    assert str(Action(tool="walk", arguments={"b": 1, "a": 2})) == 'walk({"a": 2, "b": 1})'


@pytest.mark.parametrize("value", [Action(), Observation(), EnvState(), Verdict(True), Tool("t")])
def test_values_are_frozen_and_slotted(value):
    """No field can be assigned, and no attribute added."""
    for name in ("anything", attrs.fields(type(value))[0].name):
        with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError)):
            setattr(value, name, 1)


def test_replace_changes_a_copy():
    """`replace` gives the changed value and leaves the old one."""
    old = StepResult(Observation("one"))
    assert old.replace(terminated=True) == StepResult(Observation("one"), terminated=True)
    assert not old.terminated


def test_a_step_has_ended_if_terminated_or_truncated():
    """Either flag ends an episode."""
    step = StepResult(Observation())
    assert not step.ended
    assert step.replace(terminated=True).ended
    assert step.replace(truncated=True).ended


def test_a_verdict_scores_its_success_unless_told_otherwise():
    """Without partial credit the score is 0 or 1."""
    assert (Verdict(True).score, Verdict(False).score, Verdict(False, 0.5).score) == (1, 0, 0.5)


def test_a_conjunction_succeeds_if_all_parts_do():
    """Success of all, the lowest score of any, and the parts to read."""
    good, half = Verdict(True), Verdict(False, 0.5)
    assert Verdict.conjunction((good, good)).success
    assert Verdict.conjunction((good, half)) == Verdict(False, 0.5, {}, (good, half))


def test_a_tool_call_is_text_where_the_action_space_is_text():
    """`text_argument` turns a call into the plain text that the env executes."""
    assert Tool("act", text_argument="command").call({"command": "go"}) == Action("go")
    assert Tool("walk").call({"way": "left"}) == Action(tool="walk", arguments={"way": "left"})


@pytest.mark.parametrize(
    "build",
    [
        lambda: Action("go", "walk", {"way": ["left"]}),
        lambda: Observation("seen", {"a": [1]}, ("x",)),
        lambda: StepResult(Observation("seen", {"a": 1}), info={"b": []}),
        lambda: ResetResult(Observation(), Task("t", data={"a": {}})),
        lambda: EnvState("t", 1, {"a": []}),
        lambda: Tool("t"),
        lambda: Verdict(False, 0.5, {"a": []}, (Verdict(True),)),
        lambda: Stage([{"tool": "walk", "arguments": {"way": ["left"]}}]),
        lambda: StackSpec("e", "t", (Stage(["go"]),), {"a": [1]}),
    ],
)
def test_equal_values_have_equal_hashes(build):
    """Every value can be a key, whatever JSON it holds."""
    one, other = build(), build()
    assert one == other
    assert one is not other
    assert {one: 1}[other] == 1


def test_actions_compare_as_their_json_does():
    """1, 1.0 and True are different arguments."""
    actions = {Action(tool="x", arguments={"a": [value]}) for value in (1, 1.0, True, "1", None)}
    assert len(actions) == 5
