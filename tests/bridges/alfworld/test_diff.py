"""Comparing engines: the native one says what the reference said, and what differs is found."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_bridges.alfworld.diff import (
    KINDS,
    Engine,
    Trace,
    compare,
    open_engine,
    read_traces,
    record,
    retrace,
    shrink,
    write_traces,
)
from harness_bridges.alfworld.frame import Frame
from harness_bridges.alfworld.games import FAMILIES, generate_games, read_game
from harness_core.errors import SpecError, UnknownIdError
from harness_core.values import JsonDict
from support.alfworld_games import REAL, real_games
from support.alfworld_odd import oddly
from support.alfworld_traces import TEXTS, WALKS, texts_in, with_texts
from support.cli import Cli

SEED = os.environ.get("ALFWORLD_DIFF_SEED", "0")
"""Of the fresh draws below."""


@pytest.fixture(scope="module")
def recorded() -> list[Trace]:
    return list(read_traces(WALKS))


@pytest.fixture
def native() -> Iterator[Engine]:
    with open_engine("native") as engine:
        yield engine


def test_recorded_walks_are_reproduced(native: Engine, recorded: list[Trace]) -> None:
    """The native engine gives every answer of the reference that is kept with the tests.

    They are of all families and walks, in every wording that the engine knows, with rare facts.
    """
    for trace in recorded:
        assert retrace(native, trace) == (len(trace.commands), None), trace.name
    assert {trace.kind for trace in recorded} == set(KINDS)
    for texts in TEXTS:
        names = [trace.name for trace in recorded if trace.name.startswith(f"{texts}/")]
        assert {family for family in FAMILIES for name in names if family in name} == set(FAMILIES)
    assert sum(len(trace.commands) for trace in recorded) >= 5000


def test_recorded_walks_touch_everything(recorded: list[Trace]) -> None:
    """Every verb, every sentence about an object, a win and its loss occur in the recordings."""
    frames = [frame for trace in recorded for frame in trace.frames]
    said = "\n".join(frame.text for frame in frames)
    for sentence in (
        *("You arrive at loc ", "You open the ", "You close the ", "You pick up the ", "in/on the"),
        *("You move the ", "You clean the ", "You heat the ", "You cool the ", "You turn on the "),
        *("You sliced the ", "Nothing happens.", "Available commands:", "You are carrying: a "),
        *("This is a normal ", "This is a hot ", "This is a cold ", "This is a clean "),
        *("hot and clean", "cool and clean", "There's nothing special about ", " sliced "),
        *("Next to it, you see a ", "You are in the middle of a room. Looking", " is on."),
    ):
        assert sentence in said, sentence
    ends = [
        (before.won, after.won)
        for trace in recorded
        for before, after in zip(trace.frames, trace.frames[1:], strict=False)
    ]
    assert {(False, True), (True, True), (True, False)} <= set(ends)


@pytest.mark.textworld
@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_draw_agrees(native: Engine, tmp_path: Path, kind: str) -> None:
    """On new games, plain and with rare facts, in all wordings, the engines answer alike."""
    pytest.importorskip("textworld")
    seed = f"{SEED} {kind}"
    texts = texts_in(WALKS)
    draw = generate_games(tmp_path, count=2, seed=50 + int(SEED), receptacles=10)
    with open_engine("textworld") as reference:
        for number, each in enumerate(draw):
            game = read_game(each.path)
            name = TEXTS[(number + [*KINDS].index(kind)) % len(TEXTS)]
            game = game if name == "generated" else with_texts(game, texts[name])
            for played in (game, oddly(game, f"{seed} {number}")):
                _, found = compare(native, reference, played, kind, f"{seed} {number}", 15)
                assert found is None, (name, each.id, shrink(native, reference, played, found))


@pytest.mark.textworld
@pytest.mark.skipif(not REAL, reason="ALFWORLD_DATA names no games")
def test_real_games_agree(native: Engine) -> None:
    """On a game of each family the engines answer alike."""
    pytest.importorskip("textworld")
    with open_engine("textworld") as reference:
        for number, each in enumerate(real_games(1)):
            game, kind = read_game(each.path), [*KINDS][number % len(KINDS)]
            _, found = compare(native, reference, game, kind, f"{SEED} {each.id}", 20)
            assert found is None, (each.id, shrink(native, reference, game, found))


class Forgetful:
    """The native engine with a flaw: it never says that something is carried."""

    def __init__(self, native: Engine) -> None:
        self._native = native

    def start(self, game: JsonDict) -> Frame:
        return self._native.start(game)

    def act(self, command: str) -> Frame:
        frame = self._native.act(command)
        if frame.text.startswith("You are carrying"):
            return frame._replace(text="You are not carrying anything.")
        return frame


def test_a_difference_is_found_and_shrunk(native: Engine, recorded: list[Trace]) -> None:
    """A flaw is found by a walk, and the commands that show it are as few as can be."""
    game = recorded[0].game
    with open_engine("native") as other:
        flawed = Forgetful(other)
        steps, found = compare(flawed, native, game, "random", "0", 200)
        assert found is not None
        assert steps == len(found.commands)
        least = shrink(flawed, native, game, found)
    assert least.fields == ["text"]
    assert least.a.text == "You are not carrying anything."
    assert least.commands[-1] == "inventory"
    verbs = [command.split()[0] for command in least.commands]
    assert verbs in (["go", "take", "inventory"], ["go", "open", "take", "inventory"])


def test_a_refused_game_is_a_difference(native: Engine, recorded: list[Trace]) -> None:
    """Where one engine alone refuses a game, its reason is shown; where both do, they agree."""
    trace = recorded[0]
    unknown = {**trace.game, "pddl_domain": "(define (domain golf))"}
    steps, found = retrace(native, Trace("x", "random", unknown, trace.commands, trace.frames))
    assert steps == 0
    assert found is not None
    assert "pddl_domain" in found.a.text
    with open_engine("native") as other:
        assert compare(native, other, unknown, "random", "0", 5) == (0, None)


@pytest.mark.parametrize("kind", KINDS)
def test_walks_are_the_same_for_a_seed(native: Engine, recorded: list[Trace], kind: str) -> None:
    """The same seed gives the same commands, another seed gives others."""
    game = recorded[0].game
    first = record(native, "game", game, kind, "1", 40)
    assert record(native, "game", game, kind, "1", 40) == first
    assert record(native, "game", game, kind, "2", 40).commands != first.commands


def test_walks_use_no_set_order() -> None:
    """A seed gives the same walks in processes with different hash seeds."""
    told = {
        subprocess.run(
            [sys.executable, "-c", _PRINT_WALKS, str(WALKS)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for seed in "01"
    }
    assert len(told) == 1
    assert "inventory" in told.pop()


_PRINT_WALKS = """
import sys
from pathlib import Path
from harness_bridges.alfworld.diff import KINDS, open_engine, read_traces, record
game = next(read_traces(Path(sys.argv[1]))).game
with open_engine("native") as engine:
    for kind in KINDS:
        print(record(engine, "game", game, kind, "1", 40).commands)
