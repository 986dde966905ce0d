"""ALFWorld games for tests: small generated ones, one made to order, and a draw of real ones."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

from harness_bridges.alfworld.games import FAMILIES, Game, find_games, read_game
from harness_bridges.alfworld.games.files import game_content
from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.room import Receptacle, Room, Thing, place
from harness_bridges.alfworld.games.task import TaskSpec
from harness_core import make
from harness_core.episode import run_episode
from harness_core.policies import PolicySpec, ScriptedPolicy

REAL = os.environ.get("ALFWORLD_DATA", "")
"""The data root of real games; empty if there is none."""


def kitchen(root: Path, task: TaskSpec, things: dict[str, str], extra: str = "") -> str:
    """Writes a game to order.

    Args:
        root: the data root.
        task: what is asked for.
        things: object type -> the type of the receptacle it lies on.
        extra: more facts, in PDDL.

    Returns:
        The id of the game.
    """
    rng = Random(0)
    kinds = ("Shelf", "Drawer", "Desk", "CounterTop", "SinkBasin", "Microwave", "Fridge")
    receptacles = {kind: _receptacle(kind, number) for number, kind in enumerate(kinds)}
    objects: list[Thing] = [place(kind, receptacles[where], rng) for kind, where in things.items()]
    room = Room(1, "kitchen", "loc|9|9|0|30", tuple(receptacles.values()), ())
    content = game_content(Problem(room, tuple(objects), task, task.sentence(0)))
    content["pddl_problem"] = content["pddl_problem"].replace("(:init", f"(:init\n{extra}")
    folder = f"train/{task.family}-{task.object}-None-{task.receptacle}-1/trial_made"
    (root / folder).mkdir(parents=True)
    content |= {"solvable": True, "walkthrough": []}
    (root / folder / "game.tw-pddl").write_text(json.dumps(content))
    return folder


def _receptacle(kind: str, number: int) -> Receptacle:
    id_ = f"{kind.removesuffix('Basin')}|+0{number}.00|00.50|00.00"
    id_ += f"|{kind}" if kind.endswith("Basin") else ""
    openable = kind in ("Drawer", "Microwave", "Fridge")
    return Receptacle(
        id_, kind, f"loc|{number}|0|0|60", openable, openable, (float(number), 0.5, 0.0)
    )


def real_games(each: int | None = None) -> list[Game]:
    """A fixed draw of real games: so many of every family, over all splits; or all seen ones."""
    games = find_games(Path(REAL))
    if each is None:
        return [game for game in games if game.split == "valid_seen"]
    rng = Random(0)
    drawn: list[Game] = []
    for family in FAMILIES:
        drawn += rng.sample([game for game in games if game.family == family], each)
    return drawn


def plays_walkthrough(game: Game, engine: str) -> bool:
    """Whether every step of the stored walkthrough is admissible and it wins at its end."""
    with make("alfworld", task=game.id, games=REAL, engine=engine) as env:
        shown = env.reset().observation
        steps: Sequence[str] = read_game(game.path)["walkthrough"]
        if not all(isinstance(step, str) for step in steps) or env.evaluate().success:
            return False
        episode = run_episode(env, ScriptedPolicy(steps), max_steps=len(steps))
        seen = [shown, *(step.shown for step in episode.steps[:-1])]
        listed = all(
            command in observation.data["admissible"]
            for command, observation in zip(steps, seen, strict=True)
        )
        return listed and episode.ending == "terminated" and episode.success is True


def wins(game: Game, engine: str, policy: PolicySpec, seed: int) -> tuple[bool, int]:
    """Whether the policy solves a real game within 50 steps, and in how many."""
    with make("alfworld", task=game.id, games=REAL, engine=engine) as env:
        episode = run_episode(env, policy.build(), max_steps=50, seed=seed)
        if episode.success is None:
            raise AssertionError(episode.failure)
        return episode.success, len(episode.steps)


def fewest_found(root: Path) -> int:
    """The fewest games that twenty looks at a data root find."""
    return min(len(find_games(root)) for _ in range(20))
