"""Requests and replies in the form of the OpenAI protocol."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from harness_core.models.values import Message, Reply, Request, ToolCall
from harness_core.policies import Usage
from harness_core.values import JsonDict, Tool

Scrub = Callable[[str], str]

MOST_TOKENS = 2**53
"""What an endpoint may count; more is a mistake of its own."""


def chat_body(request: Request) -> JsonDict:
    """The body of a chat request, without the model."""
    body: JsonDict = {
        "messages": [_message(each) for each in request.messages],
        "temperature": request.temperature,
    }
    if request.tools:
        body["tools"] = [_tool(each) for each in request.tools]
    if request.schema is not None:
        schema = {"name": "answer", "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.logprobs:
        body["logprobs"] = True
    return body


def _message(message: Message) -> JsonDict:
    data: JsonDict = {"role": message.role, "content": message.content}
    if message.tool_calls:
        data["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        data["tool_call_id"] = message.tool_call_id
    return data


def _tool(tool: Tool) -> JsonDict:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def reply_of(data: JsonDict, cost: float, scrub: Scrub) -> Reply:
    """Reads a chat reply.

    Args:
        data: the body.
        cost: US dollars.
        scrub: removes secrets from texts.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: it is no such reply.
    """
    choice = data["choices"][0]
    message = choice["message"]
    return Reply(
        text=scrub(_text(message.get("content"))),
        reasoning=scrub(_text(message.get("reasoning_content") or message.get("reasoning"))),
        tool_calls=tuple(_tool_call(call, scrub) for call in message.get("tool_calls") or ()),
        finish=scrub(_text(choice.get("finish_reason"))) or "stop",
        usage=usage_of(data),
        cost=cost,
        model=scrub(_text(data.get("model"))),
        token_ids=_token_ids(choice),
        logprobs=_logprobs(choice),
    )


def vectors_of(data: JsonDict, count: int) -> list[list[float]]:
    """Reads the vectors of an embedding reply, in the order of the texts.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: it is no such reply.
    """
    rows = sorted(data["data"], key=lambda row: int(row["index"]))
    if len(rows) != count:
        raise ValueError(f"{len(rows)} vectors for {count} texts")
    return [[_number(value) for value in row["embedding"]] for row in rows]


def usage_of(data: JsonDict) -> Usage:
    """The tokens of a reply; zeros where the endpoint does not count."""
    usage = data.get("usage") or {}
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _count(value: Any) -> int:
    return min(max(0, int(_number(value or 0))), MOST_TOKENS)


def _number(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError("a number that is not finite")
    return number


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} where a text belongs")
    return value.encode("utf-8", "replace").decode()  # half a character cannot be kept


def _tool_call(call: JsonDict, scrub: Scrub) -> ToolCall:
    function = call["function"]
    return ToolCall(
        scrub(_text(call.get("id"))),
        scrub(_text(function["name"])),
        scrub(_text(function.get("arguments"))),
    )


def _token_ids(choice: JsonDict) -> tuple[int, ...] | None:
    given: Any = choice.get("token_ids")
    if given is None:
        given = (choice.get("provider_specific_fields") or {}).get("token_ids")
    return None if given is None else tuple(int(_number(each)) for each in given)


def _logprobs(choice: JsonDict) -> tuple[float, ...] | None:
    content = (choice.get("logprobs") or {}).get("content")
    return None if content is None else tuple(_number(each["logprob"]) for each in content)
