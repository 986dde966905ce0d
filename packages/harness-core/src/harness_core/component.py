"""Components, the *w* of `E' = w(E)`, and their composition.

`@` is function composition: `(outer @ inner)(env) == outer(inner(env))`. It is associative,
`Identity` is its unit, and it does not commute.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from attrs import field, frozen

from harness_core.env import ActionableEnv
from harness_core.errors import SpecError


@frozen
class Component(ABC):
    """A transformation of envs, as a value.

    Subclasses are frozen attrs classes whose fields are JSON values, other components or stack
    specs, so that a component survives a file. A component knows no policy and no episode.
    """

    @abstractmethod
    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        """`env`, wrapped."""

    def __matmul__(self, inner: Component) -> Component:
        if not isinstance(inner, Component):
            return NotImplemented
        return composition((inner, self))


@frozen
class Identity(Component):
    """Changes nothing: returns the env itself."""

    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        return env


def flatten(components: Iterable[Component]) -> tuple[Component, ...]:
    """`components`, innermost first, with compositions opened and identities dropped.

    Raises:
        SpecError: something in it is no component.
    """
    flat: list[Component] = []
    for component in (components,) if isinstance(components, Component) else components:
        if not isinstance(component, Component):
            raise SpecError(f"{component!r:.80} is no component, such as Stage([...]).")
        if isinstance(component, Composition):
            flat += component.components
        elif not isinstance(component, Identity):
            flat.append(component)
    return tuple(flat)


@frozen
class Composition(Component):
    """Several components as one; made by `@`.

    Args:
        components: innermost first.
    """

    components: tuple[Component, ...] = field(converter=flatten)

    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        return compose(env, *self.components)


def composition(components: Iterable[Component]) -> Component:
    """The one component that applies `components` in turn, innermost first."""
    flat = flatten(components)
    if len(flat) == 1:
        return flat[0]
    return Composition(flat) if flat else Identity()


def compose(env: ActionableEnv, *components: Component) -> ActionableEnv:
    """`env` wrapped in `components`, innermost first.

    Raises:
        SpecError: `env` is no env, or something else is no component.
    """
    if not isinstance(env, ActionableEnv):
        raise SpecError(f"{env!r:.80} is no env. Build one with make(id, ...).")
    for component in flatten(components):
        env = component(env)
    return env
