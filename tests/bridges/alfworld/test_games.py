"""The game generator and the files, without an engine."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness_bridges.alfworld.games import (
    FAMILIES,
    catalogue,
    draw_problems,
    find_games,
    generate_games,
    read_game,
)
from harness_bridges.alfworld.games.generate import scenes
from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.room import Size, build_room, room_kind
from harness_bridges.alfworld.games.solve import World, plan, solves
from harness_bridges.alfworld.games.task import BY_NAME, TaskSpec
from harness_core.errors import EnvError, HarnessError, MissingExtraError, UnknownIdError

SIZES: tuple[Size, ...] = ("small", "full")
ALL_SCENES = [scene for numbers in catalogue.SCENES.values() for scene in numbers]
_REAL = os.environ.get("ALFWORLD_DATA", "")
real_games = pytest.mark.skipif(
    not any(Path(_REAL).glob("json_2.1.1/*/*/*/game.tw-pddl")) if _REAL else True,
    reason="ALFWORLD_DATA names no folder of real games",
)


def drawn(count: int, **options: object) -> list[tuple[Problem, list[str]]]:
    return list(draw_problems(count, **options))  # type: ignore[arg-type]  # passed through


@pytest.mark.parametrize("split", catalogue.SPLITS)
@pytest.mark.parametrize("size", SIZES)
def test_every_problem_is_sound(split: str, size: Size) -> None:
    """Problems are not solved at reset, their plan solves them, and objects lie where they may."""
    for problem, steps in drawn(90, seed=3, split=split, size=size):
        text, receptacles = problem.pddl(), {r.id: r for r in problem.room.receptacles}
        assert not World(text).won(problem.task)
        assert solves(text, problem.task, steps)
        things = problem.objects + problem.room.fixtures
        assert len({thing.id for thing in things} | receptacles.keys()) == len(things) + len(
            receptacles
        )
        for thing in problem.objects:
            assert thing.receptacle is not None
            assert thing.type in catalogue.HOLDS[receptacles[thing.receptacle].type]
            assert thing.location == receptacles[thing.receptacle].location
        assert problem.room.start not in {r.location for r in receptacles.values()}


@pytest.mark.parametrize("size", SIZES)
def test_no_step_of_a_plan_is_superfluous(size: Size) -> None:
    """A plan with any one command left out, or with one more after its end, solves nothing."""
    for problem, steps in drawn(24, seed=5, size=size):
        text = problem.pddl()
        for index in range(len(steps)):
            assert not solves(text, problem.task, steps[:index] + steps[index + 1 :])
        assert not solves(text, problem.task, [*steps, "go to garbagecan 1"])


def test_the_simulation_refuses_what_the_rules_forbid() -> None:
    """Closed doors, distance, full or empty hands, wrong tools and wrong places are refused."""
    problem, steps = drawn(1, families=["pick_cool_then_place_in_recep"], hidden=True)[0]
    world = World(problem.pddl())
    go, open_, take = steps[:3]
    place = go.removeprefix("go to ")
    thing = take.removeprefix("take ").split(" from ")[0]
    assert not world.step(take), "too far away"
    assert world.step(go)
    assert not world.step(go), "already there"
    assert not world.step(take), "closed"
    assert not world.step(f"close {place}")
    assert world.step(open_)
    assert not world.step(open_)
    assert not world.step(f"move {thing} to {place}"), "nothing held"
    assert world.step(take)
    assert not world.step(take), "hands full"
    assert world.step("go to sinkbasin 1")
    assert not world.step(f"cool {thing} with sinkbasin 1")
    assert not world.step(f"polish {thing} with sinkbasin 1")
    assert not world.step("use " + thing)
    assert not world.step("dance")
    assert world.step("go to toaster 1")
    assert not world.step(f"move {thing} to toaster 1"), "a toaster holds nothing"


def test_problems_do_not_depend_on_the_process() -> None:
    """Another process with another hash seed draws the same problems, and a larger count more."""
    script = (
        "from harness_bridges.alfworld.games import draw_problems\n"
        "from hashlib import sha256\n"
        "print([sha256((p.pddl() + repr(s)).encode()).hexdigest() for p, s in "
        "draw_problems({count}, seed=11, split='valid_seen')])"
    )
    shorter, longer = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", script.format(count=count)],
                env={**os.environ, "PYTHONHASHSEED": str(count), "PYTHONPATH": ":".join(sys.path)},
                check=True,
                capture_output=True,
                text=True,
            ).stdout.replace("'", '"')
        )
        for count in (12, 18)
    )
    assert len(set(longer)) == 18
    assert longer[:12] == shorter


def test_seeds_and_splits_give_different_problems() -> None:
    """No trial occurs twice among seeds and splits."""
    trials = [
        problem.trial
        for seed in (0, 1)
        for split in catalogue.SPLITS
        for problem, _ in drawn(30, seed=seed, split=split)
    ]
    assert len(set(trials)) == len(trials)


def test_families_take_turns() -> None:
    """A count that is a multiple of the families gives each the same number of games."""
    families = Counter(problem.task.family for problem, _ in drawn(18, size="small"))
    assert families == dict.fromkeys(FAMILIES, 3)


def test_splits_share_no_room_with_the_unseen() -> None:
    """Rooms of valid_unseen occur nowhere else, and every split has rooms of each kind."""
    rooms = {
        split: {problem.room.scene for problem, _ in drawn(150, split=split, size="small")}
        for split in catalogue.SPLITS
    }
    assert not rooms["valid_unseen"] & (rooms["train"] | rooms["valid_seen"])
    assert rooms["valid_unseen"] <= catalogue.UNSEEN
    for found in rooms.values():
        assert {room_kind(scene) for scene in found} == set(catalogue.SCENES)
    for kind in catalogue.SCENES:
        assert scenes(kind, "train") == scenes(kind, "valid_seen")
        assert len(scenes(kind, "train")) == 27


def test_a_scene_always_looks_the_same_and_a_small_room_is_part_of_it() -> None:
    """Two builds of a scene are equal; a small room's receptacles all stand in the full one."""
    sizes: dict[str, list[int]] = {"small": [], "full": []}
    for scene in ALL_SCENES:
        full, small = build_room(scene), build_room(scene, "small")
        assert full == build_room(scene)
        assert set(small.receptacles) <= set(full.receptacles)
        assert small.start == full.start
        sizes["full"].append(len(full.receptacles))
        sizes["small"].append(len(small.receptacles))
    assert max(sizes["small"]) <= 11
    assert min(sizes["small"]) >= 6
    assert min(sizes["full"][:30]) >= 20
    assert len({build_room(scene).receptacles for scene in ALL_SCENES}) == len(ALL_SCENES)


