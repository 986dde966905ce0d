"""What a scripted model hears and says, and how that looks on the wire."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from attrs import field, frozen

from harness_core.policies import Usage
from harness_core.values import JsonDict


@frozen
class Seen:
    """One request, as it came in.

    Args:
        number: counts the requests of this kind from 0, in the order of their arrival.
        model: that was asked for.
        messages: the conversation, in the form of the protocol.
        tools: that the model may call, in the form of the protocol.
        schema: JSON schema that the answer must follow; `None` if there is none.
        body: the whole request.
        key: the API key that it came with.
    """

    number: int
    model: str
    messages: tuple[JsonDict, ...] = ()
    tools: tuple[JsonDict, ...] = ()
    schema: JsonDict | None = field(default=None, hash=False)
    body: JsonDict = field(factory=dict, hash=False, repr=False)
    key: str = field(default="", repr=False)

    @classmethod
    def of(cls, number: int, body: JsonDict, key: str) -> Seen:
        """Reads a request's body."""
        form = body.get("response_format") or {}
        schema = (form.get("json_schema") or {}).get("schema")
        messages, tools = body.get("messages") or (), body.get("tools") or ()
        model = str(body.get("model", ""))
        return cls(number, model, tuple(messages), tuple(tools), schema, body, key)

    @property
    def last(self) -> str:
        """The text of the last message."""
        return text_of(self.messages[-1]) if self.messages else ""

    @property
    def text(self) -> str:
        """The text of all messages, one after the other."""
        return "\n".join(map(text_of, self.messages))


@frozen
class Say:
    """One reply of a scripted model.

    Args:
        text: of the answer; of the error where `status` is one.
        reasoning: thoughts that are given apart.
        tool_calls: name and arguments of each call; arguments that are text are sent as they
            are, whether JSON or not.
        delay: seconds before the reply is sent. One beyond the client's patience is a hang.
        status: HTTP status.
        headers: further ones, such as `{"Retry-After": "1"}`.
        truncate: the connection is cut in the middle of the body.
        raw: sent as the body in place of everything above.
        finish: why the answer ended, such as `"length"` or `"content_filter"`; an answer with
            tool calls says `"tool_calls"` in place of `"stop"`.
        usage: tokens; `None` counts words.
        token_ids: sent to clients that ask with `return_token_ids`.
        logprobs: sent to clients that ask with `logprobs`.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: Sequence[tuple[str, JsonDict | str]] = ()
    delay: float = 0.0
    status: int = 200
    headers: Mapping[str, str] = field(factory=dict)
    truncate: bool = False
    raw: str | None = None
    finish: str = "stop"
    usage: Usage | None = None
    token_ids: Sequence[int] | None = None
    logprobs: Sequence[float] | None = None


Script = Callable[[Seen], Say | str] | Sequence[Say | str]
"""Decides every reply, or holds the replies in order. A text stands for `Say(text)`."""


def text_of(message: JsonDict) -> str:
    """The words of a message, be its content one text or parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def error_body(message: str, status: int) -> JsonDict:
    """The body of an error; no message means the usual one of the status."""
    message = message or HTTPStatus(status).phrase
    return {"error": {"message": message, "type": "scripted", "param": None, "code": status}}


def chat_reply(seen: Seen, say: Say) -> tuple[JsonDict, Usage]:
    """The body of a good answer, and what it cost."""
    usage = say.usage or _counted(seen, say)
    message: JsonDict = {"role": "assistant", "content": say.text}
    if say.reasoning:
        message["reasoning_content"] = say.reasoning
    if say.tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{seen.number}_{place}",
                "type": "function",
                "function": {"name": name, "arguments": _arguments(arguments)},
            }
            for place, (name, arguments) in enumerate(say.tool_calls)
        ]
    finish = "tool_calls" if say.tool_calls and say.finish == "stop" else say.finish
    choice: JsonDict = {"index": 0, "message": message, "finish_reason": finish}
    if say.logprobs is not None and seen.body.get("logprobs"):
        choice["logprobs"] = {
            "content": [
                {"token": f"t{place}", "logprob": value, "bytes": None, "top_logprobs": []}
                for place, value in enumerate(say.logprobs)
            ]
        }
    if say.token_ids is not None and seen.body.get("return_token_ids"):
        choice["token_ids"] = list(say.token_ids)
    body = {
        "id": f"chatcmpl-{seen.number}",
        "object": "chat.completion",
        "created": 0,
        "model": seen.model,
        "choices": [choice],
        "usage": _usage(usage),
    }
    return body, usage


def embedding_reply(model: str, texts: list[str], form: str, size: int) -> tuple[JsonDict, Usage]:
    """The body with the vectors of `texts`, and what it cost."""
    usage = Usage(sum(len(text.split()) for text in texts))
    data = [
        {"object": "embedding", "index": place, "embedding": _formed(embedding(text, size), form)}
        for place, text in enumerate(texts)
    ]
    return {"object": "list", "model": model, "data": data, "usage": _usage(usage)}, usage


def embedding(text: str, size: int = 256) -> list[float]:
    """A vector of length 1 from the character trigrams of `text`: similar texts are near.

    Args:
        text: empty text gives zeros.
        size: of the vector.
    """
    vector = [0.0] * size
    padded = f" {' '.join(text.lower().split())} ".encode()
    for place in range(len(padded) - 2):
        hashed = zlib.crc32(padded[place : place + 3])
        vector[(hashed >> 1) % size] += 1.0 if hashed & 1 else -1.0
    norm = math.sqrt(sum(value * value for value in vector))
    return [value / norm for value in vector] if norm else vector


def _formed(vector: list[float], form: str) -> Any:
    if form != "base64":
        return vector
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _usage(usage: Usage) -> JsonDict:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _arguments(arguments: JsonDict | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _counted(seen: Seen, say: Say) -> Usage:
    """Words that were read and written."""
    said = [say.text, say.reasoning]
    for name, arguments in say.tool_calls:
        said += [name, _arguments(arguments)]
    heard = [seen.text]
    for message in seen.messages:
        for call in message.get("tool_calls") or ():
            heard += [call["function"]["name"], call["function"]["arguments"]]
    for tool in seen.tools:
        heard.append(json.dumps(tool))
    return Usage(len(" ".join(heard).split()), len(" ".join(said).split()))
