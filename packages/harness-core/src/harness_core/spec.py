"""`StackSpec`: a whole stack as plain data."""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve, field, frozen

from harness_core.component import Component, compose, flatten
from harness_core.env import ActionableEnv
from harness_core.errors import SpecError
from harness_core.layer import Layer
from harness_core.registry import construct, load
from harness_core.serial import canonical, digest_of, from_data, json_copy, to_data
from harness_core.values import JsonDict, exact

SCHEMA = 1
"""Version of the JSON form. A reader refuses newer ones."""


@frozen
class StackSpec:
    """An env and the components around it, as data.

    Args:
        env: registered id.
        task: id of the task; `None` leaves the choice to the env or to `reset`.
        components: innermost first.
        options: keyword arguments of the env's constructor, other than `task`; JSON values.
    """

    env: str
    task: str | None = None
    components: tuple[Component, ...] = field(default=(), converter=flatten, eq=exact)
    options: JsonDict = field(factory=dict, eq=exact, hash=False)

    def __attrs_post_init__(self) -> None:
        json_copy([self.env, self.task], f"The ids of env {self.env!r} and task {self.task!r}")
        if self.options:
            json_copy(self.options, f"The options of env {self.env!r}")
        for reserved in ("env", "task"):
            if reserved in self.options:
                raise SpecError(
                    f"The options of env {self.env!r} name {reserved!r}, which is no option: "
                    f"write StackSpec({reserved}=...)."
                )

    def build(self) -> ActionableEnv:
        """The live stack, not yet reset."""
        return compose(make(self.env, task=self.task, **self.options), *self.components)

    def wrapped(self, *components: Component) -> StackSpec:
        """The same stack with more components outside."""
        return evolve(self, components=(*self.components, *components))

    def to_dict(self) -> JsonDict:
        """The JSON form: `{"schema": 1, "env": ..., "task": ..., ...}`.

        Raises:
            SpecError: a component that no plugin registers.
        """
        return {"schema": SCHEMA, **to_data(self)}

    def to_json(self, indent: int | None = None) -> str:
        """The JSON form as text.

        Raises:
            SpecError: a component that no plugin registers, or that is not JSON.
        """
        data = self.to_dict()
        canonical(data)
        return json.dumps(data, indent=indent, ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: object) -> StackSpec:
        """Reads what `to_dict` wrote.

        Raises:
            SpecError: what does not fit, and where.
            UnknownIdError: a component that is not registered here.
        """
        if not isinstance(data, dict):
            raise SpecError(f"A stack is a JSON object, not {type(data).__name__}.")
        schema = data.get("schema")
        if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
            raise SpecError(f'A stack names its "schema", a whole number from 1; got {schema!r}.')
        if schema > SCHEMA:
            raise SpecError(
                f"This stack has schema {schema}; this version reads up to {SCHEMA}. "
                "Upgrade harness-core, or write the stack anew with the version at hand."
            )
        return from_data({name: value for name, value in data.items() if name != "schema"}, cls)

    @classmethod
    def from_json(cls, text: str) -> StackSpec:
        """Reads what `to_json` wrote.

        Raises:
            SpecError: not JSON, or not a stack.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise SpecError(f"This is not JSON: {error}.") from error
        except RecursionError as error:
            raise SpecError("This JSON is nested too deeply to be a stack.") from error
        return cls.from_dict(data)

    @property
    def digest(self) -> str:
        """Content hash, 64 hexadecimal digits. Equal stacks have equal digests everywhere."""
        return digest_of(self.to_dict())


def spec_of(env: ActionableEnv) -> StackSpec:
    """How to build `env` again, components included.

    Raises:
        SpecError: the base env was not made by `make` or `StackSpec.build`.
    """
    components: list[Component] = []
    while isinstance(env, Layer):
        components.append(env.component)
        env = env.inner
    if env.origin is None:
        raise SpecError(
            f"{type(env).__name__} was built by hand, so nothing says how to build it again. "
            "Build it with make(id, ...)."
        )
    return evolve(env.origin, components=tuple(reversed(components)))


def make(env: str, task: str | None = None, **options: Any) -> ActionableEnv:
    """The registered env `env`, not yet reset.

    Raises:
        UnknownIdError: no plugin registers `env`.
        MissingExtraError: its dependencies are not installed; the message has the command.
        UnknownTaskError: the env has no such task.
        SpecError: an option that the env does not take.
    """
    load("env", env)  # an unknown env is told before wrong options are
    origin = StackSpec(env, task, (), options)
    built: ActionableEnv = construct("env", env, {"task": task, **options})
    built.origin = origin
    return built
