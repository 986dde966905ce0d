"""Plays one game on two engines, finds where they first differ, and with how few commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from attrs import frozen

from harness_bridges.alfworld.diff.walks import Walk, start_walk
from harness_bridges.alfworld.engine import Play, read_world
from harness_bridges.alfworld.frame import Frame
from harness_bridges.alfworld.reference import borrow_engine, return_engine
from harness_core.errors import EnvError, UnknownIdError
from harness_core.values import JsonDict

ENGINES = ("native", "textworld")


class Engine(Protocol):
    """What is compared."""

    def start(self, game: JsonDict) -> Frame:
        """Starts a game, given as a game file's content, from its beginning."""

    def act(self, command: str) -> Frame:
        """Executes a command."""


class _Native:
    def start(self, game: JsonDict) -> Frame:
        self._play = Play(read_world(game))
        return self._play.start()

    def act(self, command: str) -> Frame:
        return self._play.act(command)


@contextmanager
def open_engine(name: str) -> Iterator[Engine]:
    """An engine by its name.

    Raises:
        UnknownIdError: there is no such engine.
        MissingExtraError: what the engine needs is not installed.
    """
    if name not in ENGINES:
        raise UnknownIdError("ALFWorld engine", name, ENGINES)
    if name == "native":
        yield _Native()
        return
    engine = borrow_engine()
    try:
        yield engine
    finally:
        return_engine(engine)


@frozen
class Difference:
    """Where two engines part.

    Args:
        commands: what led there; empty: the start.
        a: the answer of the first engine to the last of them.
        b: of the second.
    """

    commands: tuple[str, ...]
    a: Frame
    b: Frame

    @property
    def fields(self) -> list[str]:
        """In what the answers differ: `"text"`, `"admissible"`, ..."""
        return [name for name in Frame._fields if getattr(self.a, name) != getattr(self.b, name)]


def compare(
    a: Engine, b: Engine, game: JsonDict, kind: str, seed: str, steps: int
) -> tuple[int, Difference | None]:
    """Walks through a game on both engines until they differ.

    Args:
        a: an engine.
        b: another.
        game: the content of a game file.
        kind: of the walk.
        seed: of the walk.
        steps: how many.

    Returns:
        The steps that were compared, and the difference.
    """
    return _side_by_side(
        a, b, game, lambda frame: start_walk(kind, seed, game["walkthrough"], frame), steps
    )


def shrink(a: Engine, b: Engine, game: JsonDict, found: Difference) -> Difference:
    """A difference in the same game, none of whose commands can be left out.

    By delta debugging: leaves out ever smaller parts, as long as the engines still differ.
    """
    part = len(found.commands)
    while part:
        before, position = found, 0
        while position < len(found.commands):
            rest = found.commands[:position] + found.commands[position + part :]
            _, less = _side_by_side(a, b, game, _given(rest), len(rest))
            if less:
                found = less
            else:
                position += part
        if part > 1 or found is before:
            part //= 2
    return found


def _given(commands: Sequence[str]) -> Callable[[Frame], Walk]:
    def walk(_: Frame) -> Walk:
        left = [*commands]
        while left:
            yield left.pop(0)

    return walk


def _side_by_side(
    a: Engine, b: Engine, game: JsonDict, walk_from: Callable[[Frame], Walk], steps: int
) -> tuple[int, Difference | None]:
    first, second = begin(a, game), begin(b, game)
    if not first.admissible and not second.admissible:
        return 0, None
    commands: list[str] = []
    walk = walk_from(second)
    while first == second and len(commands) < steps:
        commands.append(walk.send(second) if commands else next(walk))
        first, second = a.act(commands[-1]), b.act(commands[-1])
    different = None if first == second else Difference(tuple(commands), first, second)
    return len(commands), different


def begin(engine: Engine, game: JsonDict) -> Frame:
    """The first answer; where the engine refuses the game, its reason, and nothing admissible."""
    try:
        return engine.start(game)
    except EnvError as error:
        return Frame(str(error), [], False, False, False)