"""


def test_traces_are_written_and_read(tmp_path: Path, recorded: list[Trace]) -> None:
    """What is read is what was written; a file that is cut off, or no such file, is refused."""
    path = tmp_path / "some.jsonl.xz"
    write_traces(path, recorded[:2])
    assert list(read_traces(path)) == recorded[:2]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(SpecError, match=r"some\.jsonl\.xz holds no recorded walks"):
        list(read_traces(path))
    path.write_text("{}")
    with pytest.raises(SpecError, match="holds no recorded walks"):
        list(read_traces(path))


def test_unknown_engines_are_named() -> None:
    """An engine that does not exist is refused with those that do."""
    with pytest.raises(UnknownIdError, match="native, textworld"), open_engine("godot"):
        pass


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_the_command_compares_with_a_recording(cli: Cli, recorded: list[Trace]) -> None:
    """`harness alfworld diff` ends with 0 and a table, or with 1 and both answers."""
    done = cli("alfworld", "diff", "--engine-b", str(WALKS))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["total", "96", "5760", "0"]
    trace = recorded[0]
    frames = [*trace.frames]
    frames[3] = frames[3]._replace(text="A dragon!", admissible=["flee", *frames[3].admissible])
    altered = Trace(trace.name, trace.kind, trace.game, trace.commands, tuple(frames))
    write_traces(cli.folder / "altered.jsonl.xz", [altered])
    done = cli("alfworld", "diff", "--engine-b", "altered.jsonl.xz")
    assert done.returncode == 1
    assert "text and admissible differ after 3 commands" in done.stdout
    assert f"3. {trace.commands[2]!r}" in done.stdout
    assert "recorded: text 'A dragon!'" in done.stdout
    assert "recorded: alone admits 'flee'" in done.stdout


def test_the_command_compares_two_engines(cli: Cli) -> None:
    """Drawn games get all walks on both engines; what is wrong with the request is told."""
    generate_games(cli.folder / "games", count=2, seed=1)
    wanted = ("alfworld", "diff", "--engine-b", "native", "--steps", "10")
    done = cli(*wanted, "--games", "games")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split() == ["total", "8", "80", "0"]
    (cli.folder / "empty").mkdir()
    for arguments, told in (
        ([], "--games FOLDER"),
        (["--games", "empty"], "holds no games"),
        (["--games", "games", "--count", "0"], "--count and --steps"),
        (["--games", "games", "--engine-a", "godot"], "Known: native, textworld"),
    ):
        done = cli(*wanted, *arguments)
        assert done.returncode == 2
        assert told in " ".join(done.stderr.split())
