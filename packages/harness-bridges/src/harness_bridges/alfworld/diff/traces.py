"""Recorded walks: what an engine answered, kept in a file, so that it need not be there again.

A file is xz-compressed JSON lines; a line is one walk through one game, with the game in it.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from harness_bridges.alfworld.diff.compare import Difference, Engine, begin
from harness_bridges.alfworld.diff.walks import start_walk
from harness_bridges.alfworld.frame import Frame
from harness_core.errors import SpecError
from harness_core.values import JsonDict

SUFFIX = ".jsonl.xz"


@frozen
class Trace:
    """One walk through one game.

    Args:
        name: of the game.
        kind: of the walk.
        game: the content of the game file.
        commands: what was typed.
        frames: the answers: to the start, and to each command.
    """

    name: str
    kind: str
    game: JsonDict
    commands: tuple[str, ...]
    frames: tuple[Frame, ...]


def record(engine: Engine, name: str, game: JsonDict, kind: str, seed: str, steps: int) -> Trace:
    """Walks through a game and keeps what the engine answers.

    Raises:
        EnvError: the engine refuses the game.
    """
    frames = [engine.start(game)]
    commands: list[str] = []
    walk = start_walk(kind, seed, game["walkthrough"], frames[0])
    for _ in range(steps):
        commands.append(walk.send(frames[-1]) if commands else next(walk))
        frames.append(engine.act(commands[-1]))
    return Trace(name, kind, game, tuple(commands), tuple(frames))


def retrace(engine: Engine, trace: Trace) -> tuple[int, Difference | None]:
    """Plays a recorded walk until the engine's answer is not the recorded one.

    Returns:
        The steps that were compared, and the difference: the engine's, then the recorded answer.
    """
    frame = begin(engine, trace.game)
    step = 0
    while frame == trace.frames[step] and step < len(trace.commands):
        frame = engine.act(trace.commands[step])
        step += 1
    same = frame == trace.frames[step]
    return step, None if same else Difference(trace.commands[:step], frame, trace.frames[step])


def write_traces(path: Path, traces: Iterable[Trace]) -> None:
    """Writes a file in one piece: it is there whole, or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    with lzma.open(partial, "wt", encoding="utf-8", preset=9) as file:
        for trace in traces:
            line = {
                "name": trace.name,
                "kind": trace.kind,
                "game": trace.game,
                "commands": trace.commands,
                "frames": trace.frames,
            }
            file.write(json.dumps(line) + "\n")
    partial.replace(path)


def read_traces(path: Path) -> Iterator[Trace]:
    """The walks in a file.

    Raises:
        SpecError: it cannot be read, or holds something else.
    """
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                found = json.loads(line)
                frames = tuple(Frame(*frame) for frame in found["frames"])
                commands = tuple(found["commands"])
                yield Trace(found["name"], found["kind"], found["game"], commands, frames)
    except (OSError, EOFError, ValueError, TypeError, KeyError, lzma.LZMAError) as error:
        raise SpecError(
            f"{path} holds no recorded walks: {type(error).__name__}: {error}."
        ) from error
