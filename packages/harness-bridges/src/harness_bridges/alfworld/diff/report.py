"""What `harness alfworld diff` does and prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness_bridges.alfworld.diff.compare import ENGINES, Difference, compare, open_engine, shrink
from harness_bridges.alfworld.diff.traces import SUFFIX, read_traces, retrace
from harness_bridges.alfworld.diff.walks import KINDS
from harness_bridges.alfworld.games import FAMILIES, Game, find_games, read_game
from harness_core.cli.console import progress, say, table
from harness_core.errors import HarnessError, SpecError


class Tally:
    """Counts what was compared, and prints every difference as it is found."""

    def __init__(self, engine_a: str, engine_b: str) -> None:
        self._engines = engine_a, engine_b
        self._walks: Counter[str] = Counter()
        self._steps: Counter[str] = Counter()
        self._found: Counter[str] = Counter()

    def add(self, game: str, kind: str, steps: int, found: Difference | None) -> None:
        """One walk that was compared."""
        self._walks[kind] += 1
        self._steps[kind] += steps
        if found:
            self._found[kind] += 1
            for line in described(game, kind, self._engines, found):
                say(line)

    def close(self) -> bool:
        """Prints the table; whether there was no difference."""
        rows = [
            [kind, *(str(count[kind]) for count in (self._walks, self._steps, self._found))]
            for kind in KINDS
            if self._walks[kind]
        ]
        total = [str(count.total()) for count in (self._walks, self._steps, self._found)]
        table(["walk", ">walks", ">steps", ">differences"], [*rows, ["total", *total]])
        return not self._found


def described(game: str, kind: str, engines: tuple[str, str], found: Difference) -> Iterator[str]:
    """A difference in lines: where, after which commands, and both answers."""
    where = "at the start" if not found.commands else f"after {len(found.commands)} commands"
    yield f"{game}, {kind} walk: {' and '.join(found.fields)} differ {where}:"
    for number, command in enumerate(found.commands, 1):
        yield f"  {number}. {command!r:.200}"
    for name, frame, other in (
        (engines[0], found.a, found.b),
        (engines[1], found.b, found.a),
    ):
        for field in found.fields:
            if field != "admissible":
                yield f"  {name}: {field} {getattr(frame, field)!r}"
            elif only := [each for each in frame.admissible if each not in other.admissible]:
                yield f"  {name}: alone admits {', '.join(map(repr, only))}"
            else:
                yield f"  {name}: admits nothing that the other does not, or in another order"


def diff_live(games: Path, engine_a: str, engine_b: str, count: int, steps: int, seed: int) -> bool:
    """Walks through drawn games on two engines; whether they agree.

    Raises:
        HarnessError: there are no games, or an engine cannot be had.
    """
    drawn = draw_games(find_games(games), count, seed)
    if not drawn:
        raise HarnessError(f"{games} holds no games. Make some: harness alfworld generate {games}")
    tally = Tally(engine_a, engine_b)
    with (
        open_engine(engine_a) as a,
        open_engine(engine_b) as b,
        progress(len(drawn), "games") as advance,
    ):
        for game in drawn:
            content = read_game(game.path)
            for kind in KINDS:
                walk_seed = f"{seed} {game.id} {kind}"
                compared, found = compare(a, b, content, kind, walk_seed, steps)
                if found:
                    found = shrink(a, b, content, found)
                tally.add(game.id, kind, compared, found)
            advance()
    return tally.close()


def diff_recorded(engine_a: str, recorded: Path) -> bool:
    """Plays recorded walks, of one file or of all in a folder; whether the engine agrees.

    Raises:
        SpecError: there are none.
    """
    paths = sorted(recorded.glob(f"*{SUFFIX}")) if recorded.is_dir() else [recorded]
    if not paths:
        raise SpecError(f"{recorded} holds no files *{SUFFIX}.")
    tally = Tally(engine_a, "recorded")
    with open_engine(engine_a) as engine:
        for path in paths:
            for trace in read_traces(path):
                tally.add(trace.name, trace.kind, *retrace(engine, trace))
    return tally.close()


def draw_games(games: Sequence[Game], count: int, seed: int) -> list[Game]:
    """So many games, the families in turn."""
    rng = Random(f"games {seed}")
    groups = [[game for game in games if game.family == family] for family in FAMILIES]
    for group in groups:
        rng.shuffle(group)
    turns = max(map(len, groups))
    return [group[turn] for turn in range(turns) for group in groups if turn < len(group)][:count]


def is_recorded(engine: str) -> bool:
    """Whether an engine's name is the path of recorded walks instead."""
    return engine not in ENGINES and (engine.endswith(SUFFIX) or Path(engine).is_dir())
