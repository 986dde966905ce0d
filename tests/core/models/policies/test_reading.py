"""Reading actions out of what models write."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_core.models.policies.reading import (
    clean,
    find_call,
    find_labelled,
    find_tagged,
    listed_action,
    read_action,
    read_call,
    without_thoughts,
)
from harness_core.serial import canonical
from harness_core.values import Action, Tool

WALK = Tool("walk", "Walks.", {"type": "object", "properties": {"way": {"type": "string"}}})
STOP = Tool("stop", "Stops.")
ACT = Tool(
    "act",
    "Acts.",
    {"type": "object", "properties": {"command": {"type": "string"}}},
    text_argument="command",
)

PIECES = [
    *("<think>", "</think>", "<action>", "</action>", "<Action>", "< /ACTION >", "<tool_call>"),
    *("Action:", "\nAction: ", "Action Input:", "Thought:", "\nObservation:", "```", "```json\n"),
    *('{"action": ', '"go"', "}", "{", "[", "]", '"arguments": {}', '"name": "walk", ', "walk("),
    *("go to desk 1", "\n", " ", '"', "`", "\ud800", "\\ud800", "\x00", "NaN", "1e999", "9" * 50),
]
ANYTHING = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("<think>hm</think><action>go to desk 1</action>", "go to desk 1"),
        ("<action>\n  go to desk 1\n</action>", "go to desk 1"),
        ("<THINK>hm</THINK>\n<Action>go to desk 1</ACTION>", "go to desk 1"),
        ("< think >hm</ think >< action >look</ action >", "look"),
        ("<think><action>eat</action> or not</think><action>look</action>", "look"),
        ("so I think </think> <action>look</action>", "look"),
        ("<think>a</think>b <action>no</action></think><action>look</action>", "look"),
        ("<think>it is best to <action>look</action>", "look"),
        ("<action>look</action><think>done</think>", "look"),
        ("<think>a</think><action>look", "look"),
        ("<action>look\nI hope that helps", "look"),
        ("look</action>", "look"),
        ("I will do this:\nlook</action> bye", "look"),
        ("<action><action>look</action></action>", "look"),
        ("<action>`look`</action>", "look"),
        ('<action>"look"</action>', "look"),
        ("<action>[look]</action>", "look"),
        ("<action>```\nlook\n```</action>", "look"),
        ("<action>```look```</action>", "look"),
        ('```json\n{"thought": "hm", "action": "look"}\n```', "look"),
        ('{"action": "look"}', "look"),
        ("ACTION: look", "look"),
        ("**Action:** look", "look"),
        ("- Action 2: look", "look"),
        ("Thought: hm\nAction:\nlook", "look"),
        ("<action></action><action>look</action>", "look"),
        ("<action>click[Buy Now]</action>", "click[Buy Now]"),
    ],
)
def test_a_tagged_action_is_found(text: str, action: str) -> None:
    """Whatever a model does to the tags, the one action that it means is found."""
    assert find_tagged(text).action == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Thought: hm\nAction: go to desk 1", "go to desk 1"),
        ("thought: hm\naction: look", "look"),
        ("Thought 1: hm\nAction 1: look", "look"),
        ("**Thought:** hm\n**Action:** look", "look"),
        ("Action: look\nObservation: A wall.\nThought: b\nAction: jump", "look"),
        ("Action: look\nThought: and then", "look"),
        ("Action: `look`", "look"),
        ("<think>Action: eat</think>Action: look", "look"),
        ("Thought: the action is clear: go\nAction: look", "look"),
        ("<action>look</action>", "look"),
        ('{"thought": "hm", "action": "look"}', "look"),
        ("Action:\n```\nlook\n```", "look"),
    ],
)
def test_a_labelled_action_is_found(text: str, action: str) -> None:
    """Whatever a model does to the labels, the first action that it names is found."""
    assert find_labelled(text).action == action


def test_an_action_with_its_input_below_is_a_call() -> None:
    """`Action Input` under an action gives the call's arguments, JSON or not."""
    found = find_labelled('Action: walk\nAction Input: {"way": "left"}')
    assert read_action(found.action, [WALK], None) == Action(tool="walk", arguments={"way": "left"})
    found = find_labelled("Action: act\nAction Input: look\nObservation: x")
    assert read_action(found.action, [ACT], None) == Action("look")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "The answer is empty."),
        (" \n ", "The answer is empty."),
        ("<think>hm", "The answer is all thought: it has no action."),
        ("<think>hm</think>", "The answer is all thought: it has no action."),
        ("<think>or <action>eat</action> but", "The answer is all thought: it has no action."),
        ("I go to the desk.", "The answer has no <action>...</action>."),
        ("<action></action>", "The answer has no <action>...</action>."),
    ],
)
def test_an_answer_without_action_is_told_why(text: str, problem: str) -> None:
    """An answer that holds no action says what is missing."""
    found = find_tagged(text)
    assert (found.action, found.problem) == ("", problem)


def test_several_actions_are_counted_and_the_first_counts() -> None:
    """Of different actions the first is taken and all are counted; repetitions are one."""
    found = find_tagged("<action>a</action> then <action>b</action> <action>a</action>")
    assert (found.action, found.several) == ("a", 2)
    assert find_tagged("<action>a</action><action>a</action>").several == 1


