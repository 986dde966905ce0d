"""The two published weaknesses on ALFWorld: the unopened container, the forgotten second object.

The designer is scripted, but knows no more than its prompt: it reads the state there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness_bridges.alfworld.games import generate_games
from harness_core import StackSpec
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool
from harness_core.testing.model_server import Seen
from harness_rigger.loop import Budget, Rigged, Rigger
from harness_rigger.weakness import Weakness
from support.designing import candidate, designer, diagnosis, stage

Script = Callable[[Seen], str]


def state_in(text: str) -> dict[str, Any]:
    """The env's state, out of a prompt."""
    written = text.partition("Its value at the start: ")[2]
    state: dict[str, Any] = json.JSONDecoder().raw_decode(written)[0]
    return state


def carried(state: dict[str, Any], thing: str, place: str) -> list[str]:
    """Commands that carry `thing` from where it lies open to `place`."""
    home = next(n for n, each in state["receptacles"].items() if thing in each["contents"])
    put = "move {} to {}" if state["dialect"] == "move" else "put {} in/on {}"
    return [
        f"go to {home}",
        f"take {thing} from {home}",
        f"go to {place}",
        put.format(thing, place),
    ]


def things(state: dict[str, Any], kind: str) -> list[str]:
    """All objects of a kind that lie open."""
    places = [each for each in state["receptacles"].values() if not each["openable"]]
    return [thing for each in places for thing in each["contents"] if thing.startswith(f"{kind} ")]


def named(goal: str) -> tuple[str, str]:
    """The kinds of the object and of the receptacle in a goal."""
    found = re.search(r"(?:put|place) (?:a|some|two) (\w+)(?: and put them)? (?:in|on) (\w+)", goal)
    assert found, goal
    return found[1], found[2]


@contextmanager
def game(family: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StackSpec]:
    """A generated game whose targets lie open."""
    (made,) = generate_games(root, count=1, seed=4, families=[family], receptacles=9, hidden=False)
    monkeypatch.setenv("ALFWORLD_DATA", str(root))
    yield StackSpec("alfworld", task=made.id)


def rig(script: Script, stack: StackSpec, policy: str, sentence: str) -> Rigged:
    with designer(script) as (_, session), RolloutPool(2) as pool:
        strategy = session.build("strategy", "llm", {})
        rigger = Rigger(
            pool,
            PolicySpec(policy),
            Weakness(sentence),
            strategy,
            budget=Budget(max_steps=50),
            teacher=PolicySpec("household"),
        )
        return rigger.rig(stack)


def test_the_unopened_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The target starts behind a closed door: who opens nothing falls, while a plan exists."""

    def script(seen: Seen) -> str:
        if "Write a candidate" not in seen.text:
            return diagnosis("harder", "it never opens anything")
        state = state_in(seen.text)
        kind, _ = named(state["goal"])
        box = next(n for n, each in state["receptacles"].items() if each["openable"])
        actions: list[str] = []
        for thing in things(state, kind):
            to, take, there, put = carried(state, thing, box)
            actions += [to, take, there, f"open {box}", put, f"close {box}"]
        return candidate(stage(*actions), rationale=f"{kind} behind the door of {box}")

    with game("pick_and_place_simple", tmp_path, monkeypatch) as stack:
        rigged = rig(
            script, stack, "household-no-open", "takes things without opening what is closed"
        )
    assert rigged.case.baseline.rate.value == 1.0
    assert rigged.outcome == "accepted"
    assert rigged.trial is not None
    assert rigged.trial.evidence.rate.value == 0.0
    assert rigged.trial.evidence.reachable is True
    assert rigged.diagnosis.weakness == "it never opens anything"


def test_the_forgotten_second_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first object in its place already, who forgets the second stops when it sees that:
    there was no rate to lose, but the failure stands alone, with less left to do."""

    def script(seen: Seen) -> str:
        if "Write a candidate" not in seen.text:
            return diagnosis("easier", "it stops after the first of two objects")
        state = state_in(seen.text)
        kind, home = named(state["goal"])
        place = next(name for name in state["receptacles"] if name.startswith(f"{home} "))
        first = next(
            t for t in things(state, kind) if t not in state["receptacles"][place]["contents"]
        )
        actions = carried(state, first, place)
        return candidate(stage(*actions), rationale="the first object is in its place")

    with game("pick_two_obj_and_place", tmp_path, monkeypatch) as stack:
        rigged = rig(script, stack, "household-forgets-second", "forgets the second of two objects")
    assert rigged.case.baseline.rate.value == 0.0
    assert rigged.diagnosis.direction == "easier"
    assert rigged.outcome == "accepted"
    assert rigged.trial is not None
    assert rigged.trial.evidence.rate.value == 0.0
    assert rigged.trial.distance is not None
    assert rigged.case.distance is not None
    assert rigged.trial.distance < rigged.case.distance
