"""`Contract`: rewrites actions, transitions and observations through three hooks.

    (A', O', T') = (f_A(A), f_O(O), f_T(T))

A contract holds neither the env nor a reward nor a verdict, so it can change none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

from harness_core.component import Component
from harness_core.env import ActionableEnv
from harness_core.errors import ContractError, HarnessError
from harness_core.layer import Layer
from harness_core.registry import helper_source
from harness_core.values import (
    Action,
    Blocked,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Transition,
)

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

    def __call__(self, env: ActionableEnv) -> Layer:
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
        return ContractLayer(env, self)

    def open_session(self, *, route: bool = False) -> ContractSession:
        """A fresh sandboxed worker for one episode."""
        from harness_core.sandbox import ContractSession

        lent = helper_source(self.helpers) if self.helpers else ""
        return ContractSession(self.source, helpers=lent, route=route)


class Hooks(Protocol):
    """The hooks as the layer calls them, wherever they run."""

    def before(self, action: Action) -> Action | Blocked:
        """f_A."""

    def after(self, action: Action, response: StepResult) -> StepResult:
        """f_T, then f_O on its observation."""

    def show(self, observation: Observation) -> Observation:
        """f_O."""

    def save(self) -> JsonDict:
        """The extras."""

    def close(self) -> None:
        """Frees what runs the hooks."""


class ClassHooks:
    """The hooks of a Python class, called in this process."""

    __slots__ = ("_contract", "_filter_action", "_filter_observation", "_modify_transition", "view")

    def __init__(self, contract: Contract, view: StateView) -> None:
        self._contract = contract
        self._filter_action = contract.filter_action
        self._modify_transition = contract.modify_transition
        self._filter_observation = contract.filter_observation
        self.view = view

    def before(self, action: Action) -> Action | Blocked:
        view = self.view
        view._built = None
        try:
            allowed = self._filter_action(action, view)
        except Exception as error:
            raise self._raised("filter_action", error) from error
        if allowed is not action and not isinstance(allowed, Action | Blocked):
            raise self._returned("filter_action", "an Action or Blocked", allowed)
        return allowed

    def after(self, action: Action, response: StepResult) -> StepResult:
        view = self.view
        view._built = None
        try:
            answer = self._modify_transition(action, response, view)
        except Exception as error:
            raise self._raised("modify_transition", error) from error
        if answer is not response and not isinstance(answer, StepResult):
            raise self._returned("modify_transition", "a StepResult", answer)
        observation = answer.observation
        shown = self._show(observation)
        return answer if shown is observation else answer.replace(observation=shown)

    def show(self, observation: Observation) -> Observation:
        self.view._built = None
        return self._show(observation)

    def _show(self, observation: Observation) -> Observation:
        try:
            shown = self._filter_observation(observation, self.view)
        except Exception as error:
            raise self._raised("filter_observation", error) from error
        if shown is not observation and not isinstance(shown, Observation):
            raise self._returned("filter_observation", "an Observation", shown)
        return shown

    def save(self) -> JsonDict:
        return dict(self.view.extras)

    def close(self) -> None:
        """Nothing to free."""

    def _raised(self, hook: str, error: Exception) -> HarnessError:
        if isinstance(error, HarnessError):
            return error
        name = type(self._contract).__name__
        return ContractError(f"{name}.{hook} raised {type(error).__name__}: {error}")

    def _returned(self, hook: str, wanted: str, got: object) -> ContractError:
        name = type(self._contract).__name__
        return ContractError(f"{name}.{hook} must return {wanted}, not {type(got).__name__}.")


class SourceHooks:
    """The hooks of a source text, called in its sandboxed worker."""

    def __init__(self, session: ContractSession, view: StateView) -> None:
        self._session = session
        self._view = view
        self._filters = "filter_action" in session.hooks
        self._rewrites = bool(session.hooks & {"modify_transition", "filter_observation"})
        self._shows = "filter_observation" in session.hooks

    def before(self, action: Action) -> Action | Blocked:
        self._view.forget()
        return self._session.filter_action(action, self._view.now) if self._filters else action

    def after(self, action: Action, response: StepResult) -> StepResult:
        self._view.forget()
        if not self._rewrites:
            return response
        return self._session.after(action, response, self._view.now)

    def show(self, observation: Observation) -> Observation:
        self._view.forget()
        if not self._shows:
            return observation
        return self._session.filter_observation(observation, self._view.now)

    @property
    def switch(self) -> int | None:
        """The segment that a route's last `modify_transition` switched to."""
        return self._session.switch

    def save(self) -> JsonDict:
        return self._session.save_extras()

    def close(self) -> None:
        self._session.close()


class ContractLayer(Layer):
    """Runs the hooks of one contract for one episode at a time."""

    component: Contract | SourceContract

    def __init__(self, inner: ActionableEnv, component: Contract | SourceContract) -> None:
        super().__init__(inner, component)
        self._view = StateView(inner.get_env_state)
        self._inner_step = inner.step
        self._hooks: Hooks | None = None
        self._executed: Action | None = None
        self._raw: Observation | None = None
        self._blocked = ""

    def _start(self, extras: JsonDict) -> Hooks:
        self.close_layer()
        self._view.extras = extras
        if isinstance(self.component, Contract):
            self._hooks = ClassHooks(self.component, self._view)
        else:
            session = self.component.open_session()
            self._hooks = SourceHooks(session, self._view)
            if extras:
                session.load_extras(extras)
        return self._hooks

    @property
    def _running(self) -> Hooks:
        if self._hooks is None:
            raise ContractError("No episode is running: call reset() first.")
        return self._hooks

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        start = self.inner.reset(seed=seed, options=options)
        self._executed = self._raw = None
        shown = self._start({}).show(start.observation)
        return start if shown is start.observation else start.replace(observation=shown)

    def step(self, action: Action) -> StepResult:
        hooks = self._hooks or self._running
        allowed = hooks.before(action)
        if isinstance(allowed, Blocked):
            return self._block(allowed.reason)
        response = self._inner_step(allowed)
        self._executed = allowed
        self._raw = response.observation
        answer = hooks.after(allowed, response)
        if answer is not response:
            self._check_ending(response, answer)
        return answer

    def _block(self, reason: str) -> StepResult:
        raw = self.inner.observe()
        self._executed, self._raw, self._blocked = None, raw, reason
        shown = self._running.show(raw)
        text = f"{reason}\n\n{shown.text}" if shown.text else reason
        return StepResult(shown.replace(text=text), info={"blocked": reason})

    def _check_ending(self, response: StepResult, answer: StepResult) -> None:
        if response.truncated and not answer.truncated:
            raise ContractError("modify_transition undid a truncation; an env's limit is final.")
        undone = response.terminated and not answer.terminated
        if undone and not self.reversible_endings:
            raise ContractError(
                "modify_transition turned an ending into a continuation, but this env's endings "
                "are final (reversible_endings is False). Refuse the action in filter_action."
            )

    def observe(self) -> Observation:
        return self._running.show(self.inner.observe())

    def last_transition(self) -> Transition | None:
        if self._raw is None:
            return None
        if self._executed is None:
            return Transition(None, self._raw, self._blocked)
        return super().last_transition() or Transition(self._executed, self._raw)

    def save_layer(self) -> JsonDict:
        return {"extras": self._running.save()}

    def load_layer(self, state: JsonDict) -> None:
        self._start(state["extras"])

    def close_layer(self) -> None:
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.close()
