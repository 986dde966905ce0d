"""Game folders: finding games by the index, and reading them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from harness_bridges.alfworld.games import FAMILIES, Game, find_game, find_games, read_game
from harness_bridges.alfworld.games.index import INDEX_FILE, SETTLED_NS
from harness_core import make
from harness_core.errors import EnvError, UnknownIdError, UnknownTaskError
from support.alfworld_games import REAL, fewest_found

MUG = "train/pick_and_place_simple-Mug-None-Shelf-301/trial_a"
PEN = "train/pick_and_place_simple-Pen-None-Shelf-301/trial_a"
real_games = pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no folder of real games")


def add(root: Path, id_: str, text: str = "{}") -> Path:
    folder = root / id_
    folder.mkdir(parents=True)
    (folder / "game.tw-pddl").write_text(text)
    return folder


def ids(root: Path) -> list[str]:
    return [game.id for game in find_games(root)]


def settle() -> None:
    """Waits until the index trusts what changed so far."""
    time.sleep(SETTLED_NS / 1e9 + 0.1)


_listed: list[str] = []
_listening = False


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _listening and event == "os.scandir":
        _listed.append(str(arguments[0]))


sys.addaudithook(_hear)


@contextmanager
def listed_folders() -> Iterator[list[str]]:
    """The folders that Python lists meanwhile."""
    global _listening
    _listed.clear()
    _listening = True
    try:
        yield _listed
    finally:
        _listening = False


def test_games_are_found_by_their_folders_names(tmp_path: Path) -> None:
    """Only playable games with a file are found, sorted, with what the name says."""
    add(tmp_path, "valid_seen/pick_and_place_simple-Mug-None-Shelf-301/trial_b")
    add(tmp_path, "train/look_at_obj_in_light-CD-None-DeskLamp-7/trial_a")
    add(tmp_path, "train/pick_and_place_simple-AppleSliced-None-Fridge-1/trial_a")
    add(tmp_path, "train/pick_and_place_with_movable_recep-Pen-Bowl-Desk-301/trial_a")
    add(tmp_path, "train/notes/trial_a")
    (tmp_path / "train/pick_and_place_simple-Mug-None-Desk-301/trial_half").mkdir(parents=True)
    (tmp_path / "readme.txt").touch()
    look, simple = find_games(tmp_path)
    assert look.id == "train/look_at_obj_in_light-CD-None-DeskLamp-7/trial_a"
    assert (look.family, look.object, look.receptacle) == (
        "look_at_obj_in_light",
        "CD",
        "DeskLamp",
    )
    assert (simple.split, simple.scene, simple.room) == ("valid_seen", 301, "bedroom")
    assert look.room == "kitchen"
    assert simple.path == tmp_path / simple.id / "game.tw-pddl"


def test_a_missing_data_folder_is_named(tmp_path: Path) -> None:
    """A data root that does not exist is an unknown id, with the way to make one."""
    for find in (find_games, lambda root: find_game(root, MUG)):
        with pytest.raises(UnknownIdError, match="generate_games"):
            find(tmp_path / "nowhere")


def test_the_folder_above_is_taken_too(tmp_path: Path) -> None:
    """A root that holds the data as `json_2.1.1` gives the same games."""
    add(tmp_path / "json_2.1.1", MUG)
    assert find_games(tmp_path) == find_games(tmp_path / "json_2.1.1")
    assert find_game(tmp_path, MUG) == find_games(tmp_path)[0]


def test_a_game_is_found_by_its_id_alone(tmp_path: Path) -> None:
    """One game is found without listing a folder or writing an index."""
    add(tmp_path, MUG)
    with listed_folders() as listed:
        game = find_game(tmp_path, MUG)
    assert not listed
    assert not (tmp_path / INDEX_FILE).exists()
    assert [game] == find_games(tmp_path)


@pytest.mark.parametrize(
    "id_",
    [
        MUG[:-1],
        "",
        "train",
        MUG + "/",
        MUG.removesuffix("trial_a"),
        MUG.replace("trial_a", ".."),
        f"../{MUG}",
        "./" + MUG,
        f"train/../{MUG}",
        "train/pick_and_place_simple-Mug-None-Shelf-301/trial_empty",
    ],
)
def test_an_unknown_id_is_never_another_game(tmp_path: Path, id_: str) -> None:
    """Anything but the id of a game with a file is refused, and the nearest is named."""
    add(tmp_path, MUG)
    (tmp_path / MUG).with_name("trial_empty").mkdir()
    with pytest.raises(UnknownTaskError, match="trial_a") as raised:
        find_game(tmp_path, id_)
    assert raised.value.asked == id_


def test_a_second_look_lists_nothing_again(tmp_path: Path) -> None:
    """Once folders have settled, only the root is listed, and the index is not rewritten."""
    add(tmp_path, MUG)
    add(tmp_path, PEN)
    settle()
    first = find_games(tmp_path)
    written = (tmp_path / INDEX_FILE).stat()
    with listed_folders() as listed:
        assert find_games(tmp_path) == first
    assert listed == [str(tmp_path)]
    assert (tmp_path / INDEX_FILE).stat().st_ino == written.st_ino


def test_every_change_is_seen(tmp_path: Path) -> None:
    """Games, tasks and splits that are added, removed, renamed or lost are noticed at once."""
    add(tmp_path, MUG)
    settle()
    assert ids(tmp_path) == [MUG]
    add(tmp_path, PEN)
    assert ids(tmp_path) == [MUG, PEN]
    second = add(tmp_path, MUG[:-1] + "b")
    assert ids(tmp_path) == [MUG, MUG[:-1] + "b", PEN]
    settle()
    assert len(ids(tmp_path)) == 3
    (second / "game.tw-pddl").unlink()
    assert ids(tmp_path) == [MUG, PEN]
    (second / "game.tw-pddl").touch()
    assert len(ids(tmp_path)) == 3
    second.rename(second.with_name("trial_c"))
    assert ids(tmp_path) == [MUG, MUG[:-1] + "c", PEN]
    shutil.rmtree(tmp_path / PEN)
    assert ids(tmp_path) == [MUG, MUG[:-1] + "c"]
    (tmp_path / "train").rename(tmp_path / "valid_seen")
    assert ids(tmp_path) == [f"valid_seen/{id_[6:]}" for id_ in (MUG, MUG[:-1] + "c")]
    shutil.rmtree(tmp_path / "valid_seen")
    assert ids(tmp_path) == []


def test_times_that_were_put_back_do_not_hide_a_change(tmp_path: Path) -> None:
    """A folder whose modification time was restored, as some copies do, is read again."""
    add(tmp_path, MUG)
    settle()
    assert ids(tmp_path) == [MUG]
    task = (tmp_path / MUG).parent
    status = task.stat()
    add(tmp_path, MUG[:-1] + "b")
    os.utime(task, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert len(ids(tmp_path)) == 2


def test_a_damaged_index_is_made_again(tmp_path: Path) -> None:
    """Whatever lies in the place of the index, the games are those on the disk."""
    add(tmp_path, MUG)
    settle()
    assert ids(tmp_path) == [MUG]
    index = tmp_path / INDEX_FILE
    good = index.read_bytes()
    other = json.dumps({"train": [0, []]}).encode()
    changed = good.replace(b"trial_a", b"trial_z")
    for wrong in (good[: len(good) // 2], changed, other, bytes(range(256)), b""):
        index.write_bytes(wrong)
        assert ids(tmp_path) == [MUG]
        assert index.read_bytes() == good
    index.unlink()
    index.mkdir()
    assert ids(tmp_path) == [MUG]


def test_many_may_index_at_once(tmp_path: Path) -> None:
    """Processes that index one root at the same time all find all games, and leave one file."""
    for number in range(40):
        add(tmp_path, f"train/pick_and_place_simple-Mug-None-Shelf-{number}/trial_a")
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(fewest_found, [tmp_path] * 8)) == [40] * 8
    assert sorted(path.name for path in tmp_path.iterdir()) == [INDEX_FILE, "train"]


def test_a_root_that_cannot_be_written_is_indexed_elsewhere() -> None:
    """The index of a read-only root goes to the user's cache folder; without one, all is read."""
    top = Path(tempfile.mkdtemp(dir="/tmp"))
    root, caches = top / "root", top / "caches"
    add(root, MUG)
    caches.mkdir()
    caches.chmod(0o777)
    root.chmod(0o555)
    top.chmod(0o755)
    settle()
    try:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.getuid() == 0:
                    os.setuid(65534)  # root may write anywhere
                os.environ["XDG_CACHE_HOME"] = str(caches)
                found = [ids(root), ids(root)]
                files = [path for path in caches.rglob("*") if path.is_file()]
                os.environ["XDG_CACHE_HOME"] = str(root / "no")
                found.append(ids(root))
                code = 0 if found == [[MUG]] * 3 and len(files) == 1 else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert [path.name for path in root.iterdir()] == ["train"]
    finally:
        root.chmod(0o755)
        shutil.rmtree(top)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json", "Expecting value"),
        ("[]", "JSON list"),
        ('{"pddl_domain": "", "grammar": ""}', "'pddl_problem' is missing"),
        ('{"pddl_domain": "", "grammar": 3}', "'grammar' is missing or no str"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    """A file that is no game is refused with its path and the reason."""
    folder = add(tmp_path, "trial", text)
    with pytest.raises(EnvError, match=words) as raised:
        read_game(folder)
    assert str(folder) in str(raised.value)


@real_games
def test_real_games_are_found_fast() -> None:
    """All real games are found in under a second, and again by the index; one in 10 ms."""
    root = Path(REAL)
    times = []
    for _ in range(2):
        start = time.perf_counter()
        games = find_games(root)
        times.append(time.perf_counter() - start)
    assert max(times) < 1
    assert len(games) == sum(1 for _ in root.glob("json_2.1.1/*/*/*/game.tw-pddl"))
    assert {game.family for game in games} == set(FAMILIES)
    start = time.perf_counter()
    found: list[Game] = [find_game(root, game.id) for game in games[:100]]
    assert (time.perf_counter() - start) / 100 < 0.01
    assert found == games[:100]


def test_odd_entries_hide_no_game(tmp_path: Path) -> None:
    """A link to itself, a game that is no text and absurd names leave the others in place."""
    add(tmp_path, MUG)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "train" / "loop").symlink_to("loop")
    broken = MUG.replace("Mug", "Cup")
    (add(tmp_path, broken) / "game.tw-pddl").write_bytes(b"\xff\xfe")
    assert MUG in ids(tmp_path)
    with make("alfworld", games=str(tmp_path)) as env:
        assert {task.id: task.goal for task in env.list_tasks()}[broken] == ""
    for odd in (MUG.replace("Shelf", f"Shelf-{'9' * 5000}"), 5):
        with pytest.raises(UnknownTaskError):
            make("alfworld", task=odd, games=str(tmp_path))


def test_a_goal_is_read_in_no_time(tmp_path: Path) -> None:
    """However many blanks a file has, its task sentence is found at once."""
    add(tmp_path, MUG, '"Your task is to: x' + " " * 500_000 + 'x"')
    began = time.perf_counter()
    assert find_game(tmp_path, MUG).goal.startswith("x")
    assert time.perf_counter() - began < 1
