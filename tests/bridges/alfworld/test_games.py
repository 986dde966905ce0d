"""The game generator: sound problems with shortest plans, and the knobs of their difficulty."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from harness_bridges.alfworld.engine import Play, read_world
from harness_bridges.alfworld.games import (
    FAMILIES,
    catalogue,
    find_games,
    generate_games,
    read_game,
)
from harness_bridges.alfworld.games.files import game_content
from harness_bridges.alfworld.games.generate import draw_problems, scenes
from harness_bridges.alfworld.games.knobs import Knobs
from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.room import build_room, room_kind
from harness_bridges.alfworld.games.task import BY_NAME, LOOK
from harness_core.errors import HarnessError, UnknownIdError
from support.alfworld_games import REAL

ALL_SCENES = [scene for numbers in catalogue.SCENES.values() for scene in numbers]
real_games = pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no folder of real games")


def drawn(
    count: int, *, seed: int = 0, split: str = "train", **knobs: Any
) -> list[tuple[Problem, list[str]]]:
    return list(draw_problems(count, seed=seed, split=split, knobs=Knobs(**knobs)))


def targets(problem: Problem) -> list[str]:
    """The receptacles in which the objects of the target type lie."""
    things = [each for each in problem.objects if each.type == problem.task.object]
    return [each.receptacle or "" for each in things]


def wins(problem: Problem, commands: Sequence[str]) -> list[bool]:
    """Whether the engine says that the game is won: at reset, and after each command."""
    play = Play(read_world(game_content(problem)))
    return [play.start().won, *(play.act(command).won for command in commands)]


@pytest.mark.parametrize("split", catalogue.SPLITS)
@pytest.mark.parametrize("receptacles", [None, 5, 60])
def test_every_problem_is_sound(split: str, receptacles: int | None) -> None:
    """Plans win with their last command and never before, and objects lie where they may."""
    for problem, steps in drawn(30, seed=3, split=split, receptacles=receptacles):
        assert wins(problem, steps) == [*[False] * len(steps), True]
        places = {each.id: each for each in problem.room.receptacles}
        things = problem.objects + problem.room.fixtures
        assert len({each.id for each in things} | places.keys()) == len(things) + len(places)
        for thing in problem.objects:
            assert thing.receptacle is not None
            assert thing.type in catalogue.HOLDS[places[thing.receptacle].type]
            assert thing.location == places[thing.receptacle].location
        assert problem.room.start not in {each.location for each in places.values()}
        held = Counter(places[each.receptacle or ""] for each in problem.objects)
        assert all(held[place] <= 1 for place in held if place.type in catalogue.SINGLE)


def test_no_step_of_a_plan_is_superfluous() -> None:
    """A plan with any one command left out does not win."""
    for problem, steps in drawn(24, seed=5):
        for index in range(len(steps)):
            assert not any(wins(problem, steps[:index] + steps[index + 1 :]))


def test_files_do_not_depend_on_the_process(tmp_path: Path) -> None:
    """Processes with other hash seeds write the same bytes, and a larger count adds files."""
    script = (
        "import sys; from pathlib import Path\n"
        "from harness_bridges.alfworld.games import generate_games\n"
        "generate_games(Path(sys.argv[1]), count=int(sys.argv[2]), seed=11, closed=0.5, spares=2)"
    )
    digests = []
    for count in (12, 18):
        folder = tmp_path / str(count)
        subprocess.run(
            [sys.executable, "-c", script, str(folder), str(count)],
            env={**os.environ, "PYTHONHASHSEED": str(count), "PYTHONPATH": ":".join(sys.path)},
            check=True,
        )
        paths = [path for path in folder.rglob("*") if path.is_file()]
        digests.append(
            {str(p.relative_to(folder)): sha256(p.read_bytes()).hexdigest() for p in paths}
        )
    shorter, longer = digests
    assert len(shorter) == 24
    assert len(longer) == 36
    assert shorter.items() <= longer.items()


def test_seeds_and_splits_give_different_problems() -> None:
    """No trial occurs twice among seeds and splits."""
    trials = [
        problem.trial
        for seed in (0, 1)
        for split in catalogue.SPLITS
        for problem, _ in drawn(30, seed=seed, split=split, receptacles=9)
    ]
    assert len(set(trials)) == len(trials)


def test_families_take_turns() -> None:
    """A count that is a multiple of the families gives each the same number of games."""
    families = Counter(problem.task.family for problem, _ in drawn(18, receptacles=9))
    assert families == dict.fromkeys(FAMILIES, 3)


def test_splits_share_no_room_with_the_unseen() -> None:
    """Rooms of valid_unseen occur nowhere else, and every split has rooms of each kind."""
    rooms = {
        split: {problem.room.scene for problem, _ in drawn(90, split=split, receptacles=9)}
        for split in catalogue.SPLITS
    }
    assert not rooms["valid_unseen"] & (rooms["train"] | rooms["valid_seen"])
    assert rooms["valid_unseen"] <= catalogue.UNSEEN
    for found in rooms.values():
        assert {room_kind(scene) for scene in found} == set(catalogue.SCENES)
    for kind in catalogue.SCENES:
        assert scenes(kind, "train") == scenes(kind, "valid_seen")
        assert len(scenes(kind, "train")) == 27


def test_a_room_is_a_part_of_each_larger_one() -> None:
    """A scene looks the same whatever its size, its parts do not clash, and no two are alike."""
    for scene in ALL_SCENES:
        largest = build_room(scene, 200)
        assert len({each.id for each in largest.receptacles}) == 200
        for number in (2, 9, None):
            room = build_room(scene, number)
            assert room.receptacles == largest.receptacles[: len(room.receptacles)]
            assert room.start == largest.start
    rooms = [build_room(scene) for scene in ALL_SCENES]
    assert len({room.receptacles for room in rooms}) == len(ALL_SCENES)
    kitchens = [len(room.receptacles) for room in rooms if room.kind == "kitchen"]
    assert min(kitchens) >= 18
    assert max(kitchens) <= 56


@pytest.mark.parametrize("number", [4, 9, 100])
def test_receptacles_can_be_counted(number: int) -> None:
    """Rooms have as many receptacles as asked for, in all families; with four in the smallest."""
    for problem, _ in drawn(12, receptacles=number):
        assert len(problem.room.receptacles) == number


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_of_closed_doors(share: float) -> None:
    """That share of the doors is closed at reset, in the engine too; the others are open."""
    for problem, _ in drawn(18, closed=share):
        doors = [each for each in problem.room.receptacles if each.openable]
        assert sum(each.closed for each in doors) == round(share * len(doors))
        world = read_world(game_content(problem))
        assert world.openable.bit_count() == len(doors)
        assert world.start.opened.bit_count() == len(doors) - round(share * len(doors))


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("closed", [0.5, 1.0])
def test_hidden_decides_where_the_target_objects_start(hidden: bool, closed: float) -> None:
    """With hidden=True every target starts behind a closed door, with hidden=False none does."""
    for problem, steps in drawn(36, hidden=hidden, closed=closed):
        shut = {each.id for each in problem.room.receptacles if each.closed}
        assert {place in shut for place in targets(problem)} == {hidden}
        assert not hidden or any(step.startswith("open ") for step in steps)


@pytest.mark.parametrize(("distractors", "spares"), [(0, 0), (7, 3), (500, 50)])
def test_objects_can_be_counted(distractors: int, spares: int) -> None:
    """Rooms have the wanted number of other objects, and of spare ones of the target type."""
    for problem, _ in drawn(12, distractors=distractors, spares=spares, receptacles=9):
        wanted = BY_NAME[problem.task.family].copies + spares
        assert len(targets(problem)) == wanted
        assert len(problem.objects) == wanted + distractors


def test_a_room_of_two_has_place_for_everything() -> None:
    """The smallest rooms of all scenes take hundreds of distractors."""
    for kind in catalogue.SCENES:
        options = {"families": ["pick_and_place_simple"], "rooms": [kind], "receptacles": 2}
        for problem, _ in drawn(6, distractors=500, **options):
            assert len(problem.objects) > 500


def test_the_length_of_plans_can_be_chosen() -> None:
    """Shortest plans have a length within the bounds, both included."""
    heat = ["pick_heat_then_place_in_recep"]
    lengths = {len(steps) for _, steps in drawn(30, families=heat)}
    for length in sorted(lengths):
        found = drawn(2, families=heat, plan_length=(length, length))
        assert [len(steps) for _, steps in found] == [length, length]
    assert len(lengths) > 1


def test_the_rooms_can_be_chosen() -> None:
    """With rooms named, games are in those rooms only."""
    found = drawn(12, rooms=["bathroom"], families=["pick_clean_then_place_in_recep"])
    assert {problem.room.kind for problem, _ in found} == {"bathroom"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": "test"}, "no split 'test'"),
        ({"families": ["pick_heat"]}, "pick_heat_then_place_in_recep"),
        ({"rooms": ["kitchin"]}, "Did you mean 'kitchen'"),
    ],
)
def test_unknown_choices_are_named(options: dict[str, Any], words: str) -> None:
    """A choice that does not exist is refused with the nearest that does."""
    with pytest.raises(UnknownIdError, match=re.escape(words)):
        drawn(1, **options)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"families": []}, "at least one family"),
        ({"rooms": []}, "at least one room kind"),
        ({"receptacles": 1}, "receptacles is a whole number from 2 to 200; got 1"),
        ({"receptacles": 9.5}, "receptacles is a whole number"),
        ({"closed": 1.1}, "closed is a number from 0 to 1; got 1.1"),
        ({"closed": float("nan")}, "closed is a number"),
        ({"distractors": -1}, "distractors is a whole number from 0 to 500"),
        ({"spares": True}, "spares is a whole number from 0 to 50"),
        ({"plan_length": (5, 4)}, "plan_length is the least and the greatest"),
        ({"plan_length": 5}, "plan_length is the least and the greatest"),
        (
            {"rooms": ["bathroom"], "families": ["pick_heat_then_place_in_recep"]},
            "needs a kitchen",
        ),
        ({"closed": 0, "hidden": True}, "has room for pick_and_place_simple with closed=0, hidden"),
        (
            {"receptacles": 2, "families": ["pick_heat_then_place_in_recep"]},
            "No kitchen of the split train has room",
        ),
        (
            {"families": ["look_at_obj_in_light"], "plan_length": (9, 99), "receptacles": 9},
            "has a shortest plan of 9 to 99 commands; theirs have 3 to",
        ),
    ],
)
def test_knobs_that_cannot_be_turned_so(knobs: dict[str, Any], words: str) -> None:
    """A number out of bounds, or knobs that no room satisfies together, are told."""
    with pytest.raises(HarnessError, match=re.escape(words)):
        drawn(1, **knobs)


def test_written_games_hold_their_plan(tmp_path: Path) -> None:
    """The walkthrough in each file wins the file's own game; nothing but core is needed."""
    for game in generate_games(tmp_path, count=12, seed=2):
        content = read_game(game.path)
        play = Play(read_world(content))
        won = [play.act(command).won for command in content["walkthrough"]]
        assert won == [*[False] * (len(won) - 1), True]
        assert content["solvable"]