@pytest.mark.parametrize("hidden", [True, False])
def test_hidden_decides_where_the_target_objects_start(hidden: bool) -> None:
    """With hidden=True every target starts behind a door, with hidden=False none does."""
    for problem, steps in drawn(60, hidden=hidden):
        openable = {r.id for r in problem.room.receptacles if r.openable}
        targets = [each for each in problem.objects if each.type == problem.task.object]
        assert len(targets) >= BY_NAME[problem.task.family].copies
        assert {thing.receptacle in openable for thing in targets} == {hidden}
        assert not hidden or any(step.startswith("open ") for step in steps)


def test_the_rooms_can_be_chosen() -> None:
    """With rooms named, games are in those rooms only."""
    found = drawn(30, rooms=["bathroom"], families=["pick_clean_then_place_in_recep"])
    assert {problem.room.kind for problem, _ in found} == {"bathroom"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": "test"}, "no split 'test'"),
        ({"families": ["pick_heat"]}, "pick_heat_then_place_in_recep"),
        ({"rooms": ["kitchin"]}, "Did you mean 'kitchen'"),
        ({"size": "huge"}, "no room size 'huge'"),
    ],
)
def test_unknown_choices_are_named(options: dict[str, object], words: str) -> None:
    """A choice that does not exist is refused with the nearest that does."""
    with pytest.raises(UnknownIdError, match=re.escape(words)):
        drawn(1, **options)


def test_a_family_without_a_room_is_refused() -> None:
    """Heating needs a kitchen: asking for it in bathrooms says so."""
    with pytest.raises(HarnessError, match="needs a kitchen"):
        drawn(1, rooms=["bathroom"], families=["pick_heat_then_place_in_recep"])


@pytest.mark.skipif(find_spec("alfworld") is not None, reason="alfworld is installed")
def test_writing_without_alfworld_names_the_extra(tmp_path: Path) -> None:
    """Without alfworld nothing is written, and the message has the line that installs it."""
    with pytest.raises(MissingExtraError, match=re.escape("'harness-bridges[alfworld]'")):
        generate_games(tmp_path, count=1)
    assert not list(tmp_path.iterdir())


def a_file(folder: Path, text: str = "{}") -> Path:
    folder.mkdir(parents=True)
    (folder / "game.tw-pddl").write_text(text)
    return folder


