"""What an engine says after a reset or a command: the same for every engine."""

from __future__ import annotations

from typing import NamedTuple


class Frame(NamedTuple):
    """One answer.

    Args:
        text: the words, as ALFWorld's users see them.
        admissible: all commands that would have an answer now, sorted as the engine does.
        valid: whether the last command was one of them.
        won: the engine's verdict on the state.
        done: whether the game is over by the engine's rules.
    """

    text: str
    admissible: list[str]
    valid: bool
    won: bool
    done: bool
