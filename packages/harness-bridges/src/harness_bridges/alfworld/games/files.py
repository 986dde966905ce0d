"""Games on disk, in the benchmark's layout and format: finding, reading and writing them.

`<root>/<split>/<family>-<Object>-<Movable|None>-<Receptacle>-<scene>/trial_<id>/game.tw-pddl`,
with a `traj_data.json` beside it where the benchmark's own loader needs one.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from harness_bridges.alfworld.games.index import list_trials
from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.room import room_kind
from harness_bridges.alfworld.games.task import BY_NAME
from harness_bridges.alfworld.games.whole import write_whole
from harness_core.errors import EnvError, UnknownIdError, UnknownTaskError

GAME_FILE = "game.tw-pddl"
_TRAJECTORY_FILE = "traj_data.json"
_KEYS = {"pddl_domain": str, "grammar": str, "pddl_problem": str, "walkthrough": list}
_SENTENCE = re.compile(r'Your task is to: ([^"\\]+)')
_HEAD = 24_000
"""Characters at the start of a game file within which the task sentence stands."""


@frozen
class Game:
    """One game file and what its folder's name says about it.

    Args:
        id: the folder of the game, relative to the data root, with `/`.
        family: one of `FAMILIES`.
        object: the type of the target object, such as `"Mug"`.
        receptacle: the type of the receptacle, or of the lamp.
        scene: the number of the room.
        split: `"train"`, `"valid_seen"`, ...
        root: the folder that holds the splits.
    """

    id: str
    family: str
    object: str
    receptacle: str
    scene: int
    split: str
    root: Path

    @property
    def path(self) -> Path:
        """The game file."""
        return Path(f"{self.root}/{self.id}/{GAME_FILE}")

    @property
    def room(self) -> str:
        """The kind of room, such as `"kitchen"`; empty for a scene that the benchmark lacks."""
        return room_kind(self.scene)

    @property
    def goal(self) -> str:
        """The task in words, read from the start of the game file.

        Raises:
            EnvError: the file cannot be read, or is no ALFWorld game.
        """
        try:
            with self.path.open(encoding="utf-8") as file:
                match = _SENTENCE.search(file.read(_HEAD))
        except (OSError, ValueError) as error:
            raise _unreadable(self.path, str(error)) from error
        match = match or _SENTENCE.search(read_game(self.path)["grammar"])
        if match is None:
            raise _unreadable(self.path, "its grammar has no line 'Your task is to: ...'")
        return match[1].strip().removesuffix(".")


def find_games(root: Path) -> list[Game]:
    """All games of the six families under a data root, sorted by id.

    Only names are read, no file, and those only once: an index in the data root remembers them,
    and notices what was added, removed or renamed. Folders of other families and with sliced
    objects are passed over, as the benchmark does. To choose games, filter the list::

        [game for game in find_games(root) if game.room == "kitchen" and game.object == "Mug"]

    Args:
        root: the folder that holds `train`, `valid_seen`, ...; or the one that holds it as
            `json_2.1.1`, as `ALFWORLD_DATA` does.

    Raises:
        UnknownIdError: there is no such folder.
    """
    root = _data_root(root)
    if not root.is_dir():
        known = [str(each) for each in root.parent.glob("*/")]
        raise UnknownIdError("data folder", str(root), known, "Make games with generate_games.")
    found = (_game(root, *names) for names in list_trials(root))
    games = [game for game in found if game and _has_file(game)]
    return sorted(games, key=lambda game: game.id)


def find_game(root: Path, id: str) -> Game:
    """One game, without looking at any other.

    Args:
        root: as for `find_games`.
        id: of the game.

    Raises:
        UnknownIdError: there is no such folder.
        UnknownTaskError: there is no such game; the message names the nearest.
    """
    names = str(id).split("/")
    if len(names) == 3 and all(name and name[0] != "." for name in names):
        game = _game(_data_root(root), *names)
        if game and _has_file(game):
            return game
    raise UnknownTaskError(str(id), [game.id for game in find_games(root)], "alfworld")


def read_game(path: Path) -> dict[str, Any]:
    """The content of a game file: `pddl_domain`, `grammar`, `pddl_problem`, `walkthrough`, ...

    Args:
        path: the game file, or its folder.

    Raises:
        EnvError: it cannot be read, is no JSON, or lacks a key.
    """
    path = Path(path)
    path = path / GAME_FILE if path.is_dir() else path
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(content, dict):
        raise _unreadable(path, f"it holds a JSON {type(content).__name__}, not an object")
    for key, kind in _KEYS.items():
        if not isinstance(content.get(key), kind):
            raise _unreadable(path, f"its key {key!r} is missing or no {kind.__name__}")
    return content


def write_game(root: Path, split: str, problem: Problem, walkthrough: list[str]) -> Game:
    """Writes one game; a file that is there already is left as it is.

    Args:
        root: the data root.
        split: the folder in it.
        problem: the game.
        walkthrough: commands that win it.
    """
    task = problem.task
    folder = f"{task.family}-{task.object}-None-{task.receptacle}-{problem.room.scene}"
    game = _game(Path(root), split, folder, problem.trial)
    assert game is not None, folder
    if _has_file(game):
        return game
    game.path.parent.mkdir(parents=True, exist_ok=True)
    trajectory = {
        "pddl_params": task.parameters(),
        "scene": {
            "floor_plan": f"FloorPlan{problem.room.scene}",
            "scene_num": problem.room.scene,
        },
        "task_id": problem.trial,
        "task_type": task.family,
    }
    content = {**game_content(problem), "solvable": True, "walkthrough": walkthrough}
    write_whole(game.path.with_name(_TRAJECTORY_FILE), json.dumps(trajectory))
    write_whole(game.path, json.dumps(content))
    return game


def game_content(problem: Problem) -> dict[str, Any]:
    """What engines read in a game file: `pddl_domain`, `grammar` and `pddl_problem`."""
    return {
        "pddl_domain": _text("household.pddl"),
        "grammar": _text("household.twl2").replace("UNKNOWN GOAL", problem.sentence),
        "pddl_problem": problem.pddl(),
    }


@cache
def _text(name: str) -> str:
    """The rules or the words of all generated games, which lie beside this module."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _data_root(root: Path) -> Path:
    inner = Path(root) / "json_2.1.1"
    return inner if inner.is_dir() else Path(root)


def _game(root: Path, split: str, task: str, trial: str) -> Game | None:
    """The game of a folder; None if the folder's name is not one of a playable game."""
    parts = task.split("-")
    if len(parts) != 5 or parts[0] not in BY_NAME or "Sliced" in task:
        return None
    if not re.fullmatch("[0-9]{1,6}", parts[4]):
        return None
    family, object_, _, receptacle, scene = parts
    return Game(f"{split}/{task}/{trial}", family, object_, receptacle, int(scene), split, root)


def _has_file(game: Game) -> bool:
    return os.path.isfile(f"{game.root}/{game.id}/{GAME_FILE}")


def _unreadable(path: Path, reason: str) -> EnvError:
    return EnvError(
        f"{path} is no readable ALFWorld game: {reason}. "
        "Delete its folder, or write it again with generate_games."
    )
