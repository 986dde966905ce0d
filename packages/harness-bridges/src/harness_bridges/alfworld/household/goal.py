"""The task sentence, understood."""

from __future__ import annotations

import re

from attrs import frozen

_VERB = {"clean": "clean", "hot": "heat", "heat": "heat", "cool": "cool", None: ""}

_SENTENCES = tuple(
    re.compile(sentence)
    for sentence in (
        r"put two (?P<object>\w+) in (?P<place>\w+)",
        r"find two (?P<object>\w+) and put them in (?P<place>\w+)",
        r"put a (?P<verb>clean|hot|cool) (?P<object>\w+) in (?P<place>\w+)",
        r"(?P<verb>clean|heat|cool) some (?P<object>\w+) and put it in (?P<place>\w+)",
        r"put (?:a|some) (?P<object>\w+) (?:in|on) (?P<place>\w+)",
        r"look at (?P<object>\w+) under the (?P<lamp>\w+)",
        r"examine the (?P<object>\w+) with the (?P<lamp>\w+)",
    )
)


@frozen
class Goal:
    """What is asked for.

    Args:
        object: the type of the thing, such as `"mug"`.
        place: the type of the receptacle that it goes to; empty if it is to be looked at.
        verb: `"clean"`, `"heat"` or `"cool"` first; empty if none.
        copies: how many.
        lamp: the type of the lamp to look at it under; empty if none.
    """

    object: str
    place: str = ""
    verb: str = ""
    copies: int = 1
    lamp: str = ""


def read_goal(sentence: str) -> Goal | None:
    """The goal of one of the benchmark's twelve sentences; `None` for anything else."""
    for form in _SENTENCES:
        if match := form.fullmatch(sentence.strip().rstrip(".").lower()):
            said = match.groupdict()
            return Goal(
                object=said["object"],
                place=said.get("place") or "",
                verb=_VERB[said.get("verb")],
                copies=2 if " two " in match[0] else 1,
                lamp=said.get("lamp") or "",
            )
    return None
