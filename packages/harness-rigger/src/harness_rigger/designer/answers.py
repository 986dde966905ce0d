"""Reads what a designer model answered, however it is wrapped."""

from __future__ import annotations

import json
from typing import Any, get_args

from attrs import frozen

from harness_core.models.answers import Unusable, read_json
from harness_core.values import JsonDict
from harness_rigger.objectives import Direction
from harness_rigger.strategy import Skip

MODEL_SKIPS: tuple[Skip, ...] = ("hopeless", "no-weakness", "no-lever")
"""The reasons for leaving a task alone that a model may give."""

DIAGNOSIS: JsonDict = {
    "type": "object",
    "properties": {
        "weakness": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
        "direction": {"type": "string", "enum": [*get_args(Direction), "skip"]},
        "reason": {"type": "string", "enum": ["", *MODEL_SKIPS]},
    },
    "required": ["weakness", "evidence", "direction", "reason"],
    "additionalProperties": False,
}

CANDIDATE: JsonDict = {
    "type": "object",
    "properties": {
        "rationale": {"type": "string"},
        "components": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string"},
                    "actions": {"type": "array", "items": {}},
                    "source": {"type": "string"},
                    "task": {"type": "string"},
                    "spec": {"type": "object"},
                },
                "required": ["kind"],
            },
        },
    },
    "required": ["rationale", "components"],
}


@frozen
class Proposal:
    """A candidate as it was written, not yet built.

    Args:
        rationale: why.
        components: innermost first, each a JSON object.
    """

    rationale: str
    components: tuple[JsonDict, ...]


@frozen
class Opinion:
    """A diagnosis as it was written.

    Args:
        weakness: in words.
        evidence: the steps that show it.
        direction: where the env should go; `None` to skip the task.
        skip: why, then.
    """

    weakness: str
    evidence: tuple[str, ...]
    direction: Direction | None
    skip: Skip | None


def read_opinion(text: str) -> Opinion:
    """The diagnosis in a model's answer.

    Raises:
        Unusable: naming everything that is wrong with it.
    """
    data = read_object(text, "direction")
    wrong = []
    weakness, direction = _text(data.get("weakness")), _text(data.get("direction")).lower()
    if not weakness:
        wrong.append('"weakness" is a sentence')
    evidence = data.get("evidence") or []
    evidence = evidence if isinstance(evidence, list) else [evidence]
    steps = tuple(filter(None, map(_text, evidence)))
    reason = _text(data.get("reason")).lower()
    if direction not in (*get_args(Direction), "skip"):
        wrong.append(f'"direction" is "harder", "easier" or "skip", not {direction!r:.60}')
    elif direction != "skip" and not steps:
        wrong.append('"evidence" names at least one step of a rollout')
    elif direction == "skip" and reason not in MODEL_SKIPS:
        wrong.append(f'"reason" of a skip is one of {", ".join(MODEL_SKIPS)}, not {reason!r:.60}')
    if wrong:
        raise Unusable("; ".join(wrong) + ".")
    if direction == "skip":
        skip = next(each for each in MODEL_SKIPS if each == reason)
        return Opinion(weakness, steps, None, skip)
    return Opinion(weakness, steps, "harder" if direction == "harder" else "easier", None)


def read_proposal(text: str) -> Proposal:
    """The candidate in a model's answer.

    Raises:
        Unusable: it holds none.
    """
    data = read_object(text, "components")
    components = data["components"]
    if isinstance(components, dict):
        components = [components]
    if not isinstance(components, list) or not components:
        raise Unusable('"components" is a list of at least one component, innermost first.')
    for number, each in enumerate(components, start=1):
        if not isinstance(each, dict):
            raise Unusable(f'Component {number} is no JSON object {{"kind": ...}}: {each!r:.60}.')
    return Proposal(_text(data.get("rationale")) or "no rationale given", tuple(components))


def read_object(text: str, key: str) -> JsonDict:
    """The last JSON object with `key` in a text with fences, prose or thoughts around it.

    Raises:
        Unusable: there is none.
    """
    wanted = f'JSON object with "{key}"'
    found: JsonDict = read_json(text, lambda each: isinstance(each, dict) and key in each, wanted)
    return found


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return "" if value is None else json.dumps(value)
