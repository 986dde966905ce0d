"""What a policy's model is told."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness_core.models.policies.reading import usage
from harness_core.values import Task, Tool

INTRODUCTION = (
    "You act in an environment to reach a goal. In every turn you read what the environment says "
    "and answer with one action; then you see what came of it."
)


def system_prompt(task: Task, *sections: tuple[str, str]) -> str:
    """The introduction, the sections that have a text, guidance if the task has some, the goal.

    Args:
        task: its `data["guidance"]` is advice from earlier episodes.
        sections: heading and text of each.
    """
    guidance = task.data.get("guidance")
    every = [*sections, ("Guidance", str(guidance or "")), ("Goal", task.goal)]
    return "\n\n".join(
        [INTRODUCTION, *(f"## {head}\n\n{text.strip()}" for head, text in every if text.strip())]
    )


def actions_section(tools: Sequence[Tool], texts: bool) -> str:
    """What an action may be, for a model that writes it down.

    Args:
        tools: of the env.
        texts: whether the env takes texts that it lists; calls are told of where it does not.
    """
    described = [tool.description for tool in tools if tool.text_argument and tool.description]
    if described:
        return "An action is one line of text. " + " ".join(described)
    if texts or not tools:
        return "An action is one line of text, worded as the environment words it."
    lines = [
        f"- {usage([tool])}: {tool.description} Arguments: {json.dumps(tool.parameters)}"
        for tool in tools
    ]
    return 'An action is a call, name({"argument": value}), of one of these:\n\n' + "\n".join(lines)


def admissible_list(admissible: Sequence[str]) -> str:
    """The actions that an env takes now."""
    return "Admissible actions:\n" + "\n".join(f"- {each}" for each in admissible)
