"""Finds the action in what a model wrote. No text makes these functions raise."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from attrs import frozen

from harness_core.errors import SpecError, as_unicode
from harness_core.serial import canonical
from harness_core.values import Action, JsonDict, Tool

MAX_DEPTH = 32
"""Levels that the arguments of a call may be nested."""

_NAMES = ("name", "tool", "function", "action")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input")

_THINK = re.compile(r"<\s*(think|thinking|thought|thoughts)\s*>", re.I)
_THOUGHT = re.compile(r"<\s*/\s*(think|thinking|thought|thoughts)\s*>", re.I)
_OPEN = re.compile(r"<\s*action\s*>", re.I)
_CLOSE = re.compile(r"<\s*/\s*action\s*>", re.I)
_LABEL = re.compile(r"^[^\w\n]*action[ \t\d*_]*:[ \t*_]*", re.I | re.M)
_INPUT = re.compile(r"^[^\w\n]*action[ \t_]*input[ \t\d*_]*:[ \t*_]*", re.I | re.M)
_NEXT = re.compile(r"^[^\w\n]*(?:observation|thought|answer)[ \t\d*_]*:", re.I | re.M)
_TOOL_CALL = re.compile(r"<[\s/]*tool_call\s*>", re.I)
_FENCE = re.compile(r"```(?:[ \t]*\w*[ \t]*\n)?")
_CALL = re.compile(r"([\w.-]+)[ \t]*\(")
_CALL_OF_JSON = re.compile(r"[\w.-]+[ \t]*\(\s*\{")
_QUOTES = {'"': '"', "'": "'", "`": "`", "[": "]", "“": "”", "«": "»"}


@frozen
class Found:
    """What was found in a text.

    Args:
        action: as the model wrote it, text or a call as JSON; empty if there is none.
        several: how many different actions the text held; the first one counts.
        problem: why there is no action; empty if there is one.
    """

    action: str = ""
    several: int = 1
    problem: str = ""


def find_tagged(text: str) -> Found:
    """The action of an answer that should look like `<think>...</think> <action>...</action>`.

    Tags inside thoughts do not count. Also read are labels (`Action: ...`) and JSON
    (`{"action": ...}`), for models that prefer them.
    """
    answer = without_thoughts(text)
    return _first(answer, (_tagged, _json, _labelled), "no <action>...</action>", text)


def find_labelled(text: str) -> Found:
    """The action of an answer that should look like `Thought: ...`, `Action: ...`.

    Also read are tags (`<action>...</action>`) and JSON (`{"action": ...}`).
    """
    answer = without_thoughts(text)
    return _first(answer, (_labelled, _tagged, _json), 'no line "Action: ..."', text)


def without_thoughts(text: str) -> str:
    """`text` without what is inside think tags.

    A closing tag without its opening one ends a thought that began before the text. A thought
    that is never closed takes all the rest, unless the text ends with a whole action.
    """
    kept, rest = "", text
    while opened := _THINK.search(rest):
        closed = _THOUGHT.search(rest, opened.end())
        kept += rest[: opened.start()]
        if closed is None:
            return _after_thought(kept) + _last_action(rest[opened.end() :])
        rest = rest[closed.end() :]
    return _after_thought(kept + rest)


def _after_thought(text: str) -> str:
    closed = list(_THOUGHT.finditer(text))
    return text[closed[-1].end() :] if closed else text


def _last_action(thought: str) -> str:
    opened, closed = list(_OPEN.finditer(thought)), list(_CLOSE.finditer(thought))
    ends = opened and closed and not thought[closed[-1].end() :].strip()
    return thought[opened[-1].start() :] if ends else ""


def _first(
    answer: str, ways: Sequence[Callable[[str], list[str]]], missing: str, text: str
) -> Found:
    for way in ways:
        written = [cleaned for each in way(answer) if (cleaned := clean(each))]
        if written:
            return Found(written[0], len(dict.fromkeys(written)))
    if not text.strip():
        return Found(problem="The answer is empty.")
    if not answer.strip():
        return Found(problem="The answer is all thought: it has no action.")
    return Found(problem=f"The answer has {missing}.")


def _tagged(text: str) -> list[str]:
    """What stands in action tags; one that is missing ends with the text, or with the line."""
    found, place = [], 0
    while opened := _OPEN.search(text, place):
        closed = _CLOSE.search(text, opened.end())
        inner = text[opened.end() : closed.start() if closed else len(text)]
        inner = _OPEN.split(inner)[-1]  # a tag that was opened twice
        found.append(inner if closed else inner.strip().partition("\n")[0])
        place = closed.end() if closed else len(text)
    if not found and (closed := _CLOSE.search(text)):
        found.append(text[: closed.start()].strip().rpartition("\n")[2])
    return found


def _labelled(text: str) -> list[str]:
    """What stands after `Action:`; with `Action Input:` below, both as the JSON of a call."""
    found = []
    for part in _LABEL.split(text)[1:]:
        body = _NEXT.split(part)[0]
        given = _INPUT.search(body)
        if given is None:
            found.append(body)
            continue
        arguments = body[given.end() :]
        call = {
            "tool": clean(body[: given.start()]),
            "arguments": next(_objects(arguments), clean(arguments)),
        }
        found.append(json.dumps(call))
    return found


def _json(text: str) -> list[str]:
    """What stands under "action" in JSON objects, and objects that are calls."""
    found = []
    for data in _objects(text):
        action = data.get("action")
        if isinstance(action, dict):
            found.append(json.dumps(action))
        elif named_call(data) is not None:
            found.append(json.dumps(data))
        elif isinstance(action, str):
            found.append(action)
    return found


def clean(text: str) -> str:
    """One action without fences, quotes and white space around it, and without further lines.

    A call with JSON keeps all its lines.
    """
    text = _FENCE.sub("", text).strip()
    if text.startswith("{") or _CALL_OF_JSON.match(text):
        return text
    text = text.partition("\n")[0].strip()
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    return text


def listed_action(text: str, admissible: Sequence[str]) -> str:
    """The admissible action that is all that a model wrote, thoughts aside; empty if it is none."""
    answer = without_thoughts(text).strip()
    listed = _as_listed(clean(answer), admissible)
    return listed if "\n" not in answer and listed in admissible else ""


def read_action(
    written: str, tools: Sequence[Tool], admissible: Sequence[str] | None
) -> Action | str:
    """The action that a text stands for, or why it stands for none.

    Args:
        written: a call as JSON or as `name({"argument": value})`, or the text of an action.
        tools: of the env.
        admissible: the texts that the env lists; `None` if it lists none. One that differs only
            in case, white space or its full stop is taken as it is listed.
    """
    known = {tool.name for tool in tools}
    named = _CALL.match(written)
    if named and named[1] in known:
        rest = written[named.end() :]
        given = next(_objects(rest), None)
        return read_call(named[1], given or rest.strip().removesuffix(")"), tools)
    if written.startswith("{") and (data := next(_objects(written), None)) is not None:
        if (call := named_call(data)) is not None:
            return read_call(*call, tools)
        if isinstance(data.get("action"), str):
            written = clean(data["action"])
    if admissible is not None or not tools or any(tool.text_argument for tool in tools):
        return Action(text=as_unicode(_as_listed(written, admissible or ())))
    if written in known:
        return read_call(written, {}, tools)
    return f"{written[:80]!r} is no call of a tool. Write {usage(tools)}."


def read_call(name: str, arguments: object, tools: Sequence[Tool]) -> Action | str:
    """The action that a tool call stands for, or why it stands for none.

    Args:
        name: as the model wrote it.
        arguments: an object, or its JSON text, fenced or not.
        tools: of the env.
    """
    tool = next((tool for tool in tools if tool.name == name.strip()), None)
    if tool is None:
        return f"There is no tool {name[:80]!r}. Call {usage(tools)}."
    if isinstance(arguments, str):
        text = _FENCE.sub("", arguments).strip() or "{}"
        if tool.text_argument and not text.startswith("{"):
            return Action(text=as_unicode(clean(text)))
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError) as error:
            return f"The arguments of {tool.name} are no JSON ({error}): {text[:80]!r}."
    if not isinstance(arguments, dict):
        return f"The arguments of {tool.name} are a JSON object; got {str(arguments)[:80]!r}."
    if _depth(arguments) > MAX_DEPTH:
        return f"The arguments of {tool.name} are nested more than {MAX_DEPTH} levels deep."
    try:
        canonical(arguments)
    except SpecError as error:
        return f"The arguments of {tool.name}: {error}"
    if tool.text_argument and not isinstance(arguments.get(tool.text_argument), str):
        return f"{tool.name} needs a text as its argument {tool.text_argument!r}."
    return tool.call(arguments)


def find_call(text: str) -> tuple[str, Any] | None:
    """Name and arguments of a call that a model wrote into its text, in place of calling."""
    for data in _objects(_TOOL_CALL.sub(" ", without_thoughts(text))):
        if (call := named_call(data)) is not None:
            return call
    return None


def is_object(text: str) -> bool:
    """Whether a text is one JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def named_call(data: JsonDict) -> tuple[str, Any] | None:
    """Name and arguments of `{"name": ..., "arguments": ...}` and its kin."""
    inner = data.get("function")
    if isinstance(inner, dict):
        data = inner
    name = next((data[key] for key in _NAMES if isinstance(data.get(key), str)), None)
    arguments = next((data[key] for key in _ARGUMENTS if key in data), None)
    if name is None or not (isinstance(arguments, dict | str)):
        return None
    return name, arguments


