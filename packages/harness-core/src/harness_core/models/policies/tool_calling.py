"""The policy `tool-calling`."""

from __future__ import annotations

from collections.abc import Sequence

from harness_core.models.policies.chat import Answer, ChatPolicy, cut_off, said
from harness_core.models.policies.prompts import system_prompt
from harness_core.models.policies.reading import find_call, is_object, read_call, usage
from harness_core.models.values import Message, Reply, ToolCall
from harness_core.values import Action, Task, Tool

_ACT = Tool(
    "act",
    "Does one action, worded as the environment words it.",
    {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]},
    text_argument="action",
)
"""Offered where an env has no tools."""


class ToolCallingPolicy(ChatPolicy):
    """Calls the env's tools, with a model and an endpoint that know tools.

    Of several calls in one answer the first is made. A call that the model wrote into its text
    counts as well. The options are those of `ChatPolicy`.
    """

    def _offered(self) -> tuple[Tool, ...]:
        return self._tools or (_ACT,)

    def _system(self, task: Task, texts: bool) -> str:
        how = "Think as long as it helps, then call one tool. Call exactly one in every turn."
        return system_prompt(task, ("Actions", how))

    def _read(self, reply: Reply, admissible: Sequence[str] | None) -> Answer:
        if reply.tool_calls:
            call = reply.tool_calls[0]
            action = read_call(call.name, call.arguments, self._offered())
            if isinstance(action, Action):
                number = len(reply.tool_calls)
                note = f"(The answer made {number} calls; only the first was done.)"
                return Answer(_kept(reply, call), action, note=note if number > 1 else "")
            return Answer(_kept(reply, call), problem=cut_off(reply) if _cut(reply) else action)
        message, written = said(reply.text), find_call(reply.text)
        if written is not None:
            action = read_call(*written, self._offered())
            if isinstance(action, Action):
                return Answer(message, action)
            return Answer(message, problem=action)
        if _cut(reply):
            return Answer(message, problem=cut_off(reply))
        empty = "The answer is empty." if not reply.text.strip() else "The answer calls no tool."
        return Answer(message, problem=f"{empty} Call {usage(self._offered())}.")


def _kept(reply: Reply, call: ToolCall) -> Message:
    """The answer with its call; as text, where a later request with the call would be refused."""
    arguments = call.arguments.strip() or "{}"
    if is_object(arguments):
        return Message(
            "assistant", reply.text, (ToolCall(call.id or "call", call.name, arguments),)
        )
    return said(f"{reply.text}\n\n{call.name}({call.arguments})".strip())


def _cut(reply: Reply) -> bool:
    return reply.finish == "length"
