"""Whether values have the types that the contract states."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

import attrs

from harness_core.values import EnvState, Observation, ResetResult, StepResult, Task, Tool, Verdict

_IMAGE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}


def json_problems(value: object, where: str) -> Iterator[str]:
    """What in `value` is not JSON data."""
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str:
                yield f"{where} has the key {key!r}; keys must be str."
            else:
                yield from json_problems(item, f"{where}[{key!r}]")
    elif type(value) is list:
        for index, item in enumerate(value):
            yield from json_problems(item, f"{where}[{index}]")
    elif type(value) is float and not math.isfinite(value):
        yield f"{where} is {value}, which is no JSON number."
    elif value is not None and type(value) not in (str, int, float, bool):
        yield (
            f"{where} is a {type(value).__name__}; use None, bool, int, float, str, list or dict."
        )


def _plain(
    value: object, kind: type[attrs.AttrsInstance], where: str, fields: dict[str, type]
) -> Iterator[str]:
    """Checks the type of `value` and of those of its fields that are named; dicts as JSON."""
    if type(value) is not kind:
        yield f"{where} is a {type(value).__name__}; return a {kind.__name__}."
        return
    for attribute in attrs.fields(kind):
        item = getattr(value, attribute.name)
        wanted = fields.get(attribute.name)
        if wanted is not None and type(item) is not wanted:
            yield f"{where}.{attribute.name} is {item!r}; it must be a {wanted.__name__}."
        elif wanted is dict:
            yield from json_problems(item, f"{where}.{attribute.name}")


def observation_problems(value: object, where: str) -> Iterator[str]:
    """For an `Observation`."""
    yield from _plain(value, Observation, where, {"text": str, "data": dict, "images": tuple})
    if isinstance(value, Observation):
        for image in value.images:
            if not isinstance(image, str) or not _IMAGE.fullmatch(image):
                yield f"{where}.images holds {str(image)[:40]!r}; use PNG or JPEG data URLs."
        admissible = value.data.get("admissible", [])
        if not isinstance(admissible, list) or not all(isinstance(a, str) for a in admissible):
            yield f'{where}.data["admissible"] must be a list of action texts.'


def task_problems(value: object, where: str) -> Iterator[str]:
    """For a `Task`."""
    texts = dict.fromkeys(("id", "goal", "family", "split"), str)
    yield from _plain(value, Task, where, {**texts, "data": dict})
    if isinstance(value, Task) and not value.id:
        yield f"{where}.id is empty; every task has an id."


def reset_problems(value: object, where: str) -> Iterator[str]:
    """For a `ResetResult`."""
    yield from _plain(value, ResetResult, where, {"info": dict})
    if isinstance(value, ResetResult):
        yield from observation_problems(value.observation, f"{where}.observation")
        yield from task_problems(value.task, f"{where}.task")


def step_problems(value: object, where: str) -> Iterator[str]:
    """For a `StepResult`."""
    flags = {"terminated": bool, "truncated": bool}
    yield from _plain(value, StepResult, where, {**flags, "info": dict})
    if isinstance(value, StepResult):
        yield from observation_problems(value.observation, f"{where}.observation")


def state_problems(value: object, where: str) -> Iterator[str]:
    """For an `EnvState`."""
    yield from _plain(value, EnvState, where, {"task": str, "steps": int, "data": dict})


def verdict_problems(value: object, where: str) -> Iterator[str]:
    """For a `Verdict`."""
    fields = {"success": bool, "score": float, "metrics": dict, "parts": tuple}
    yield from _plain(value, Verdict, where, fields)
    if isinstance(value, Verdict):
        if isinstance(value.score, float) and not 0 <= value.score <= 1:
            yield f"{where}.score is {value.score}; it must lie in [0, 1]."
        for index, part in enumerate(value.parts):
            yield from verdict_problems(part, f"{where}.parts[{index}]")


def tool_problems(tools: object) -> Iterator[str]:
    """For what `tools()` returns."""
    if not isinstance(tools, tuple):
        yield f"tools() returned a {type(tools).__name__}; return a tuple of Tool."
        return
    names = [getattr(tool, "name", None) for tool in tools]
    if len(set(names)) < len(names):
        yield f"tools() names one tool twice: {names}."
    for tool in tools:
        yield from _tool_problems(tool, f"tool {getattr(tool, 'name', tool)!r}")


def _tool_problems(tool: object, where: str) -> Iterator[str]:
    texts = dict.fromkeys(("name", "description", "text_argument"), str)
    yield from _plain(tool, Tool, where, {**texts, "parameters": dict})
    if not isinstance(tool, Tool):
        return
    if not _NAME.fullmatch(tool.name):
        yield f"{where}: a name is 1 to 64 letters, digits, `_` or `-`."
    if tool.parameters.get("type") != "object":
        yield f'{where}: its parameters must have "type": "object".'
    yield from schema_problems(tool.parameters, f"{where}.parameters")
    text = tool.parameters.get("properties", {}).get(tool.text_argument, {})
    if tool.text_argument and text.get("type") != "string":
        yield f"{where}: text_argument {tool.text_argument!r} must be a property of type string."


def schema_problems(schema: object, where: str) -> Iterator[str]:
    """What a JSON schema of an object gets wrong, as far as models trip over it."""
    if not isinstance(schema, dict):
        yield f"{where} must be a JSON schema, a dict; not a {type(schema).__name__}."
        return
    yield from json_problems(schema, where)
    kinds = schema.get("type", [])
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if kind not in _TYPES:
            yield f'{where} has the "type" {kind!r}; JSON schema knows {", ".join(sorted(_TYPES))}.'
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield f'{where}["properties"] must be a dict of schemas.'
        return
    for name, inner in properties.items():
        yield from schema_problems(inner, f"{where}.{name}")
    for name in schema.get("required", []):
        if name not in properties:
            yield f"{where} requires {name!r}, which is not among its properties."


def task_list_problems(tasks: Iterable[object]) -> Iterator[str]:
    """For what `list_tasks()` returns."""
    ids = []
    for position, task in enumerate(tasks):
        yield from task_problems(task, f"list_tasks()[{position}]")
        ids.append(getattr(task, "id", None))
    if len(set(ids)) < len(ids):
        yield "list_tasks() has an id twice; ids are unique."
