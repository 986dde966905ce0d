"""Contracts with a magnitude, for any env with text observations."""

from __future__ import annotations

import re

from attrs import frozen

from harness_core.contract import Contract, StateView
from harness_core.values import Action, Blocked, Observation, StepResult

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n+|$)")


@frozen
class LongWay(Contract):
    """Drops teleports: a move arrives only when its command was repeated.

    Args:
        verb: how moves begin.
        toll: actions that all moves of an episode cost besides, in total.
        per_move: the most that one move costs besides.
    """

    verb: str = "go to"
    toll: int = 1
    per_move: int = 1

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        if not action.text.startswith(self.verb):
            return action
        memory = env_state.extras
        tries = memory.get("tries", 0) if memory.get("command") == action.text else 0
        paid = memory.get("paid", 0)
        if paid >= self.toll or tries >= self.per_move:
            memory["command"] = ""
            return action
        memory.update(command=action.text, tries=tries + 1, paid=paid + 1)
        return Blocked(f"You are still on the way. Repeat {action.text!r} to go on.")


@frozen
class EarlyEnd(Contract):
    """Ends the episode after some actions, solved or not.

    Args:
        steps: executed actions of an episode.
    """

    steps: int = 50

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        taken = env_state.extras["taken"] = env_state.extras.get("taken", 0) + 1
        if taken < self.steps or response.ended:
            return response
        return response.replace(truncated=True)


@frozen
class FirstSentences(Contract):
    """Keeps the first sentences of every observation.

    Args:
        count: how many.
    """

    count: int = 2

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        kept = "".join(_SENTENCE.findall(observation.text)[: self.count]).rstrip()
        return observation if kept == observation.text else observation.replace(text=kept)


@frozen
class WithholdAdmissible(Contract):
    """Leaves the list of admissible actions out of observations.

    Args:
        every: of which steps: 1 all and the start, 2 every second, ...
    """

    every: int = 1

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        env_state.extras["steps"] = env_state.extras.get("steps", 0) + 1
        return response

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        number = env_state.extras.get("steps", 0) + 1
        if number % self.every or "admissible" not in observation.data:
            return observation
        kept = {key: value for key, value in observation.data.items() if key != "admissible"}
        return observation.replace(data=kept)