@pytest.mark.parametrize(
    ("written", "tools", "admissible", "action"),
    [
        ("look", [ACT], None, Action("look")),
        ("look", [], None, Action("look")),
        ("look", [WALK], ["look"], Action("look")),
        ("Go To  Desk 1.", [ACT], ["go to desk 1", "look"], Action("go to desk 1")),
        ("go to desk 12", [ACT], ["go to desk 1"], Action("go to desk 12")),
        ('walk({"way": "left"})', [WALK], None, Action(tool="walk", arguments={"way": "left"})),
        (
            'walk({\n "way": "left"\n})',
            [WALK],
            None,
            Action(tool="walk", arguments={"way": "left"}),
        ),
        ("stop()", [STOP], None, Action(tool="stop")),
        ("stop", [STOP], None, Action(tool="stop")),
        ("stop", [STOP], ["stop"], Action("stop")),
        ('act("look")', [ACT], None, Action("look")),
        ('act({"command": "look"})', [ACT], None, Action("look")),
        ("look (closely)", [ACT], None, Action("look (closely)")),
        ('{"tool": "stop", "arguments": {}}', [STOP], None, Action(tool="stop")),
        ('{"name": "stop", "parameters": {}}', [STOP], None, Action(tool="stop")),
        ('{"function": {"name": "stop", "arguments": "{}"}}', [STOP], None, Action(tool="stop")),
        ('{"action": "look"}', [ACT], None, Action("look")),
    ],
)
def test_a_text_stands_for_an_action(
    written: str, tools: list[Tool], admissible: list[str] | None, action: Action
) -> None:
    """Texts, calls and their JSON forms become the action that they mean."""
    assert read_action(clean(written), tools, admissible) == action


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("fly", "{}", "There is no tool 'fly'. Call walk({\"way\": ...})."),
        ("walk", '{"way": "le', "The arguments of walk are no JSON"),
        ("walk", "[1]", "are a JSON object; got '[1]'"),
        ("walk", "[" * 5000, "are no JSON"),
        ("walk", '{"a":' * 40 + "1" + "}" * 40, "nested more than 32 levels"),
        ("walk", '{"way": NaN}', "cannot be written as JSON"),
        ("walk", '{"way": "\\ud800"}', "cannot be written as JSON"),
    ],
)
def test_a_wrong_call_is_told_why(name: str, arguments: str, why: str) -> None:
    """A call of no tool, or with arguments that are none, says what is wrong."""
    assert why in str(read_call(name, arguments, [WALK]))


def test_a_missing_text_argument_is_told() -> None:
    """A tool that stands for text needs that text."""
    assert (
        read_call("act", '{"cmd": "look"}', [ACT]) == "act needs a text as its argument 'command'."
    )


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "walk", "arguments": {"way": "left"}}\n</tool_call>',
        'I go.\n```json\n{"name": "walk", "arguments": {"way": "left"}}\n```',
        '<think>{"name": "stop", "arguments": {}}</think>{"tool": "walk", "args": {"way": "left"}}',
    ],
)
def test_a_call_in_the_text_is_found(text: str) -> None:
    """A call that a model writes instead of making it is found behind its thoughts."""
    assert find_call(text) == ("walk", {"way": "left"})


def test_an_answer_that_is_an_admissible_action_is_one() -> None:
    """A bare admissible action is taken; the same words within a sentence are not."""
    assert listed_action("<think>hm</think> Look.", ["look"]) == "look"
    assert listed_action("I look", ["look"]) == ""
    assert listed_action("look\nand see", ["look"]) == ""


@given(ANYTHING)
def test_no_text_breaks_the_readers(text: str) -> None:
    """Whatever a text is, reading it raises nothing, and an action that comes of it is JSON."""
    for find in (find_tagged, find_labelled):
        found = find(text)
        assert bool(found.action) != bool(found.problem)
        for tools in ([], [WALK, STOP], [ACT]):
            for admissible in (None, ["go to desk 1"]):
                _check(read_action(found.action, tools, admissible))
    listed_action(text, ["go to desk 1"])
    call = find_call(text)
    for tools in ([WALK], [ACT]):
        _check(read_call(text, text, tools))
        _check(read_call(tools[0].name, text, tools))
        if call is not None:
            _check(read_call(*call, tools))
    assert len(without_thoughts(text)) <= len(text)


def _check(read: Action | str) -> None:
    if isinstance(read, str):
        assert read.encode()
    else:
        data = [read.text, read.tool, read.arguments]
        assert json.loads(canonical(data)) == data


@given(st.text(alphabet="abc 12", min_size=1).filter(str.strip), st.text(alphabet="xyz \n"))
def test_what_is_written_in_form_is_read_back(action: str, thought: str) -> None:
    """An action in the asked form is read back as it was written, whatever the thought is."""
    meant = action.strip()
    assert find_tagged(f"<think>{thought}</think>\n<action>{action}</action>").action == meant
    assert find_labelled(f"Thought: {thought}\nAction: {action}").action == meant


@pytest.mark.parametrize(
    "flood", ["< ", "{", '{"a":[', "<think></think>", "Action: a\n", "<" + " " * 99]
)
def test_a_flood_is_read_in_time(flood: str) -> None:
    """100,000 characters of broken form are read within a second, not in the square of it."""
    text = flood * (100_000 // len(flood)) + " " * 20_000
    began = time.process_time()
    find_tagged(text)
    find_labelled(text)
    find_call(text)
    assert time.process_time() - began < 1
