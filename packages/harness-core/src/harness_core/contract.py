"""`Contract`: rewrites actions, transitions and observations through three hooks.

    (A', O', T') = (f_A(A), f_O(O), f_T(T))

A contract holds neither the env nor a reward nor a verdict, so it can change none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from harness_core.component import Component
from harness_core.env import ActionableEnv
from harness_core.layer import Layer
from harness_core.registry import helper_source
from harness_core.values import Action, Blocked, EnvState, JsonDict, Observation, StepResult

if TYPE_CHECKING:
    from harness_core.sandbox import ContractSession


class StateView:
    """What a hook gets as `env_state`: an `EnvState` that is built only if it is read."""

    __slots__ = ("_built", "_read", "extras")

    def __init__(self, read: Callable[[], EnvState]) -> None:
        self._read = read
        self._built: EnvState | None = None
        self.extras: JsonDict = {}

    def now(self) -> EnvState:
        """The state of the world at the point where the hook runs."""
        if self._built is None:
            self._built = self._read()
        return self._built

    def forget(self) -> None:
        """The world moved on: the next reader gets a fresh state."""
        self._built = None

    @property
    def task(self) -> str:
        """Id of the current task."""
        return self.now().task

    @property
    def steps(self) -> int:
        """Actions that the agent has paid for since reset."""
        return self.now().steps

    @property
    def data(self) -> JsonDict:
        """The env's own facts."""
        return self.now().data


@frozen
class Contract(Component):
    """Subclass this and override any of the three hooks; each is the identity by default.

    A subclass with parameters is itself an `attrs.frozen` class. `env_state.extras` is the only
    memory a hook has; it lasts one episode.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in vars(cls):
            if name.startswith(("filter_", "modify_")) and not hasattr(Contract, name):
                raise TypeError(
                    f"{cls.__qualname__}.{name} is no hook and would never run. The hooks are "
                    "filter_action, modify_transition and filter_observation."
                )

    def __call__(self, env: ActionableEnv) -> Layer:
        from harness_core.contract_layer import ContractLayer

        return ContractLayer(env, self)

    @staticmethod
    def from_source(source: str, *, helpers: str = "") -> SourceContract:
        """A contract from text that defines exactly one subclass of `Contract`.

        The text is checked now and runs in the sandbox, always. `helpers` names the registered
        env whose pure helper functions the text may call.

        Raises:
            SourceRejected: with the line, and what to write instead.
        """
        return SourceContract(source, helpers)

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        """f_A: the action to execute instead, or why not to. Sees the state before the step."""
        return action

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        """f_T: the answer to give instead. Sees the executed action and the state after it."""
        return response

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        """f_O: what to show instead, of a reset, a step or a blocked action."""
        return observation


@frozen
class SourceContract(Component):
    """A contract as the text that a designer wrote; its hooks run in the sandbox.

    Args:
        source: defines exactly one subclass of `Contract`.
        helpers: id of the env that lends its helper functions; empty for none.
    """

    source: str = field()
    helpers: str = ""

    @source.validator
    def _check(self, _: Any, source: str) -> None:
        from harness_core.sandbox import check_source

        check_source(source)

    def __call__(self, env: ActionableEnv) -> Layer:
        from harness_core.contract_layer import ContractLayer

        return ContractLayer(env, self)

    def open_session(self, *, route: bool = False) -> ContractSession:
        """A fresh sandboxed worker for one episode."""
        from harness_core.sandbox import ContractSession

        lent = helper_source(self.helpers) if self.helpers else ""
        return ContractSession(self.source, helpers=lent, route=route)
