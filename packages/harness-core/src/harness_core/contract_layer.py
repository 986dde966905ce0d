"""What a contract becomes around an env: its hooks, called for one episode at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Never

from attrs import frozen

from harness_core.contract import Contract, SourceContract, StateView
from harness_core.env import ActionableEnv
from harness_core.errors import ContractError, HarnessError, told
from harness_core.layer import Layer
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


@frozen
class Hooks:
    """The hooks of one contract, wherever they run.

    Args:
        name: for messages.
        filter_action: f_A.
        modify_transition: f_T; where `joined`, f_O on its observation as well.
        filter_observation: f_O.
        joined: whether `modify_transition` includes f_O, to save a round trip.
        save: gives the extras.
        close: frees what runs the hooks.
        session: the sandboxed worker, if there is one.
    """

    name: str
    filter_action: Callable[[Action, StateView], Action | Blocked]
    modify_transition: Callable[[Action, StepResult, StateView], StepResult]
    filter_observation: Callable[[Observation, StateView], Observation]
    joined: bool
    save: Callable[[], JsonDict]
    close: Callable[[], None]
    session: ContractSession | None = None

    def after(self, action: Action, response: StepResult, view: StateView) -> StepResult:
        """f_T, checked.

        Raises:
            ContractError: the hook raised, or returned what is no step result.
        """
        try:
            answer = self.modify_transition(action, response, view)
        except Exception as error:
            raise self.raised("modify_transition", error) from error
        if answer is not response and not isinstance(answer, StepResult):
            raise self.returned("modify_transition", "a StepResult", answer)
        return answer

    def show(self, observation: Observation, view: StateView) -> Observation:
        """f_O, checked.

        Raises:
            ContractError: the hook raised, or returned what is no observation.
        """
        try:
            shown = self.filter_observation(observation, view)
        except Exception as error:
            raise self.raised("filter_observation", error) from error
        if shown is not observation and not isinstance(shown, Observation):
            raise self.returned("filter_observation", "an Observation", shown)
        return shown

    def raised(self, hook: str, error: Exception) -> HarnessError:
        """What an exception inside a hook becomes."""
        if isinstance(error, HarnessError):
            return error
        return ContractError(f"{self.name}.{hook} raised {told(error)}")

    def returned(self, hook: str, wanted: str, got: object) -> ContractError:
        """What a wrong answer of a hook becomes."""
        return ContractError(f"{self.name}.{hook} must return {wanted}, not {type(got).__name__}.")


def open_hooks(
    component: Contract | SourceContract,
    view: StateView,
    *,
    private: frozenset[str] = frozenset(),
    route: bool = False,
) -> Hooks:
    """The hooks of `component` for one episode.

    Args:
        component: whose hooks.
        view: what they get as `env_state`; its `extras` are their memory so far.
        private: names in the state that source text does not get to see: who wrote it might
            show them to an agent, or tell them in an error.
        route: whether they may switch between segments.
    """
    if isinstance(component, Contract):
        return Hooks(
            type(component).__name__,
            component.filter_action,
            component.modify_transition,
            component.filter_observation,
            joined=False,
            save=lambda: view.extras,
            close=lambda: None,
        )
    session = component.open_session(route=route)
    if view.extras:
        session.load_extras(view.extras)
    acts = "filter_action" in session.hooks
    shows = "filter_observation" in session.hooks
    answers = shows or "modify_transition" in session.hooks

    def told() -> EnvState:
        state = view.now()
        if private.isdisjoint(state.data):
            return state
        kept = {name: value for name, value in state.data.items() if name not in private}
        return EnvState(state.task, state.steps, kept)

    return Hooks(
        "The contract",
        lambda action, _: session.filter_action(action, told) if acts else action,
        lambda action, response, _: session.after(action, response, told) if answers else response,
        lambda seen, _: session.filter_observation(seen, told) if shows else seen,
        joined=True,
        save=session.save_extras,
        close=session.close,
        session=session,
    )


class ContractLayer(Layer):
    """Runs the hooks of one contract for one episode at a time."""

    component: Contract | SourceContract

    def __init__(self, inner: ActionableEnv, component: Contract | SourceContract) -> None:
        super().__init__(inner, component)
        self._view = StateView(inner.get_env_state)
        self._inner_step = inner.step
        self._hooks: Hooks | None = None
        self._filter_action: Callable[[Action, StateView], Action | Blocked] = _not_running
        self._executed: Action | None = None
        self._raw: Observation | None = None
        self._blocked = ""

    def _start(self, extras: JsonDict) -> Hooks:
        self.close_layer()
        self._view.forget()
        self._view.extras = extras
        hooks = self._hooks = open_hooks(self.component, self._view, private=self.private_state)
        self._filter_action = hooks.filter_action
        self._modify_transition = hooks.modify_transition
        self._filter_shown = _as_it_is if hooks.joined else hooks.filter_observation
        return hooks

    @property
    def _running(self) -> Hooks:
        return self._hooks or _not_running()

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        start = self.inner.reset(seed=seed, options=options)
        self._executed = self._raw = None
        shown = self._start({}).show(start.observation, self._view)
        return start if shown is start.observation else start.replace(observation=shown)

    def step(self, action: Action) -> StepResult:
        if type(action) is not Action:
            action = Action.of(action)
        view = self._view
        view._built = None
        try:
            allowed = self._filter_action(action, view)
        except Exception as error:
            raise self._running.raised("filter_action", error) from error
        if allowed is not action:
            if isinstance(allowed, Blocked):
                return self._block(allowed.reason)
            if not isinstance(allowed, Action):
                raise self._running.returned("filter_action", "an Action or Blocked", allowed)
        response = self._inner_step(allowed)
        view._built = None
        self._executed = allowed
        self._raw = response.observation
        try:
            answer = self._modify_transition(allowed, response, view)
        except Exception as error:
            raise self._running.raised("modify_transition", error) from error
        if answer is not response:
            self._check_answer(response, answer)
        observation = answer.observation
        try:
            shown = self._filter_shown(observation, view)
        except Exception as error:
            raise self._running.raised("filter_observation", error) from error
        if shown is observation:
            return answer
        if not isinstance(shown, Observation):
            raise self._running.returned("filter_observation", "an Observation", shown)
        return answer.replace(observation=shown)

    def _block(self, reason: str) -> StepResult:
        raw = self.inner.observe()
        self._executed, self._raw, self._blocked = None, raw, reason
        shown = self._running.show(raw, self._view)
        text = f"{reason}\n\n{shown.text}" if shown.text else reason
        return StepResult(shown.replace(text=text), info={"blocked": reason})

    def _check_answer(self, response: StepResult, answer: StepResult) -> None:
        if not isinstance(answer, StepResult):
            raise self._running.returned("modify_transition", "a StepResult", answer)
        if response.truncated and not answer.truncated:
            raise ContractError("modify_transition undid a truncation; an env's limit is final.")
        undone = response.terminated and not answer.terminated
        if undone and not self.reversible_endings:
            raise ContractError(
                "modify_transition turned an ending into a continuation, but this env's endings "
                "are final (reversible_endings is False). Refuse the action in filter_action."
            )

    def observe(self) -> Observation:
        self._view.forget()
        return self._running.show(self.inner.observe(), self._view)

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
        self._filter_action = _not_running
        if hooks is not None:
            hooks.close()


def _not_running(*_: object) -> Never:
    raise ContractError("No episode is running: call reset() first.")


def _as_it_is(observation: Observation, _: StateView) -> Observation:
    return observation