def test_generating_again_changes_nothing(tmp_path: Path) -> None:
    """What is there is kept, and a game that was lost comes back, to the byte."""
    games = generate_games(tmp_path, count=3, receptacles=9)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    assert generate_games(tmp_path, count=3, receptacles=9) == games
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == before
    content = games[1].path.read_bytes()
    games[1].path.unlink()
    assert len(find_games(tmp_path)) == 2
    generate_games(tmp_path, count=3, receptacles=9)
    assert games[1].path.read_bytes() == content


@real_games
def test_problems_are_built_like_real_ones() -> None:
    """Generated problems use predicates, types, id forms and goals that real problems use."""
    shapes: dict[str, set[str]] = {"real": set(), "ours": set()}
    goals: dict[str, dict[str, set[str]]] = {"real": {}, "ours": {}}
    texts = [
        ("real", game.family, read_game(game.path)["pddl_problem"])
        for game in find_games(Path(REAL))[::40]
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


def test_families_are_those_that_the_rooms_offer(tmp_path: Path) -> None:
    """Left out, families are what the rooms have; a single name is a choice of one."""
    kitchens = generate_games(tmp_path / "all", count=6, rooms="kitchen", receptacles=9)
    assert {game.room for game in kitchens} == {"kitchen"}
    assert LOOK not in {game.family for game in kitchens}
    (lit,) = generate_games(tmp_path / "one", count=1, families=LOOK, receptacles=9)
    assert lit.family == LOOK
