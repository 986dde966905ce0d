"""Episodes as text for prompts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from harness_core.episode import Episode, Step
from harness_core.models.transcript import LEAST_TOKENS, shorten, tokens_of, transcript
from harness_core.values import Action, Observation, Task, Verdict


def episode_of(*shown: str, goal: str = "Climb.", start: str = "A ladder.") -> Episode:
    steps = tuple(
        Step(Action(f"act {number}"), Observation(text), Action(f"act {number}"))
        for number, text in enumerate(shown, start=1)
    )
    return Episode(Task("t", goal), 0, Observation(start), steps, "budget", Verdict(True))


def test_a_short_episode_is_told_whole() -> None:
    """Goal, first observation, and each action with its answer, in order, and how it ended."""
    text = transcript(episode_of("one up", "two up"), 1000)
    assert text == (
        "Goal: Climb.\n\nA ladder.\n\n[1] act 1\none up\n\n[2] act 2\ntwo up\n\n"
        "(The episode ended after 2 steps: budget.)"
    )


def test_the_middle_is_left_out_with_a_count() -> None:
    """Of many steps the first and the last ones stay, and the note counts the others."""
    text = transcript(episode_of(*["you are on a rung"] * 200), 400)
    found = re.search(r"\(\.\.\. (\d+) steps left out: (\d+) to (\d+) \.\.\.\)", text)
    assert found
    missing, first, last = map(int, found.groups())
    assert missing == last - first + 1
    assert f"[{first - 1}] act" in text
    assert f"[{last + 1}] act" in text
    assert f"[{first}] act" not in text
    assert "[1] act" in text
    assert "[200] act" in text
    assert tokens_of(text) > 300


def test_one_long_answer_does_not_cost_the_other_steps() -> None:
    """A very long observation is cut in its own middle; all steps stay."""
    text = transcript(episode_of("short", "x" * 100_000, "the end"), 600)
    assert "characters left out" in text
    assert "[1] act 1\nshort" in text
    assert "[3] act 3\nthe end" in text


def test_thoughts_and_what_was_invalid_are_told() -> None:
    """The raw text stands before the action; a step without an action says so."""
    steps = (
        Step(Action("up"), Observation("higher"), Action("up"), text="I must go up."),
        Step(Action(), Observation("That is no action."), None, text="hm", invalid="no action"),
    )
    text = transcript(
        Episode(Task("t", "Climb."), 0, Observation(""), steps, "budget", Verdict(False)), 1000
    )
    assert "[1] thought: I must go up.\n[1] up\nhigher" in text
    assert "[2] thought: hm\n[2] (no action)\nThat is no action." in text


@given(
    st.lists(st.text(max_size=400), max_size=40),
    st.text(max_size=2000),
    st.integers(LEAST_TOKENS, 2000),
)
def test_the_budget_is_kept(shown: list[str], goal: str, tokens: int) -> None:
    """No episode is told in more tokens than allowed, and its two ends are always there."""
    text = transcript(episode_of(*shown, goal=goal), tokens)
    assert tokens_of(text) <= tokens
    assert not shown or ("[1] act 1" in text and f"[{len(shown)}] act" in text)


@given(st.text(max_size=3000), st.integers(0, 500))
def test_shortening_tells_how_much_is_missing(text: str, tokens: int) -> None:
    """What is left and the count of the note add up to the whole."""
    short = shorten(text, tokens)
    if short != text:
        found = re.search(r" \(\.\.\. (\d+) characters left out \.\.\.\) ", short)
        assert found
        assert len(short) - len(found.group()) + int(found[1]) == len(text)
