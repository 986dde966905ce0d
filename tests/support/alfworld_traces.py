"""Records the reference's walks that are kept with the tests.

With alfworld and textworld installed, in the folder `tests`: python -m support.alfworld_traces

Games in the wording of the alfworld package, of the published files and of the older files are
generated ones with the texts put in that the present recording has.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from harness_bridges.alfworld.diff import (
    KINDS,
    Engine,
    begin,
    open_engine,
    read_traces,
    record,
    write_traces,
)
from harness_bridges.alfworld.games import generate_games, read_game
from harness_core.values import JsonDict
from support.alfworld_odd import oddly

WALKS = Path(__file__).parents[1] / "bridges" / "alfworld" / "data" / "walks.jsonl.xz"

TEXTS = ("generated", "package", "published", "older")
"""Whose domain and grammar texts a game has; a walk's name begins with it."""

_TASK = re.compile(r"Your task is to: [^\"]*")


def with_texts(game: JsonDict, like: JsonDict) -> JsonDict:
    """The game in another game's domain and grammar texts, and its plan in their wording."""
    (task,) = _TASK.findall(game["grammar"])
    grammar = _TASK.sub(task, like["grammar"])
    plan = game["walkthrough"]
    if "put {o} in/on {r}" in grammar:
        plan = [re.sub(r"^move (.*) to (.*)", r"put \1 in/on \2", command) for command in plan]
    texts = {"pddl_domain": like["pddl_domain"], "grammar": grammar, "walkthrough": plan}
    return {**game, **texts}


def texts_in(path: Path) -> dict[str, JsonDict]:
    """A game of each of `TEXTS` but the first, from recorded walks."""
    return {trace.name.split("/")[0]: trace.game for trace in read_traces(path)}


def main() -> None:
    known = texts_in(Path(sys.argv[1]) if sys.argv[1:] else WALKS)
    traces = []
    with tempfile.TemporaryDirectory() as folder, open_engine("textworld") as engine:
        drawn = generate_games(Path(folder), count=24, seed=5, receptacles=12)
        for number, each in enumerate(drawn):
            texts = TEXTS[number // 6]
            game = read_game(each.path)
            if texts != "generated":
                game = with_texts(game, known[texts])
            name = f"{texts}/{each.id}"
            for turn, kind in enumerate(KINDS, number // 6):
                played = _playable(engine, game, f"{name} {kind}") if turn % 2 else game
                traces.append(record(engine, name, played, kind, f"recorded {name} {kind}", 60))
    write_traces(WALKS, traces)


def _playable(engine: Engine, game: JsonDict, seed: str) -> JsonDict:
    """The game with rare facts that do not put its goal out of reach."""
    for trial in range(100):
        odd = oddly(game, f"{seed} {trial}")
        if begin(engine, odd).admissible:
            return odd
    raise AssertionError(f"no change leaves {seed} solvable")


if __name__ == "__main__":
    main()
