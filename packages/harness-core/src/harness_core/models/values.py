"""What is asked of a model, and what it answers."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from harness_core.policies import Usage
from harness_core.values import JsonDict, Tool

Role = Literal["policy", "designer", "writer", "judge", "teacher"]
"""Whose call it is: costs are kept apart by role. A `writer` writes skills."""


@frozen
class ToolCall:
    """A call that a model made.

    Args:
        id: given by the endpoint.
        name: of the tool.
        arguments: as the model wrote them; JSON, if it did well.
    """

    id: str
    name: str
    arguments: str


@frozen
class Message:
    """One message of a conversation.

    Args:
        role: who speaks.
        content: the words.
        tool_calls: of an assistant.
        tool_call_id: of a tool's answer: the call that it answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@frozen
class Request:
    """Everything that decides a model's answer, but for the model and chance.

    Args:
        messages: the conversation so far.
        tools: that the model may call.
        schema: JSON schema that the answer's text must follow; `None` for free text.
        temperature: 0 for the likeliest answer.
        max_tokens: of the answer; `None` leaves it to the endpoint.
        stop: texts that end the answer.
        logprobs: ask for the log-probabilities of the sampled tokens.
    """

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    schema: JsonDict | None = field(default=None, hash=False)
    temperature: float = 1.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: bool = False


@frozen
class Reply:
    """A model's answer.

    Args:
        text: without the reasoning.
        reasoning: thoughts that the endpoint gives apart.
        tool_calls: in the model's order.
        finish: why it ended: `"stop"`, `"length"`, `"tool_calls"`, or what the endpoint says.
        usage: tokens, by the endpoint's count.
        cost: US dollars by litellm's price list; 0 where it knows no price.
        model: that answered, as the endpoint names it.
        token_ids: of the sampled tokens, where the endpoint gives them.
        logprobs: of the sampled tokens, natural logarithm, where the endpoint gives them.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: str = "stop"
    usage: Usage = field(factory=Usage)
    cost: float = 0.0
    model: str = ""
    token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
