"""The values that cross the interface between an agent and its environment.

All are frozen and slotted, compare by content, and hold nothing but JSON, so they survive a
process boundary, a file and a digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs
from attrs import field, frozen

from harness_core.errors import InvalidAction

JsonDict = dict[str, Any]
"""A JSON object: str keys; values are None, bool, int, float, str, list or another `JsonDict`."""


def exact(value: object) -> object:
    """A key for comparing JSON: 1, 1.0 and True differ in a file, so they differ here."""
    if isinstance(value, dict):
        return frozenset((key, exact(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(exact, value))
    if isinstance(value, int | float):
        return type(value), repr(value) if isinstance(value, float) else value
    kind = type(value)
    if attrs.has(kind):
        return kind, *(exact(getattr(value, each.name)) for each in attrs.fields(kind) if each.eq)
    return value


class _Replaceable:
    """Gives a frozen value the `replace` that hooks use to change one field."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]]

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        fields = {name: getattr(self, name) for name in self.__match_args__}
        return type(self)(**(fields | changes))


@frozen
class Action(_Replaceable):
    """One act of the agent: plain text, or a call of one of the env's tools.

    Args:
        text: what a text env executes, such as `"go to desk 1"`; empty for a tool call.
        tool: the name of the called tool; empty for plain text.
        arguments: the arguments of the call, by name.
    """

    text: str = ""
    tool: str = ""
    arguments: JsonDict = field(factory=dict, eq=exact, hash=False)

    @classmethod
    def of(cls, value: Action | str | Mapping[str, Any]) -> Action:
        """Reads an action from text, from `{"tool": ..., "arguments": ...}`, or from itself.

        Raises:
            InvalidAction: for anything else.
        """
        if isinstance(value, Action):
            return value
        if isinstance(value, str):
            return cls(text=value)
        if isinstance(value, Mapping) and value.keys() <= {"text", "tool", "arguments"}:
            text, tool = value.get("text", ""), value.get("tool", "")
            arguments = value.get("arguments", {})
            if isinstance(text, str) and isinstance(tool, str) and isinstance(arguments, Mapping):
                return cls(text, tool, dict(arguments))
        raise InvalidAction(
            f"{value!r} is no action. Write plain text, or "
            '{"tool": "name", "arguments": {...}} for a tool call.'
        )

    def __str__(self) -> str:
        if not self.tool:
            return self.text
        return f"{self.tool}({json.dumps(self.arguments, sort_keys=True)})"


@frozen
class Blocked:
    """What `filter_action` returns instead of an action that must not reach the env."""

    reason: str


@frozen
class Observation(_Replaceable):
    """What the agent gets to see.

    Args:
        text: the words.
        data: structured facts. `data["admissible"]`, where present, lists the texts of all
            actions that the env accepts now.
        images: PNG or JPEG pictures as data URLs.
    """

    text: str = ""
    data: JsonDict = field(factory=dict, hash=False)
    images: tuple[str, ...] = ()


@frozen
class Task:
    """One problem of a benchmark.

    Args:
        id: unique within the env.
        goal: what the agent is told to achieve.
        family: the kind of task, for tables by family.
        split: `"train"`, `"seen"`, `"unseen"`, ... as the benchmark names it.
        data: anything else that may be known about it before the first step.
    """

    id: str
    goal: str = ""
    family: str = ""
    split: str = ""
    data: JsonDict = field(factory=dict, hash=False)


@frozen
class Tool:
    """One tool of the action space.

    Args:
        name: unique within the env.
        description: for the agent.
        parameters: JSON schema of the arguments, `{"type": "object", ...}`.
        text_argument: set where the action space is plain text: the name of the one string
            argument whose value becomes `Action.text`.
    """

    name: str
    description: str = ""
    parameters: JsonDict = field(factory=lambda: {"type": "object", "properties": {}}, hash=False)
    text_argument: str = ""

    def call(self, arguments: JsonDict) -> Action:
        """The action that a call of this tool with `arguments` (by name) stands for."""
        if self.text_argument:
            return Action(text=str(arguments.get(self.text_argument, "")))
        return Action(tool=self.name, arguments=arguments)


@frozen
class ResetResult(_Replaceable):
    """The start of an episode: the first observation, and the task that it belongs to."""

    observation: Observation
    task: Task
    info: JsonDict = field(factory=dict, hash=False)


@frozen
class StepResult(_Replaceable):
    """The env's answer to one action.

    There is no reward here: success is `evaluate()`'s to decide, and a dense signal, where an
    env has one, is read with `step_signal()`. So nothing that rewrites answers can touch either.

    Args:
        observation: what the agent sees next.
        terminated: the episode ended by its own rules.
        truncated: the env itself gave up (its own limit).
        info: facts about the transition that are not part of the observation.
    """

    observation: Observation
    terminated: bool = False
    truncated: bool = False
    info: JsonDict = field(factory=dict, hash=False)

    @property
    def ended(self) -> bool:
        """Whether the episode is over. What an env says to later steps is its own affair."""
        return self.terminated or self.truncated


@frozen
class Transition:
    """The base env's side of the last step.

    Args:
        action: the action that the base env executed; `None` if a layer blocked it.
        observation: what the base env said, before any layer rewrote it.
        blocked: why the action was blocked; empty if it was not.
    """

    action: Action | None
    observation: Observation
    blocked: str = ""


@frozen
class EnvState:
    """The env as data, for hooks, designers and debuggers.

    Args:
        task: id of the current task.
        steps: actions that the agent has paid for since reset; replayed ones are free.
        data: the env's own facts, as `state_schema()` describes them. Two states of the world
            that differ for the verifier differ here.
    """

    task: str = ""
    steps: int = 0
    data: JsonDict = field(factory=dict, hash=False)


def _own_score(verdict: Verdict) -> float:
    return float(verdict.success)


@frozen
class Verdict:
    """The benchmark's own decision about an episode.

    Args:
        success: solved or not.
        score: in [0, 1]; partial credit where the benchmark gives it.
        metrics: named figures of the benchmark.
        parts: the verdicts of which this one is the conjunction; empty for a single env.
    """

    success: bool
    score: float = field(default=attrs.Factory(_own_score, takes_self=True))
    metrics: JsonDict = field(factory=dict, hash=False)
    parts: tuple[Verdict, ...] = ()

    @classmethod
    def conjunction(cls, parts: tuple[Verdict, ...]) -> Verdict:
        """All of `parts`: success if every part succeeds, the lowest score of any."""
        return cls(
            success=all(part.success for part in parts),
            score=min((part.score for part in parts), default=1.0),
            parts=parts,
        )
