"""Generated games on the real engine, and through the benchmark's own loader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_bridges.alfworld.games import FAMILIES, Game, find_games, generate_games, read_game
from harness_bridges.alfworld.games.catalogue import SPLITS
from harness_bridges.alfworld.games.task import BY_NAME

pytestmark = pytest.mark.textworld
pytest.importorskip("textworld")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data root with two small games of each family in each split."""
    folder = tmp_path_factory.mktemp("alfworld")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALFWORLD_DATA", str(folder))
        for split in SPLITS:
            generate_games(folder, count=2 * len(FAMILIES), seed=7, split=split, size="small")
        yield folder


@pytest.fixture(scope="module")
def engine(root: Path) -> Any:
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
    from textworld.envs.pddl import PddlEnv

    infos = textworld.EnvInfos(won=True, admissible_commands=True)
    return AlfredInfos(AlfredDemangler(PddlEnv(infos)))


def play(engine: Any, game: Game) -> None:
    """Plays the stored walkthrough: each step admissible, won after the last and not before."""
    engine.load(str(game.path))
    state = engine.reset()
    assert state.feedback.endswith(f"Your task is to: {game.goal}.")
    assert not state["won"]
    steps = read_game(game.path)["walkthrough"]
    for index, command in enumerate(steps):
        assert command in state["admissible_commands"], (game.id, command)
        state, score, done = engine.step(command)
        last = index == len(steps) - 1
        assert (state["won"], score, done) == (last, int(last), last), (game.id, command)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("family", FAMILIES)
def test_walkthroughs_win(root: Path, engine: Any, family: str, split: str) -> None:
    """The engine accepts every step of every stored walkthrough and declares it won at its end."""
    games = [game for game in find_games(root) if (game.family, game.split) == (family, split)]
    assert len(games) == 2
    for game in games:
        play(engine, game)


def test_full_rooms_win_too(engine: Any, tmp_path: Path) -> None:
    """A full-sized game of each kind of room plays to its end."""
    for room in ("kitchen", "bedroom", "bathroom", "livingroom"):
        for game in generate_games(
            tmp_path, count=1, rooms=[room], families=["pick_two_obj_and_place"]
        ):
            play(engine, game)


@pytest.mark.parametrize(
    ("split", "mode"), [("train", "train"), ("valid_unseen", "eval_out_of_distribution")]
)
def test_the_benchmarks_loader_takes_all(root: Path, split: str, mode: str) -> None:
    """`collect_game_files` of alfworld finds exactly the generated games of a split."""
    from alfworld.agents.environment.alfred_tw_env import TASK_TYPES, AlfredTWEnv

    where = str(root / split)
    config = {
        "dataset": {
            "data_path": where,
            "eval_ood_data_path": where,
            "num_train_games": -1,
            "num_eval_games": -1,
        },
        "env": {"task_types": list(TASK_TYPES), "goal_desc_human_anns_prob": 0},
    }
    loader = AlfredTWEnv(config, train_eval=mode)
    expected = {str(game.path) for game in find_games(root) if game.split == split}
    assert set(loader.game_files) == expected
    assert len(expected) == 2 * len(FAMILIES)


def test_sentences_are_the_benchmarks_own(root: Path) -> None:
    """Both forms of each family are alfworld's templates, filled in alike."""
    from alfworld.gen.goal_library import gdict

    for name, family in BY_NAME.items():
        slot = "toggle" if "look" in name else "recep"
        ours = [each.format(object="{obj}", receptacle=f"{{{slot}}}") for each in family.sentences]
        assert ours == gdict[name]["templates"]


def test_parameters_are_complete(root: Path) -> None:
    """`traj_data.json` names the family and parameters that the folder's name says."""
    for game in find_games(root):
        data = json.loads(game.path.with_name("traj_data.json").read_text())
        assert data["task_type"] == game.family
        parameters = data["pddl_params"]
        assert parameters["object_target"] == game.object
        assert parameters["parent_target"] + parameters["toggle_target"] == game.receptacle
        assert parameters["mrecep_target"] == ""
        assert parameters["object_sliced"] is False


def test_generating_again_changes_nothing(root: Path, tmp_path: Path) -> None:
    """The same seed gives the same bytes elsewhere, and rewrites nothing that is there."""

    def content(folder: Path) -> dict[str, bytes]:
        files = [path for path in folder.glob("train/**/*") if path.is_file()]
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}

    options: Any = {"count": 12, "seed": 7, "size": "small"}
    before = {path: path.stat().st_mtime_ns for path in root.glob("train/*/*/*")}
    again = generate_games(root, **options)
    assert {path: path.stat().st_mtime_ns for path in root.glob("train/*/*/*")} == before
    assert sorted(again, key=lambda game: game.id) == [
        game for game in find_games(root) if game.split == "train"
    ]
    generate_games(tmp_path, **options)
    assert content(tmp_path) == content(root)


def test_a_lost_file_is_written_again(tmp_path: Path) -> None:
    """A run that was cut short is completed: the missing game comes back, to the byte."""
    game = generate_games(tmp_path, count=3, size="small")[1]
    content = game.path.read_bytes()
    game.path.unlink()
    assert len(find_games(tmp_path)) == 2
    generate_games(tmp_path, count=3, size="small")
    assert game.path.read_bytes() == content
