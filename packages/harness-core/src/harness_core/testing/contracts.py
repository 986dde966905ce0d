"""Small contracts for tests, one for each thing that a hook may do."""

from __future__ import annotations

from attrs import frozen

from harness_core.chain import RouteView
from harness_core.contract import Contract, StateView
from harness_core.values import Action, Blocked, Observation, StepResult


@frozen
class KeepWords(Contract):
    """Shows the first `count` words of every observation."""

    count: int = 3

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        return observation.replace(text=" ".join(observation.text.split()[: self.count]))


@frozen
class Forbid(Contract):
    """Blocks the actions whose text is `word`."""

    word: str

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        return Blocked(f"{self.word} is forbidden.") if action.text == self.word else action


@frozen
class Swap(Contract):
    """Executes `instead` where the agent says `word`."""

    word: str
    instead: str

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        return action.replace(text=self.instead) if action.text == self.word else action


@frozen
class CountSteps(Contract):
    """Numbers the answers, from memory in `extras`, and ends the episode after `limit` steps."""

    limit: int = 0

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        count = env_state.extras["count"] = env_state.extras.get("count", 0) + 1
        text = f"[{count}, paid {env_state.steps}] {response.observation.text}"
        return response.replace(
            observation=response.observation.replace(text=text),
            terminated=response.terminated or count == self.limit,
        )


@frozen
class Handover(Contract):
    """A route: segment `target` follows segment 0, then the chain ends."""

    target: int = 1

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        assert isinstance(env_state, RouteView)
        if env_state.segments[0]["ended"] and not env_state.segments[self.target]["ended"]:
            env_state.switch_to(self.target)
        return response