def test_games_are_found_by_their_folders_names(tmp_path: Path) -> None:
    """Only playable games with a file are found, sorted, with what the name says."""
    a_file(tmp_path / "valid_seen/pick_and_place_simple-Mug-None-Shelf-301/trial_b")
    a_file(tmp_path / "train/look_at_obj_in_light-CD-None-DeskLamp-301/trial_a")
    a_file(tmp_path / "train/pick_and_place_simple-AppleSliced-None-Fridge-1/trial_a")
    a_file(tmp_path / "train/pick_and_place_with_movable_recep-Pen-Bowl-Desk-301/trial_a")
    a_file(tmp_path / "train/notes/trial_a")
    (tmp_path / "train/pick_and_place_simple-Mug-None-Desk-301/trial_half").mkdir(parents=True)
    look, simple = find_games(tmp_path)
    assert look.id == "train/look_at_obj_in_light-CD-None-DeskLamp-301/trial_a"
    assert (look.family, look.object, look.receptacle) == (
        "look_at_obj_in_light",
        "CD",
        "DeskLamp",
    )
    assert (simple.split, simple.scene) == ("valid_seen", 301)
    assert simple.path == tmp_path / simple.id / "game.tw-pddl"


def test_a_missing_data_folder_is_named(tmp_path: Path) -> None:
    """A data root that does not exist is an unknown id, with the way to make one."""
    with pytest.raises(UnknownIdError, match="generate_games"):
        find_games(tmp_path / "nowhere")


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
    folder = a_file(tmp_path / "trial", text)
    with pytest.raises(EnvError, match=re.escape(words)) as raised:
        read_game(folder)
    assert str(folder) in str(raised.value)


@real_games
def test_real_games_are_found_in_a_second() -> None:
    """All real games are found, in under a second, without opening a file."""
    start = time.perf_counter()
    games = find_games(Path(_REAL))
    assert time.perf_counter() - start < 1
    assert len(games) == sum(1 for _ in Path(_REAL).glob("json_2.1.1/*/*/*/game.tw-pddl"))
    assert {game.family for game in games} == set(FAMILIES)


@real_games
def test_the_simulation_agrees_with_real_walkthroughs() -> None:
    """Stored walkthroughs of real games solve them here too, and a plan is found for each."""
    for game in find_games(Path(_REAL))[::25]:
        content = read_game(game.path)
        task = TaskSpec(game.family, game.object, game.receptacle)
        assert solves(content["pddl_problem"], task, content["walkthrough"]), game.id
        found = plan(content["pddl_problem"], task)
        assert found is not None
        assert len(found) <= len(content["walkthrough"]) + 2


@real_games
def test_problems_are_built_like_real_ones() -> None:
    """Generated problems use predicates, types, id forms and goals that real problems use."""
    shapes: dict[str, set[str]] = {"real": set(), "ours": set()}
    goals: dict[str, dict[str, set[str]]] = {"real": {}, "ours": {}}
    texts = [
        ("real", game.family, read_game(game.path)["pddl_problem"])
        for game in find_games(Path(_REAL))[::40]
    ]
    texts += [("ours", problem.task.family, problem.pddl()) for problem, _ in drawn(60)]
    for source, family, text in texts:
        head, rest = text.split("(:init")
        init, goal = rest.split("(:goal")
        shapes[source] |= {f"declared {kind}" for kind in re.findall(r" - (\w+)", head)}
        for fact in re.findall(r"\((\w+(?: \w+)+)\)", init):
            predicate, *arguments = fact.split()
            forms = [_form(argument) for argument in arguments]
            shapes[source].add(" ".join([predicate, *forms]))
        pattern = re.sub(r"\w+Type\b", "T", " ".join(goal.split()))
        atoms = set(re.findall(r"\((\w+(?: [?\w]+)+)\)", pattern))
        goals[source].setdefault(family, set()).update(atoms)
    assert shapes["ours"] <= shapes["real"]
    assert {s for s in shapes["real"] if s.startswith("declared")} <= shapes["ours"]
    assert goals["ours"] == goals["real"]


def _form(argument: str) -> str:
    """The form of an id: numbers and type names replaced."""
    if argument.endswith("Type") or argument == "agent1":
        return re.sub(r"^\w+Type$", "Type", argument)
    if argument.startswith("loc_bar_"):
        return re.sub(r"(_minus_)?\d+", "n", argument)
    argument = re.sub(r"_(minus|plus)_\d\d_dot_\d\d|00_dot_00", "d", argument)
    return re.sub(r"^[A-Za-z]+_bar_|(?<=_bar_)\w+Basin$", "Name", argument)
