"""Reads the JSON in what a model wrote, however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from harness_core.errors import as_unicode

MOST_TEXT = 400_000
"""Characters that are read."""

_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_THOUGHTS = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)  # takes line breaks inside texts, as models write source
_START = re.compile(r"[\[{]")
_STARTS = 200
"""Places where JSON may begin that are tried."""


class Unusable(Exception):
    """An answer that cannot be used. The message tells its author why."""


def read_json(text: str, fits: Callable[[Any], bool], wanted: str) -> Any:
    """The last JSON object or list that fits; fenced ones count before others.

    Thoughts, prose and fences around it do not matter. What was cut is none: half an answer is no
    answer.

    Args:
        text: the answer.
        fits: whether a value is what was asked for.
        wanted: that, in words, for the message.

    Raises:
        Unusable: there is none; where something was meant to be one, what is wrong with it.
    """
    text = _THOUGHTS.sub("", text[:MOST_TEXT])
    if not text.strip():
        raise Unusable("The answer is empty.")
    fenced = _FENCE.findall(text)
    for place in (*reversed(fenced), text):
        found = [value for value in _values(place) if fits(value)]
        if found:
            return _whole(found[-1])
    why = _why(fenced[-1] if fenced else text)
    raise Unusable(f"There is no whole {wanted} in the answer. {why}")


def _whole(value: Any) -> Any:
    """`value`, without the half characters that an escape can bring in."""
    if isinstance(value, str):
        return as_unicode(value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {as_unicode(name): _whole(each) for name, each in value.items()}
    return value


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


def _why(text: str) -> str:
    """What a JSON parser says about the first thing in `text` that looks like an object."""
    start = text.find("{")
    if start >= 0:
        try:
            _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            return f"What looks like one is not whole: {error}."
    return "Answer with one JSON object and nothing else."
