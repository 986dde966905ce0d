"""JSON for every value, and content digests.

A component is written as `{"type": <registered id>, <field>: ...}`: ids, never import paths.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from types import GenericAlias
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_origin

from attrs import fields

from harness_core.component import Component
from harness_core.errors import HarnessError, InvalidAction, SpecError
from harness_core.registry import id_of, load
from harness_core.values import Action, JsonDict

if TYPE_CHECKING:
    from cattrs.preconf.json import JsonConverter

T = TypeVar("T")

MAX_NESTING = 256
"""Levels of lists and objects that are read; twice of what the deepest chains need."""


def to_data(value: object) -> Any:
    """`value` as JSON data.

    Raises:
        SpecError: a component that no plugin registers.
    """
    return _converter().unstructure(value)


def from_data(data: object, kind: type[T]) -> T:
    """The `kind` that `data` describes.

    Raises:
        SpecError: naming every field that does not fit.
        HarnessError: what a value's own checks say.
    """
    if too_deep(data):
        raise SpecError(f"This is nested more than {MAX_NESTING} levels deep.")
    with _Explained(kind.__name__):
        return _converter().structure(data, kind)


def component_of(data: object) -> Component:
    """The component that `data` describes, whatever its type.

    Raises:
        SpecError: naming every field that does not fit.
        UnknownIdError: no plugin registers its type.
    """
    return from_data(data, Component)  # type: ignore[type-abstract]  # read by its id


def canonical(data: object) -> str:
    """The one JSON text of `data`: sorted keys, no white space, no NaN.

    Raises:
        SpecError: it is not JSON.
    """
    try:
        text = json.dumps(
            data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        text.encode()  # half a character is a str, but no text
    except (TypeError, ValueError, RecursionError) as error:
        raise SpecError(f"This cannot be written as JSON: {error}.") from error
    return text


def json_copy(data: T, what: str) -> T:
    """A copy of `data` by way of its JSON text.

    Args:
        data: JSON values.
        what: what it is, for the message.

    Raises:
        SpecError: the copy would differ, or there is no such text.
    """
    try:
        copy: T = json.loads(canonical(data))
    except SpecError as error:
        raise SpecError(f"{what} are not JSON: {error}") from error
    if copy != data:
        raise SpecError(
            f"{what} would come back from JSON as {copy!r}. Use lists for tuples, and texts as "
            "keys."
        )
    return copy


def too_deep(data: object) -> bool:
    """Whether `data` has more than `MAX_NESTING` levels of lists and objects."""
    level = [data]
    for _ in range(MAX_NESTING + 1):
        level = [
            item
            for each in level
            if isinstance(each, dict | list | tuple)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def digest_of(data: object) -> str:
    """SHA-256 of the canonical JSON, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


@cache
def _converter() -> JsonConverter:
    from cattrs.preconf.json import make_converter  # a third of this package's import time

    converter = make_converter(forbid_extra_keys=True)
    for scalar in (bool, int, float, str):
        converter.register_structure_hook(scalar, _read_scalar)
    converter.register_structure_hook_func(_is_sequence, _read_sequence)
    converter.register_structure_hook(Action, lambda data, _: _read_action(data))
    converter.register_structure_hook(Component, lambda data, _: _read_component(data))
    converter.register_structure_hook(
        Component | None, lambda data, _: None if data is None else _read_component(data)
    )
    converter.register_unstructure_hook_func(_is_component, _write_component)
    converter.register_unstructure_hook_func(_is_json, lambda data: data)
    converter.register_structure_hook_func(_is_json, lambda data, _: _read_json(data))
    return converter


def _read_scalar(data: Any, kind: type[T]) -> T:
    """Nothing is converted: `"3"` is no number, and 3 no text."""
    if type(data) is kind or (kind is float and type(data) is int):
        return kind(data)  # type: ignore[call-arg]  # a scalar's own type takes it
    raise ValueError(f"got {data!r}")


def _is_sequence(kind: Any) -> bool:
    return get_origin(kind) is tuple and get_args(kind)[-1:] == (...,)


def _read_sequence(data: Any, kind: Any) -> Any:
    """For `tuple[X, ...]`: takes JSON lists alone, where cattrs takes texts and dicts as well."""
    if not isinstance(data, list | tuple):
        raise TypeError(f"got {data!r}, not a list")
    items: Any = GenericAlias(list, get_args(kind)[:1])
    return tuple(_converter().structure(data, items))


def _read_action(data: Any) -> Action:
    try:
        return Action.of(data)
    except InvalidAction as error:
        raise SpecError(str(error)) from error


def _is_json(kind: object) -> bool:
    return bool(kind == JsonDict)


def _read_json(data: object) -> JsonDict:
    if not isinstance(data, dict):
        raise SpecError(f"A JSON object is wanted, not {data!r}.")
    return data


def _is_component(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Component)


@cache
def _writer(kind: type[Component]) -> Callable[[Component], JsonDict]:
    from cattrs.gen import make_dict_unstructure_fn

    if "type" in {field.name for field in fields(kind)}:
        raise SpecError(f"{kind.__name__} has a field named 'type', which a spec needs: rename it.")
    return make_dict_unstructure_fn(kind, _converter())


@cache
def _reader(kind: type[Component]) -> Callable[[JsonDict, Any], Component]:
    from cattrs.gen import make_dict_structure_fn

    return cast(
        Callable[[JsonDict, Any], Component],
        make_dict_structure_fn(kind, _converter(), _cattrs_forbid_extra_keys=True),
    )


def _write_component(component: Component) -> JsonDict:
    kind = type(component)
    return {"type": id_of("component", kind), **_writer(kind)(component)}


def _read_component(data: object) -> Component:
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        raise SpecError(f'A component is written as {{"type": id, ...}}, not {data!r}.')
    given = {name: value for name, value in data.items() if name != "type"}
    kind = load("component", data["type"])
    with _Explained(f"component {data['type']!r}"):
        return _reader(kind)(given, kind)


class _Explained:
    """Turns what cattrs raises into one `SpecError`, or into the value's own error inside it."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, HarnessError):
            return
        _reraise_own(error)
        from cattrs import transform_error
        from cattrs.errors import BaseValidationError

        if isinstance(error, BaseValidationError):
            told = "; ".join(transform_error(error, path="it"))
            raise SpecError(f"This is no {self._what}: {told}.") from error
        if isinstance(error, TypeError | ValueError | KeyError | AttributeError):
            raise SpecError(f"This is no {self._what}: {error}.") from error


def _reraise_own(error: BaseException) -> None:
    if isinstance(error, HarnessError):
        raise error
    for inner in getattr(error, "exceptions", ()):
        _reraise_own(inner)
