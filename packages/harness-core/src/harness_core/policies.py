"""Policies: one observation in, one action out."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import field, frozen

from harness_core.errors import InvalidAction, PolicyError
from harness_core.registry import construct, load
from harness_core.values import Action, JsonDict, Observation, Task, Tool


@frozen
class Usage:
    """Tokens of one call or of many; adds up with `+`."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


@frozen
class Decision:
    """What a policy answers.

    Args:
        action: what to do.
        text: the raw text that the policy produced, thoughts included.
        usage: the tokens it cost.
        invalid: why the policy's text is no action. The env is not asked, a step is charged, and
            the reason is shown with what the env says; `action` is then empty.
        info: what else shall be kept with the step, such as token ids; JSON data.
    """

    action: Action
    text: str = ""
    usage: Usage = field(factory=Usage)
    invalid: str = ""
    info: JsonDict = field(factory=dict, hash=False)


@frozen
class PolicySpec:
    """A registered policy as data.

    Args:
        id: what it is registered as.
        options: keyword arguments of its constructor; JSON values.
    """

    id: str
    options: JsonDict = field(factory=dict, hash=False)

    def build(self) -> Policy:
        """A fresh instance.

        Raises:
            UnknownIdError: no plugin registers `id`.
            SpecError: an option that the policy does not take.
        """
        policy: Policy = construct("policy", self.id, self.options)
        return policy

    @property
    def beside_env(self) -> bool:
        """Whether the policy may be built and called in the process of its env.

        A class says so by `beside_env = True`: it is quick, needs no network, and keeps nothing
        that other episodes have to see.

        Raises:
            UnknownIdError: no plugin registers `id`.
        """
        return getattr(load("policy", self.id), "beside_env", False) is True


@runtime_checkable
class Policy(Protocol):
    """An agent. One instance plays one episode at a time."""

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        """An episode starts. `seed` is all the randomness the policy may use."""

    def act(self, observation: Observation) -> Decision | None:
        """The next action, given the newest observation; `None` to give up."""


class ScriptedPolicy:
    """Plays a list of actions, then stops.

    Args:
        actions: texts, `{"tool": ..., "arguments": ...}`, or `Action`s.
    """

    beside_env = True

    def __init__(self, actions: Iterable[Action | str | Mapping[str, Any]]) -> None:
        if isinstance(actions, str):
            raise InvalidAction(f"A script is a list of actions, not one text: [{actions!r}]")
        self._actions = [Action.of(action) for action in actions]
        self._next = 0

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._next = 0

    def act(self, observation: Observation) -> Decision | None:
        """The next action of the list; `None` after the last."""
        if self._next >= len(self._actions):
            return None
        self._next += 1
        return Decision(self._actions[self._next - 1])


class RandomPolicy:
    """Picks evenly among `observation.data["admissible"]`."""

    beside_env = True

    def __init__(self) -> None:
        self._random = random.Random(0)

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._random = random.Random(seed)

    def act(self, observation: Observation) -> Decision:
        """One admissible action.

        Raises:
            PolicyError: the observation lists none.
        """
        admissible = observation.data.get("admissible")
        if not admissible:
            raise PolicyError("The random policy needs admissible actions in observation.data.")
        return Decision(Action(text=self._random.choice(admissible)))


class HumanPolicy:
    """Shows the observation and asks for an action; `?` lists what is admissible."""

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        print(f"Task {task.id}: {task.goal}")
        for tool in tools:
            print(f"  {tool.name}: {tool.description}")

    def act(self, observation: Observation) -> Decision | None:
        """What the person typed; `None` at the end of the input."""
        print(f"\n{observation.text}")
        while True:
            print("> ", end="", flush=True)
            line = sys.stdin.readline() if sys.stdin else ""
            if not line:
                return None
            line = line.strip()
            if line == "?":
                print("\n".join(observation.data.get("admissible", ["(not listed by this env)"])))
            elif line:
                return Decision(_typed(line), text=line)


def _typed(line: str) -> Action:
    """A typed line: JSON for a tool call, else plain text."""
    import json

    if line.startswith("{"):
        try:
            return Action.of(json.loads(line))
        except (ValueError, InvalidAction):
            pass
    return Action(text=line)
