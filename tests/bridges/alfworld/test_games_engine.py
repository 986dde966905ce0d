"""Generated games on the real engine, and through the benchmark's own loader."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness_bridges.alfworld.engine import Play, read_world
from harness_bridges.alfworld.frame import Frame
from harness_bridges.alfworld.games import FAMILIES, Game, find_games, generate_games, read_game
from harness_bridges.alfworld.games.catalogue import SPLITS
from harness_bridges.alfworld.games.files import game_content
from harness_bridges.alfworld.games.problem import Problem, mangle
from harness_bridges.alfworld.games.room import build_room, place
from harness_bridges.alfworld.games.task import BY_NAME, TaskSpec
from harness_bridges.alfworld.reference import borrow_engine, return_engine

pytestmark = pytest.mark.textworld
pytest.importorskip("textworld")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data root with two small games of each family in each split."""
    folder = tmp_path_factory.mktemp("alfworld")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALFWORLD_DATA", str(folder))
        for split in SPLITS:
            generate_games(folder, count=2 * len(FAMILIES), seed=7, split=split, receptacles=9)
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


def test_rooms_of_all_sizes_win_too(engine: Any, tmp_path: Path) -> None:
    """Rooms as the benchmark has them, smaller ones, and ones with open doors play out."""
    options: Any = {"count": 1, "families": ["pick_two_obj_and_place"]}
    for room in ("kitchen", "bedroom"):
        for game in generate_games(tmp_path, rooms=[room], **options):
            play(engine, game)
    for knobs in ({"receptacles": 4}, {"receptacles": 20}, {"closed": 0.5, "receptacles": 9}):
        for game in generate_games(tmp_path, seed=4, **options, **knobs):
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


def package_texts(content: dict[str, Any]) -> dict[str, Any]:
    """The same game with the domain and grammar texts of the alfworld package."""
    import alfworld

    data = Path(alfworld.__file__).parent / "data"
    (task,) = re.findall(r"Your task is to: .+?\.", content["grammar"])
    grammar = (data / "alfred.twl2").read_text()
    return {
        **content,
        "pddl_domain": (data / "alfred.pddl").read_text(),
        "grammar": grammar.replace("Your task is to: UNKNOWN GOAL.", task),
    }


def answers(start: Callable[[], Frame], act: Callable[[str], Frame], walk: Walk) -> list[Frame]:
    """The frames of a walk, which chooses commands from what is admissible."""
    frames = [start()]
    frames += [act(command) for command in walk(frames)]
    return frames


Walk = Callable[[list[Frame]], Iterator[str]]


def three_ways(content: dict[str, Any], walk: Walk) -> list[Frame]:
    """A walk in TextWorld with our texts, with the package's, and in the native engine: alike."""
    engine = borrow_engine()
    try:
        ours = answers(lambda: engine.start(content), engine.act, walk)
        package = package_texts(content)
        theirs = answers(lambda: engine.start(package), engine.act, walk)
    finally:
        return_engine(engine)
    native = Play(read_world(content))
    assert ours == theirs
    assert answers(native.start, native.act, walk) == ours
    return ours


def wander(seed: int, steps: int) -> Walk:
    """Random commands; half of them change more than the place, some are none at all."""

    def walk(frames: list[Frame]) -> Iterator[str]:
        rng = Random(seed)
        for _ in range(steps):
            known = frames[-1].admissible
            acts = [each for each in known if not each.startswith(("go ", "examine "))]
            yield rng.choice([rng.choice(known), rng.choice(acts)] * 5 + ["put it down", "Look"])

    return walk


def test_our_texts_say_what_the_packages_say(tmp_path: Path) -> None:
    """Random walks in games of all six families get the same frames with either texts."""
    for number, game in enumerate(generate_games(tmp_path, count=12, seed=6, receptacles=9)):
        three_ways(read_game(game.path), wander(number, 50))


def test_our_texts_know_every_verb_and_state() -> None:
    """A script through all verbs and all words for objects gets the same frames either way."""
    room = build_room(1, 11)
    counter, rng = room.receptacles[0], Random(0)
    kinds = ("Apple", "Bread", "Egg", "Knife", "Mug", "Pan", "Potato", "DeskLamp", "Statue")
    things = {kind: place(kind, counter, rng) for kind in kinds}
    task = TaskSpec("pick_heat_then_place_in_recep", "Apple", "Fridge")
    objects = tuple(sorted(things.values(), key=lambda thing: thing.id))
    content = game_content(Problem(room, objects, task, task.sentence(1)))
    more = f"(inReceptacleObject {things['Egg'].id} {things['Pan'].id})"
    more += f"(isCool {things['Bread'].id}) (canContain CounterTopType DeskLampType)"
    content["pddl_problem"] = content["pddl_problem"].replace("(:init", f"(:init {mangle(more)}")
    script = list(_SCRIPT.strip().splitlines())
    frames = three_ways(content, lambda _: iter(script))
    refused = [c for c, frame in zip(script, frames[1:], strict=True) if not frame.valid]
    assert refused == ["close countertop 1"]
    assert {command.split()[0] for command in script} == {
        *("look", "inventory", "help", "examine", "go", "open", "close", "take", "move"),
        *("clean", "heat", "cool", "use", "slice"),
    }
    told = {frame.text.replace("This is a ", "").rsplit(" ", 2)[0] for frame in frames}
    states = ("hot", "cold", "clean", "hot and clean", "cool and clean", "sliced", "hot sliced")
    states += ("cool sliced", "clean sliced", "hot and clean sliced", "cool and clean sliced")
    assert told >= set(states)
    assert any(frame.won for frame in frames)


_SCRIPT = """
look
inventory
help
go to countertop 1
look
examine countertop 1
close countertop 1
take desklamp 1 from countertop 1
examine desklamp 1
move desklamp 1 to countertop 1
use desklamp 1
take desklamp 1 from countertop 1
examine desklamp 1
move desklamp 1 to countertop 1
take statue 1 from countertop 1
examine statue 1
inventory
look
move statue 1 to countertop 1
take pan 1 from countertop 1
examine pan 1
move pan 1 to countertop 1
take mug 1 from countertop 1
examine mug 1
move mug 1 to countertop 1
take bread 1 from countertop 1
examine bread 1
go to microwave 1
heat bread 1 with microwave 1
examine bread 1
go to countertop 1
move bread 1 to countertop 1
take knife 1 from countertop 1
slice apple 1 with knife 1
slice bread 1 with knife 1
move knife 1 to countertop 1
take bread 1 from countertop 1
examine bread 1
go to fridge 1
cool bread 1 with fridge 1
examine bread 1
go to countertop 1
move bread 1 to countertop 1
take potato 1 from countertop 1
go to sinkbasin 1
clean potato 1 with sinkbasin 1
examine potato 1
go to microwave 1
heat potato 1 with microwave 1
examine potato 1
go to fridge 1
cool potato 1 with fridge 1
examine potato 1
open fridge 1
move potato 1 to fridge 1
examine fridge 1
close fridge 1
go to countertop 1
take apple 1 from countertop 1
examine apple 1
go to sinkbasin 1
clean apple 1 with sinkbasin 1
examine apple 1
go to fridge 1
cool apple 1 with fridge 1
examine apple 1
go to microwave 1
heat apple 1 with microwave 1
examine apple 1
go to fridge 1
open fridge 1
move apple 1 to fridge 1
look
close fridge 1
look
"""
