"""Components that break one promise each."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from harness_core import (
    Action,
    ActionableEnv,
    Component,
    Contract,
    Identity,
    Layer,
    Observation,
    StepResult,
    Verdict,
)
from harness_core.contract import StateView
from harness_core.testing import CorridorEnv


@frozen
class Mutable(Component):
    """Its argument can be assigned."""

    count: int = 1

    def __call__(self, env: ActionableEnv) -> Layer:
        return Layer(env, self)


Mutable.__setattr__ = object.__setattr__  # type: ignore[method-assign]  # the broken promise


class Undecorated(Contract):
    """No attrs class of its own, so its argument is no field."""

    def __init__(self, count: int = 1) -> None:
        object.__setattr__(self, "count", count)


@frozen
class Uncompared(Contract):
    """Two that do different things are equal."""

    count: int = field(default=1, eq=False)


@frozen
class Hidden(Contract):
    """Its argument is set after construction, so a spec cannot hold it."""

    count: int = field(init=False, default=1)


@frozen
class Loose(Contract):
    """Its argument's annotation does not say what comes back from JSON."""

    counts: Any = (1, 2)


@frozen(eq=False)
class ByIdentity(Contract):
    """Equal only to itself."""

    count: int = 1


@frozen
class Impostor(Component):
    """Gives another env than the one to wrap."""

    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        return Layer(CorridorEnv("length-5"), self)


@frozen
class Unsigned(Component):
    """Its layer does not say which component made it."""

    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        return Layer(env, Identity())


class _GenerousEnv(CorridorEnv):
    inner: ActionableEnv

    def evaluate(self) -> Verdict:
        return Verdict(True)


@frozen
class Generous(Component):
    """Decides success itself."""

    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        return _GenerousEnv("length-5")


@frozen
class Leaky(Contract):
    """Remembers the last episode."""

    memory: tuple[int, ...] = ()
    _seen: list[str] = field(factory=list, init=False, eq=False, repr=False)

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        return observation.replace(text=f"{len(self._seen)} {observation.text}")

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        self._seen.append(action.text)
        return response


@frozen
class Counting(Contract):
    """Counts how often it was looked at, so that looking changes something."""

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        count = env_state.extras["looks"] = env_state.extras.get("looks", 0) + 1
        return observation.replace(text=f"{count} {observation.text}")
