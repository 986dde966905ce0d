"""The namespace in which generated code runs: stand-ins, safe builtins, thin modules.

Standard library only: this is loaded in the worker, where the package does not exist. The
stand-ins have the fields of `harness_core.values`; what a hook does to them stays in the worker.
"""

from __future__ import annotations

import builtins
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness_core.sandbox import allowed
else:
    import allowed

MAX_DEPTH = 64

encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class Sent:
    """The fields of a value as the host sent them, each read when a hook asks for it.

    A hook that leaves a field alone costs no parsing, and a field that nobody read cannot have
    been changed in place. What the source does not name comes as an empty line: it is asked for.
    """

    __slots__ = ("ask", "lines", "read")

    def __init__(self, lines: dict[str, str], ask: Callable[[str], str]) -> None:
        self.lines, self.ask = lines, ask
        self.read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.read:
            line = self.lines[name] = self.lines[name] or self.ask(name)
            self.read[name] = json.loads(line)
        return self.read[name]

    def untouched(self, name: str, value: Value) -> bool:
        """Whether a field of `value` is still what the host sent, to the byte."""
        if name not in self.lines:
            return False
        if value._sent is self and name not in value._fields and name not in self.read:
            return True
        held = getattr(value, name)
        if type(held) is str:
            return bool(held == self[name])
        if not self.lines[name]:
            return False
        try:
            return encode(held) == self.lines[name]
        except (TypeError, ValueError, RecursionError):
            return False


class Value:
    """A value whose fields are given, or wait in what the host sent. Frozen: it has no setters."""

    __slots__ = ("_fields", "_sent")
    _fields: dict[str, Any]
    _sent: Sent | None
    types: Mapping[str, tuple[type, ...]] = MappingProxyType({})
    lined: tuple[str, ...] = ()

    @classmethod
    def received(cls, lines: Sequence[str], ask: Callable[[str], str], **fields: Any) -> Any:
        """The value that `lines` describe, one for each field in `lined`."""
        return cls._made(fields, Sent(dict(zip(cls.lined, lines, strict=True)), ask))

    @classmethod
    def _made(cls, fields: dict[str, Any], sent: Sent | None) -> Any:
        value = cls.__new__(cls)
        value._fields, value._sent = fields, sent
        return value

    def __getattr__(self, name: str) -> Any:
        if name in self._fields:
            return self._fields[name]
        if name in self.types and self._sent is not None:
            value = self._fields[name] = self._sent[name]
            return value
        known = ", ".join(self.types)
        raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {known}")

    def replace(self, **changes: Any) -> Any:
        """A copy with some fields changed."""
        for name in changes:
            if name not in self.types:
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
        return self._made({**self._fields, **changes}, self._sent)

    def row(self) -> list[Any]:
        """All fields, in order."""
        return [getattr(self, name) for name in self.types]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.row() == other.row()

    def __hash__(self) -> int:
        fixed = [item for item in self.row() if not isinstance(item, dict)]
        return hash(tuple(tuple(item) if isinstance(item, list) else item for item in fixed))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.types)
        return f"{type(self).__name__}({fields})"


class Action(Value):
    """One act of the agent."""

    __slots__ = ()
    __match_args__ = lined = ("text", "tool", "arguments")
    types = MappingProxyType({"text": (str,), "tool": (str,), "arguments": (dict,)})

    def __init__(
        self, text: str = "", tool: str = "", arguments: dict[str, Any] | None = None
    ) -> None:
        self._fields = {
            "text": text,
            "tool": tool,
            "arguments": {} if arguments is None else arguments,
        }
        self._sent = None

    def __str__(self) -> str:
        if not self.tool:
            return str(self.text)
        return f"{self.tool}({json.dumps(self.arguments, sort_keys=True)})"


class Blocked(Value):
    """What `filter_action` returns instead of an action that must not reach the env."""

    __slots__ = ()
    __match_args__ = lined = ("reason",)
    types = MappingProxyType({"reason": (str,)})

    def __init__(self, reason: str) -> None:
        self._fields = {"reason": reason}
        self._sent = None


class Observation(Value):
    """What the agent gets to see."""

    __slots__ = ()
    __match_args__ = lined = ("text", "data", "images")
    types = MappingProxyType({"text": (str,), "data": (dict,), "images": (tuple, list)})

    def __init__(
        self, text: str = "", data: dict[str, Any] | None = None, images: tuple[str, ...] = ()
    ) -> None:
        self._fields = {"text": text, "data": {} if data is None else data, "images": images}
        self._sent = None


