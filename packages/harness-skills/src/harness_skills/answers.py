"""Reads what a skill writer answered."""

from __future__ import annotations

from typing import Any

from harness_core.models.answers import Unusable, read_json
from harness_core.values import JsonDict


def read_items(text: str, key: str) -> list[JsonDict]:
    """The objects in the list `key` of a JSON object, with keys in lower case.

    A bare list of objects is taken as well.

    Raises:
        Unusable: there is no such list, or it holds something else.
    """
    wanted = f'JSON object {{"{key}": [...]}}'
    value = read_json(text, lambda value: _list_in(value, key) is not None, wanted)
    return [_object(item, key) for item in _list_in(value, key) or []]


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


def _list_in(value: Any, key: str) -> list[Any] | None:
    if isinstance(value, dict):
        value = {str(name).lower(): each for name, each in value.items()}.get(key)
        return value if isinstance(value, list) else None
    return value if value and isinstance(value[0], dict) else None


def _object(item: Any, key: str) -> JsonDict:
    if not isinstance(item, dict):
        raise Unusable(f'"{key}" holds {str(item)!r:.60}, which is no JSON object.')
    return {str(name).lower(): value for name, value in item.items()}
