"""`Layer`: what a component becomes around an env."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from harness_core.component import Component
from harness_core.env import ActionableEnv
from harness_core.errors import CloseError
from harness_core.segment import Segment
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Transition,
    Verdict,
)

_FINAL = {
    "evaluate": "a customized env inherits the benchmark's own verifier",
    "step_signal": "the signal is the base env's",
    "save_state": "a stack is saved as a whole; override save_layer()",
    "judged": "only a chain has several parts",
    "active": "only a chain has several parts",
}
_CHAIN = "harness_core.chain"
"""The one module whose layer has several children."""


class Layer(ActionableEnv):
    """An env around another. Delegates everything; subclasses override what they change.

    A layer keeps this episode's state and nothing else: parameters live in its component.
    `evaluate`, `step_signal` and `save_state` are final. What a layer keeps is saved by
    `save_layer` and put back by `load_layer`.
    """

    def __init__(self, inner: ActionableEnv, component: Component) -> None:
        self.inner = inner
        self.component = component
        self.snapshots = inner.snapshots
        self.verifier_cost = inner.verifier_cost
        self.reversible_endings = inner.reversible_endings
        self.private_state = inner.private_state
        if type(self).step is Layer.step:
            vars(self)["step"] = inner.step  # a layer that leaves steps alone costs them nothing

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, why in _FINAL.items():
            of_chain = cls.__module__ == _CHAIN and name in ("judged", "active")
            if getattr(cls, name) is not getattr(Layer, name) and not of_chain:
                raise TypeError(
                    f"{cls.__qualname__} overrides {name}(), which is final in Layer: {why}. "
                    "To change what the agent sees or does, override step(), reset() or "
                    "observe(); for a different verifier, write an ActionableEnv."
                )

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        return self.inner.reset(seed=seed, options=options)

    def step(self, action: Action) -> StepResult:
        return self.inner.step(action)

    def observe(self) -> Observation:
        return self.inner.observe()

    def judged(self) -> Sequence[ActionableEnv | Segment]:
        """What this layer's verdict is the conjunction of: envs, or segments of a chain."""
        return (self.inner,)

    @final
    def evaluate(self) -> Verdict:
        """The child's verdict, untouched; of several, the conjunction."""
        parts = tuple(child.evaluate() for child in self.judged())
        return parts[0] if len(parts) == 1 else Verdict.conjunction(parts)

    def active(self) -> ActionableEnv:
        """The child that answers the agent now."""
        return self.inner

    @final
    def step_signal(self) -> float:
        return self.active().step_signal()

    def distance(self) -> float | None:
        """The base env's: what this layer makes longer or bars is not in it."""
        return self.active().distance()

    def last_transition(self) -> Transition | None:
        return self.active().last_transition()

    def get_env_state(self) -> EnvState:
        return self.inner.get_env_state()

    def save_layer(self) -> JsonDict:
        """This layer's own state of the episode, as JSON data."""
        return {}

    def load_layer(self, state: JsonDict) -> None:
        """Puts back what `save_layer` returned; the inner env is already restored."""

    @final
    def save_state(self) -> JsonDict:
        from harness_core.snapshots import snapshot

        return snapshot(self)

    @classmethod
    def from_state(cls, state: JsonDict) -> ActionableEnv:
        from harness_core.snapshots import restore

        return restore(state)

    def tools(self) -> tuple[Tool, ...]:
        return self.inner.tools()

    def state_schema(self) -> JsonDict:
        return self.inner.state_schema()

    def list_tasks(self) -> Sequence[Task]:
        return self.inner.list_tasks()

    def notify_replay_complete(self) -> None:
        self.inner.notify_replay_complete()

    def close(self) -> None:
        close_all([self.close_layer, self.inner.close])

    def close_layer(self) -> None:
        """Frees what this layer itself holds. May be called twice."""


def close_all(closers: Sequence[Any]) -> None:
    """Calls every closer, even when some fail.

    Raises:
        CloseError: after all were called, naming those that failed.
    """
    failed: list[Exception] = []
    for close in closers:
        try:
            close()
        except Exception as error:
            failed.append(error)
    if failed:
        told = "; ".join(f"{type(error).__name__}: {error}" for error in failed)
        raise CloseError(f"{len(failed)} of {len(closers)} parts failed to close: {told}")


def base_env(env: ActionableEnv) -> ActionableEnv:
    """The env under all layers (of a chain: under its first segment)."""
    while isinstance(env, Layer):
        env = env.inner
    return env