def _objects(text: str) -> Iterator[JsonDict]:
    """The JSON objects in `text`, outermost only, one after the other."""
    decoder, place = json.JSONDecoder(), 0
    for _ in range(64):  # more braces are no answer, but a flood
        place = text.find("{", place)
        if place < 0:
            return
        try:
            data, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        if isinstance(data, dict) and _depth(data) <= MAX_DEPTH:
            yield data


def _depth(data: object) -> int:
    """Levels of lists and objects, counted no further than one beyond `MAX_DEPTH`."""
    level: list[object] = [data]
    for depth in range(MAX_DEPTH + 2):
        level = [item for each in level for item in _items(each)]
        if not level:
            return depth
    return MAX_DEPTH + 1


def _items(data: object) -> Iterable[object]:
    if isinstance(data, dict):
        return data.values()
    return data if isinstance(data, list) else ()


def _as_listed(text: str, admissible: Sequence[str]) -> str:
    if text in admissible:
        return text
    plain = _plain(text)
    return next((each for each in admissible if _plain(each) == plain), text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".! ")


def usage(tools: Sequence[Tool]) -> str:
    """How the tools are called, such as `walk({"way": ...}) or stop({})`."""
    shown = [f"{tool.name}({_example(tool)})" for tool in tools]
    return " or ".join(shown)


def _example(tool: Tool) -> str:
    names = list(tool.parameters.get("properties") or {})
    return "{" + ", ".join(f'"{name}": ...' for name in names) + "}" if names else "{}"