class StepResult(Value):
    """The env's answer to one action."""

    __slots__ = ()
    __match_args__ = ("observation", "terminated", "truncated", "info")
    lined = ("terminated", "truncated", "info")
    types = MappingProxyType(
        {
            "observation": (Observation,),
            "terminated": (bool,),
            "truncated": (bool,),
            "info": (dict,),
        }
    )

    def __init__(
        self,
        observation: Observation,
        terminated: bool = False,
        truncated: bool = False,
        info: dict[str, Any] | None = None,
    ) -> None:
        self._fields = {
            "observation": observation,
            "terminated": terminated,
            "truncated": truncated,
            "info": {} if info is None else info,
        }
        self._sent = None

    @property
    def ended(self) -> bool:
        """Whether no further step will be answered."""
        return bool(self.terminated or self.truncated)


class EnvState:
    """The env as data. Task, steps and data are asked of the host when a hook reads them."""

    __slots__ = ("_facts", "_read", "extras")

    def __init__(self, read: Callable[[], list[Any]], extras: dict[str, Any]) -> None:
        self._read = read
        self._facts: list[Any] | None = None
        self.extras = extras

    def __repr__(self) -> str:
        return "EnvState(...)"  # an address would differ from run to run

    def _fact(self, index: int) -> Any:
        if self._facts is None:
            self._facts = self._read()
        return self._facts[index]

    @property
    def task(self) -> str:
        return str(self._fact(0))

    @property
    def steps(self) -> int:
        return int(self._fact(1))

    @property
    def data(self) -> dict[str, Any]:
        facts: dict[str, Any] = self._fact(2)
        return facts


class RouteState(EnvState):
    """The `env_state` of a route: it knows the segments and may switch between them."""

    __slots__ = ("switch",)

    def __init__(self, read: Callable[[], list[Any]], extras: dict[str, Any]) -> None:
        super().__init__(read, extras)
        self.switch: int | None = None

    @property
    def segments(self) -> list[dict[str, Any]]:
        segments: list[dict[str, Any]] = self.data["segments"]
        return segments

    def switch_to(self, segment: int) -> None:
        """The next action goes to `segment`."""
        if type(segment) is not int or segment < 0:
            raise ValueError(f"switch_to takes the number of a segment, not {segment!r}")
        self.switch = segment


class Contract:
    """Base of the class that generated code defines; every hook is the identity."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"  # an address would differ from run to run

    def filter_action(self, action: Action, env_state: EnvState) -> Action | Blocked:
        return action

    def modify_transition(
        self, action: Action, response: StepResult, env_state: EnvState
    ) -> StepResult:
        return response

    def filter_observation(self, observation: Observation, env_state: EnvState) -> Observation:
        return observation


def _thin(module: str) -> ModuleType:
    real = importlib.import_module(module)
    thin = ModuleType(module)
    for name in allowed.public_names(module):
        setattr(thin, name, getattr(real, name))
    return thin


_MODULES = {module: _thin(module) for module in allowed.MODULES}
_MODULES["harness_core"] = ModuleType("harness_core")
_MODULES["__future__"] = ModuleType("__future__")
vars(_MODULES["__future__"])["annotations"] = None  # only its name is read
for _value in (Action, Blocked, Contract, Observation, StepResult):
    setattr(_MODULES["harness_core"], _value.__name__, _value)


def _import(
    name: str, _globals: Any = None, _locals: Any = None, _from: Any = (), level: int = 0
) -> ModuleType:
    if level or name not in _MODULES:
        raise ImportError(f"a contract may not import {name!r}")
    return _MODULES[name]


def namespace() -> dict[str, Any]:
    """Fresh globals for generated code, and for the helpers that a bridge lends it."""
    safe = {name: getattr(builtins, name) for name in sorted(allowed.BUILTINS)}
    safe |= {"__import__": _import, "__build_class__": builtins.__build_class__}
    return {"__builtins__": safe, "__name__": "contract"} | vars(_MODULES["harness_core"])


def not_json(value: Any, where: str, depth: int = 0) -> str:
    """What is wrong with `value` as JSON data; empty if nothing is."""
    if depth > MAX_DEPTH:
        return f"{where[:40]}... is nested more than {MAX_DEPTH} levels deep"
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                return f"{where} has the key {key!r}; keys must be str"
            if wrong := not_json(item, f"{where}[{key!r}]", depth + 1):
                return wrong
        return ""
    if kind is list:
        for index, item in enumerate(value):
            if wrong := not_json(item, f"{where}[{index}]", depth + 1):
                return wrong
        return ""
    if kind is float and value - value != 0:
        return f"{where} is {value!r}, which is no JSON number"
    if value is None or kind in (str, int, float, bool):
        return ""
    return f"{where} is a {kind.__name__}; use None, bool, int, float, str, list or dict"


def wrong_field(value: Value, name: str) -> str:
    """What is wrong with a field of a stand-in; empty if nothing is."""
    item, types = getattr(value, name), value.types[name]
    if type(item) not in types:
        kinds = " or ".join(kind.__name__ for kind in types)
        return f"{type(value).__name__}.{name} must be {kinds}, not {type(item).__name__}"
    return not_json(list(item) if isinstance(item, tuple) else item, name)
