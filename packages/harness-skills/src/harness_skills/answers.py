"""Reads what a model wrote where JSON was asked for, however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from harness_core.values import JsonDict

_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)  # takes line breaks inside texts
_START = re.compile(r"[\[{]")
_STARTS = 200
"""Places where JSON may begin that are tried."""


class Unusable(Exception):
    """An answer that cannot be used. The message tells its author why."""


def read_items(text: str, key: str) -> list[JsonDict]:
    """The objects in the list `key` of a JSON object, with keys in lower case.

    Thoughts, prose and fences around it do not matter; a bare list is taken as well. Of several,
    the last one counts. A list that was cut is none: half an answer is no answer.

    Raises:
        Unusable: there is no such list, or it holds something else.
    """
    text = _THOUGHTS.sub("", text)
    if not text.strip():
        raise Unusable("The answer is empty.")
    for place in (*reversed(_FENCE.findall(text)), text):
        lists = [items for value in _values(place) if (items := _list_in(value, key)) is not None]
        if lists:
            return [_object(item, key) for item in lists[-1]]
    raise Unusable(f'There is no whole JSON object {{"{key}": [...]}} in the answer. {_why(text)}')


def text_in(item: JsonDict, name: str) -> str:
    """A text of an object; lists become lines, and what is missing is empty."""
    value = item.get(name)
    if isinstance(value, list):
        return "\n".join(f"- {each}" for each in value if isinstance(each, str))
    return value.strip() if isinstance(value, str) else ""


def texts_in(item: JsonDict, name: str) -> list[str]:
    """The texts of a list in an object; one text counts as a list of it."""
    value = item.get(name)
    values = value if isinstance(value, list) else [value]
    return [each.strip() for each in values if isinstance(each, str) and each.strip()]


def _values(text: str) -> Iterator[Any]:
    """Every outermost JSON object in a text, and every list that no object begins before."""
    at = 0
    for _ in range(_STARTS):
        found = _START.search(text, at)
        if found is None:
            return
        try:
            value, at = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.end()
            continue
        if isinstance(value, dict) or "{" not in text[: found.start()]:
            yield value


def _list_in(value: Any, key: str) -> list[Any] | None:
    if isinstance(value, dict):
        value = {str(name).lower(): each for name, each in value.items()}.get(key)
        return value if isinstance(value, list) else None
    return value if value and isinstance(value[0], dict) else None


def _object(item: Any, key: str) -> JsonDict:
    if not isinstance(item, dict):
        raise Unusable(f'"{key}" holds {str(item)!r:.60}, which is no JSON object.')
    return {str(name).lower(): value for name, value in item.items()}


def _why(text: str) -> str:
    start = text.find("{")
    if start < 0:
        return "Answer with one JSON object and nothing else."
    try:
        _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        return f"What looks like one is not whole: {error}."
    return "Answer with that object and nothing else."
