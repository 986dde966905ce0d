"""A policy's memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness_core.models.policies.conversation import Conversation
from harness_core.models.transcript import tokens_of
from harness_core.models.values import Message, ToolCall


def talk_of(*seen: str, budget: int = 10_000, calls: bool = False) -> Conversation:
    """A conversation with these observations, all but the last one answered."""
    talk = Conversation("system", budget)
    for number, text in enumerate(seen):
        talk.see(text)
        if number < len(seen) - 1:
            made = (ToolCall(f"c{number}", "walk", "{}"),) if calls else ()
            talk.say(Message("assistant", f"answer {number}", made))
    return talk


def test_a_short_conversation_is_sent_whole() -> None:
    """What fits is sent as it was: system prompt, then observations and answers in turns."""
    roles = [(each.role, each.content) for each in talk_of("a", "b").messages()]
    expected = [("system", "system"), ("user", "a"), ("assistant", "answer 0"), ("user", "b")]
    assert roles == expected


def test_the_aside_follows_the_last_observation_and_is_forgotten() -> None:
    """What is said aside stands once, at the end, and in no later message."""
    talk = talk_of("a")
    assert talk.messages("list")[-1].content == "a\n\nlist"
    assert talk.messages()[-1].content == "a"


def test_the_answer_to_a_call_names_it() -> None:
    """An observation after a tool call is a tool's message with the id of the call."""
    last = talk_of("a", "b", calls=True).messages()[-1]
    assert (last.role, last.tool_call_id) == ("tool", "c0")


def test_the_oldest_observations_are_shortened_first() -> None:
    """A little too much costs the oldest observation alone, and says how much is missing."""
    long = "word " * 200
    sent = talk_of(long, long, long, budget=3 * tokens_of(long)).messages()
    assert "characters left out" in sent[1].content
    assert sent[2].content == "answer 0"
    assert sent[3].content == long
    assert sent[5].content == long


def test_then_the_oldest_turns_are_left_out() -> None:
    """Far too much costs whole old turns, with a count; no tool message is left without call."""
    sent = talk_of(*["word " * 200] * 20, budget=700, calls=True).messages()
    assert 2 < len(sent) < 40
    assert sent[1].role == "user"
    assert sent[1].content.startswith("(Earlier turns left out: ")
    called = {call.id for each in sent for call in each.tool_calls}
    assert called == {each.tool_call_id for each in sent if each.role == "tool"}


@given(st.lists(st.text(max_size=400), min_size=1, max_size=12), st.integers(1, 800), st.booleans())
def test_the_budget_is_kept(seen: list[str], budget: int, calls: bool) -> None:
    """The whole fits the budget, or nothing is left but system prompt and last observation."""
    sent = talk_of(*seen, budget=budget, calls=calls).messages()
    tokens = sum(tokens_of(each.content) for each in sent)
    assert tokens <= budget + 20 or len(sent) == 2
    assert sent[0].content == "system"
    assert sent[-1].content.endswith(seen[-1])
    assert [each.role == "assistant" for each in sent[1:]] == [
        bool(place % 2) for place in range(len(sent) - 1)
    ]
