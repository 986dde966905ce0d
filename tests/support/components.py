"""Components that only tests need."""

from __future__ import annotations

from attrs import frozen

from harness_core import (
    Action,
    ActionableEnv,
    Blocked,
    Component,
    Contract,
    Layer,
    Observation,
    StepResult,
)
from harness_core.contract import StateView


@frozen
class Through(Component):
    """A layer that changes nothing."""

    def __call__(self, env: ActionableEnv) -> Layer:
        return Layer(env, self)


@frozen
class Same(Contract):
    """All three hooks, each returning what it got."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        return action

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        return response

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        return observation


@frozen
class Equal(Contract):
    """All three hooks, each reading the state and returning an equal copy of what it got."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        assert isinstance(env_state.steps, int)
        return action.replace(arguments=dict(action.arguments))

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        assert env_state.data
        return response.replace(info=dict(response.info))

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        assert env_state.task
        return observation.replace(data=dict(observation.data))


@frozen
class Remember(Contract):
    """Keeps the executed actions in nested extras and shows them."""

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        seen = env_state.extras.setdefault("deep", {}).setdefault("seen", [])
        seen.append(action.text)
        shown = response.observation.replace(text=" ".join(seen))
        return response.replace(observation=shown)


@frozen
class Pair(Component):
    """Two components as arguments of one: `outer` around `inner`."""

    inner: Component
    outer: Component | None = None

    def __call__(self, env: ActionableEnv) -> ActionableEnv:
        wrapped = self.inner(env)
        return self.outer(wrapped) if self.outer else wrapped
