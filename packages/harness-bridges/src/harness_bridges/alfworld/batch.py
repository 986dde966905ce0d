"""Many games stepped in one call, as plain lists: for training loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness_bridges.alfworld.engine import Play, World
from harness_bridges.alfworld.frame import Frame
from harness_core.errors import HarnessError


class Answers(NamedTuple):
    """One list for each field of `Frame`, one item for each game."""

    texts: list[str]
    admissible: list[list[str]]
    valid: list[bool]
    won: list[bool]
    done: list[bool]


class AlfworldBatch:
    """Plays n games side by side in the native engine.

    It knows no budget and starts nothing anew by itself: `start` gives one place another game.

    For example::

        worlds = [load_world(game.path) for game in find_games(root)[:64]]
        batch = AlfworldBatch(worlds)
        answers = batch.reset()
        answers = batch.step([choose(text) for text in answers.texts])

    Args:
        worlds: one for each place; the same world may have several.
    """

    def __init__(self, worlds: Iterable[World]) -> None:
        self.plays = [Play(world) for world in worlds]

    def __len__(self) -> int:
        return len(self.plays)

    def reset(self) -> Answers:
        """Starts all games from their beginnings."""
        return _answers([play.start() for play in self.plays])

    def step(self, commands: Sequence[str]) -> Answers:
        """Executes one command in each game; what is not admissible changes nothing there.

        Raises:
            HarnessError: there are not as many commands as games.
        """
        if isinstance(commands, str) or len(commands) != len(self.plays):
            raise HarnessError(
                f"The batch has {len(self.plays)} games and got {_counted(commands)}: give "
                "one to each, for example 'look' where a game is over."
            )
        if odd := [each for each in commands if not isinstance(each, str)]:
            raise HarnessError(f"A command is a text, not {odd[0]!r:.80}.")
        pairs = zip(self.plays, commands, strict=True)
        return _answers([play.act(command) for play, command in pairs])

    def start(self, place: int, world: World | None = None) -> Frame:
        """Starts one place anew, with another world if one is given."""
        play = self.plays[place] = Play(world or self.plays[place].world)
        return play.start()


def _answers(frames: list[Frame]) -> Answers:
    columns = [list(column) for column in zip(*frames, strict=True)] or [[] for _ in Frame._fields]
    return Answers(*columns)


def _counted(commands: Sequence[str]) -> str:
    return "one text" if isinstance(commands, str) else f"{len(commands)} commands"
