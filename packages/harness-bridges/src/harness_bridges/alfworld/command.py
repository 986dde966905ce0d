"""`harness alfworld`."""

from __future__ import annotations

import os
from pathlib import Path

from cyclopts import App, Parameter

from harness_bridges.alfworld.games import generate_games, read_game
from harness_core.cli.console import say, table
from harness_core.errors import HarnessError

app = App(
    name="alfworld",
    help="ALFWorld's games: making them, and comparing the engines that play them.",
    default_parameter=Parameter(negative=()),
)


@app.command
def generate(
    folder: Path,
    /,
    *,
    count: int = 60,
    seed: int = 0,
    split: str = "train",
    family: list[str] | None = None,
    room: list[str] | None = None,
    receptacles: int | None = None,
    closed: float = 1.0,
    hidden: bool | None = None,
    distractors: int | None = None,
    spares: int | None = None,
    plan_length: tuple[int, int] | None = None,
) -> int:
    """Makes games in a data root, in the benchmark's own format; what is there is kept.

    Every game is solved first: its file holds a shortest plan. What is left out is as in the
    benchmark.

    For example::

        harness alfworld generate games --count 60
        harness alfworld generate games --split valid_unseen --family pick_two_obj_and_place
        harness alfworld generate games --room kitchen --receptacles 40 --hidden
        ALFWORLD_DATA=games harness run alfworld --all --policy household

    Args:
        folder: the data root; name it in ALFWORLD_DATA to play the games.
        count: how many; the families take turns.
        seed: all the randomness there is; the same seed makes the same files.
        split: train, valid_seen or valid_unseen, which has rooms of its own.
        family: one of the six; may be repeated; default all that the rooms offer.
        room: kitchen, livingroom, bedroom or bathroom; may be repeated; default all.
        receptacles: how many places a room has, 2 to 200; more take longer to search.
        closed: the share of the doors that are closed at first, 0 to 1; the others stand open.
        hidden: how deep the targets lie: behind closed doors, or with --hidden=false in plain
            sight; default either.
        distractors: objects of other types, 0 to 500; default one to two per receptacle.
        spares: objects of the target type beyond those needed, 0 to 50, which make it easier;
            default 0 to 2.
        plan_length: the least and the greatest number of commands of a shortest plan.
    """
    if count < 1:
        raise HarnessError(f"--count is a whole number from 1; got {count}.")
    try:
        games = generate_games(
            folder,
            count=count,
            seed=seed,
            split=split,
            families=family,
            rooms=room,
            receptacles=receptacles,
            closed=closed,
            hidden=hidden,
            distractors=distractors,
            spares=spares,
            plan_length=plan_length,
        )
    except OSError as error:
        raise HarnessError(f"Cannot write games into {folder}: {error}.") from error
    plans: dict[str, list[int]] = {}
    for game in games:
        plans.setdefault(game.family, []).append(len(read_game(game.path)["walkthrough"]))
    rows = [[name, f"{len(each)}", f"{min(each)} to {max(each)}"] for name, each in plans.items()]
    table(["family", ">games", ">commands of a plan"], rows)
    say(f"{len(games)} games in {folder}. Play them with: ALFWORLD_DATA={folder} harness ...")
    return 0


@app.command
def diff(
    *,
    games: Path | None = None,
    steps: int = 60,
    seed: int = 0,
    count: int = 12,
    engine_a: str = "native",
    engine_b: str = "textworld",
) -> int:
    """Plays games on two engines side by side and shows where their answers differ.

    Text, admissible commands in their order, validity and win are compared at every step. Each
    game gets four walks: random, adversarial, directed by its stored plan, and scripted. A
    difference is shown with the fewest commands that lead to it, and the exit code is then 1.

    For example::

        harness alfworld diff --games games --count 60
        harness alfworld diff --engine-b tests/bridges/alfworld/data/walks.jsonl.xz

    Args:
        games: the data root; default: the folder that ALFWORLD_DATA names.
        steps: of each walk.
        seed: draws the games and the walks.
        count: how many games, the families in turn.
        engine_a: native or textworld.
        engine_b: likewise; or recorded walks, a file or a folder of them, with their own games.
    """
    from harness_bridges.alfworld.diff.report import diff_live, diff_recorded, is_recorded

    if count < 1 or steps < 1:
        raise HarnessError(f"--count and --steps are numbers from 1; got {count} and {steps}.")
    if is_recorded(engine_b):
        if games is not None:
            raise HarnessError("Recorded walks bring their own games: leave --games out.")
        return 0 if diff_recorded(engine_a, Path(engine_b)) else 1
    root = games or os.environ.get("ALFWORLD_DATA")
    if not root:
        raise HarnessError("Name the games to compare on: --games FOLDER, or ALFWORLD_DATA.")
    return 0 if diff_live(Path(root), engine_a, engine_b, count, steps, seed) else 1
