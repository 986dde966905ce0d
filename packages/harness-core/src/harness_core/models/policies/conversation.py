"""A policy's memory: the conversation so far, within so many tokens."""

from __future__ import annotations

from attrs import evolve, frozen

from harness_core.models.transcript import shorten, tokens_of
from harness_core.models.values import Message

LEAST = 30
"""Tokens that an old observation is shortened to before whole turns are left out."""


@frozen
class _Turn:
    """What was seen, and the answer to it; `None` while it is awaited."""

    seen: Message
    answer: Message | None = None

    @property
    def tokens(self) -> int:
        return _tokens(self.seen) + (_tokens(self.answer) if self.answer else 0)


class Conversation:
    """What a policy saw and said.

    Args:
        system: the system prompt; never shortened.
        budget: tokens that the whole may have, by `tokens_of`.
    """

    def __init__(self, system: str, budget: int) -> None:
        self._system = Message("system", system)
        self.budget = budget
        self._turns: list[_Turn] = []

    def see(self, text: str) -> None:
        """Adds an observation: the answer to the last turn's call, if it made one."""
        before = self._turns[-1].answer if self._turns else None
        if before is not None and before.tool_calls:
            message = Message("tool", text, tool_call_id=before.tool_calls[0].id)
        else:
            message = Message("user", text)
        self._turns.append(_Turn(message))

    def say(self, message: Message) -> None:
        """Adds the answer to the last observation."""
        self._turns[-1] = evolve(self._turns[-1], answer=message)

    def messages(self, aside: str = "") -> tuple[Message, ...]:
        """The conversation, ready to be sent.

        Where it is too long, the oldest observations are shortened first, then the oldest turns
        are left out. System prompt and last observation stay as they are.

        Args:
            aside: follows the last observation and is not remembered.
        """
        *old, last = self._turns
        seen = evolve(last.seen, content="\n\n".join(filter(None, [last.seen.content, aside])))
        excess = _tokens(self._system) + _tokens(seen) - self.budget
        kept = _within(old, excess)
        left_out = len(old) - len(kept)
        turns = [*kept, _Turn(seen)]
        if left_out:
            first = turns[0].seen
            note = f"(Earlier turns left out: {left_out}.)\n\n{first.content}"
            turns[0] = evolve(turns[0], seen=Message("user", note))
        said = [message for turn in turns for message in (turn.seen, turn.answer) if message]
        return (self._system, *said)


def _within(turns: list[_Turn], excess: int) -> list[_Turn]:
    """The turns, shortened and left out from the oldest on until `excess` is gone.

    Args:
        turns: oldest first.
        excess: by how many tokens all but these turns are over the budget.
    """
    excess += sum(turn.tokens for turn in turns)
    kept = []
    for turn in turns:
        if excess > 0:
            before, text = turn.tokens, turn.seen.content
            short = shorten(text, max(LEAST, tokens_of(text) - excess))
            turn = evolve(turn, seen=evolve(turn.seen, content=short))
            excess -= before - turn.tokens
        kept.append(turn)
    while kept and excess > 0:
        excess -= kept.pop(0).tokens
    return kept


def _tokens(message: Message) -> int:
    """About how many tokens a message has, with what frames it."""
    calls = sum(tokens_of(call.name + call.arguments) for call in message.tool_calls)
    return tokens_of(message.content) + calls + 4
