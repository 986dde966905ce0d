"""Games on disk, in the benchmark's layout and format: finding, reading and writing them.

`<root>/<split>/<family>-<Object>-<Movable|None>-<Receptacle>-<scene>/trial_<id>/game.tw-pddl`,
with a `traj_data.json` beside it where the benchmark's own loader needs one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen

from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.task import BY_NAME
from harness_core.errors import EnvError, MissingExtraError, UnknownIdError

GAME_FILE = "game.tw-pddl"
_TRAJECTORY_FILE = "traj_data.json"
_KEYS = {"pddl_domain": str, "grammar": str, "pddl_problem": str, "walkthrough": list}
_SENTENCE = re.compile(r'Your task is to: (.+?)\.?\s*\\?"')
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
        path: the game file.
    """

    id: str
    family: str
    object: str
    receptacle: str
    scene: int
    split: str
    path: Path

    @property
    def goal(self) -> str:
        """The task in words, read from the start of the game file.

        Raises:
            EnvError: the file cannot be read, or is no ALFWorld game.
        """
        try:
            with self.path.open(encoding="utf-8") as file:
                match = _SENTENCE.search(file.read(_HEAD))
        except OSError as error:
            raise _unreadable(self.path, str(error)) from error
        match = match or _SENTENCE.search(read_game(self.path)["grammar"])
        if match is None:
            raise _unreadable(self.path, "its grammar has no line 'Your task is to: ...'")
        return match[1]


def find_games(root: Path) -> list[Game]:
    """All games of the six families under a data root, sorted by id.

    Only names are read, no file. Folders of other families and with sliced objects are passed
    over, as the benchmark does.

    Args:
        root: the folder that holds `train`, `valid_seen`, ...; or the one that holds it as
            `json_2.1.1`, as `ALFWORLD_DATA` does.

    Raises:
        UnknownIdError: there is no such folder.
    """
    root = Path(root)
    if (root / "json_2.1.1").is_dir():
        root = root / "json_2.1.1"
    if not root.is_dir():
        known = [str(each) for each in root.parent.glob("*/")]
        raise UnknownIdError("data folder", str(root), known, "Make games with generate_games.")
    games = []
    for split in _folders(root):
        for task in _folders(f"{root}/{split}"):
            for trial in _folders(f"{root}/{split}/{task}"):
                game = _game(root, f"{split}/{task}/{trial}")
                if game and game.path.is_file():
                    games.append(game)
    return sorted(games, key=lambda game: game.id)


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
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(content, dict):
        raise _unreadable(path, f"it holds a JSON {type(content).__name__}, not an object")
    for key, kind in _KEYS.items():
        if not isinstance(content.get(key), kind):
            raise _unreadable(path, f"its key {key!r} is missing or no {kind.__name__}")
    return content


def write_game(root: Path, split: str, problem: Problem, walkthrough: list[str]) -> Game:
    """Writes one game; a file that is there already is left as it is.

    Raises:
        MissingExtraError: alfworld, which brings the domain and grammar texts, is missing.
    """
    domain, grammar = engine_texts()
    task = problem.task
    folder = f"{task.family}-{task.object}-None-{task.receptacle}-{problem.room.scene}"
    game = _game(root, f"{split}/{folder}/{problem.trial}")
    assert game is not None, folder
    if game.path.is_file():
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
    content = {
        "pddl_domain": domain,
        "grammar": grammar.replace("UNKNOWN GOAL", problem.sentence),
        "pddl_problem": problem.pddl(),
        "solvable": True,
        "walkthrough": walkthrough,
    }
    _write_json(game.path.with_name(_TRAJECTORY_FILE), trajectory)
    _write_json(game.path, content)
    return game


def engine_texts() -> tuple[str, str]:
    """The PDDL domain and the text grammar, as the alfworld package ships them.

    Raises:
        MissingExtraError: alfworld is missing.
    """
    package = importlib.util.find_spec("alfworld")
    if package is None or not package.submodule_search_locations:
        raise MissingExtraError(
            "Writing ALFWorld games needs the domain and grammar texts of the package alfworld, "
            "which is not installed. Run: pip install 'harness-bridges[alfworld]'"
        )
    data = Path(package.submodule_search_locations[0]) / "data"
    domain, grammar = data / "alfred.pddl", data / "alfred.twl2"
    return domain.read_text(encoding="utf-8"), grammar.read_text(encoding="utf-8")


def _folders(path: Path | str) -> Iterator[str]:
    with os.scandir(path) as entries:
        yield from (entry.name for entry in entries if entry.is_dir())


def _game(root: Path, id_: str) -> Game | None:
    """The game of a folder; None if the folder's name is not one of a playable game."""
    split, task, _ = id_.split("/")
    parts = task.split("-")
    if len(parts) != 5 or parts[0] not in BY_NAME or "Sliced" in task or not parts[4].isdigit():
        return None
    family, object_, _, receptacle, scene = parts
    path = root / id_ / GAME_FILE
    return Game(id_, family, object_, receptacle, int(scene), split, path)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Writes the file in one piece: it is there whole, or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps(content), encoding="utf-8")
    partial.replace(path)


def _unreadable(path: Path, reason: str) -> EnvError:
    return EnvError(
        f"{path} is no readable ALFWorld game: {reason}. "
        "Delete its folder, or write it again with generate_games."
    )
