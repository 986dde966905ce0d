"""`harness alfworld`."""

from __future__ import annotations

from pathlib import Path

from cyclopts import App, Parameter

from harness_bridges.alfworld.games import FAMILIES, generate_games
from harness_core.cli.console import say, table
from harness_core.errors import HarnessError

app = App(
    name="alfworld", help="ALFWorld's games: making them.", default_parameter=Parameter(negative=())
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
    size: str = "full",
    hidden: bool | None = None,
) -> int:
    """Makes games in a data root, in the benchmark's own format; what is there is kept.

    For example::

        harness alfworld generate games --count 60
        harness alfworld generate games --split valid_unseen --family pick_two_obj_and_place
        ALFWORLD_DATA=games harness run alfworld --all --policy household

    Args:
        folder: the data root; name it in ALFWORLD_DATA to play the games.
        count: how many; the families take turns.
        seed: all the randomness there is; the same seed makes the same files.
        split: train, valid_seen or valid_unseen, which has rooms of its own.
        family: one of the six; may be repeated; default all.
        room: kitchen, livingroom, bedroom or bathroom; may be repeated; default all.
        size: full, or small for rooms that the engine plays several times faster.
        hidden: true: the target objects start behind closed doors; false: in plain sight.
    """
    if count < 1:
        raise HarnessError(f"--count is a whole number from 1; got {count}.")
    try:
        games = generate_games(
            folder,
            count=count,
            seed=seed,
            split=split,
            families=family or FAMILIES,
            rooms=room,
            size=size,  # type: ignore[arg-type]  # checked there, with the known sizes
            hidden=hidden,
        )
    except OSError as error:
        raise HarnessError(f"Cannot write games into {folder}: {error}.") from error
    rows = [[name, str(sum(game.family == name for game in games))] for name in FAMILIES]
    table(["family", ">games"], [row for row in rows if row[1] != "0"])
    say(f"{len(games)} games in {folder}. Play them with: ALFWORLD_DATA={folder} harness ...")
    return 0
