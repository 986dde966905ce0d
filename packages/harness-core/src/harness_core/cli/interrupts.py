"""SIGTERM unwinds the program as Ctrl-C does, so that one clean-up serves both."""

from __future__ import annotations

import signal
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived. Whatever handles Ctrl-C handles this too."""


def unwind_on_sigterm() -> None:
    """From now on the first SIGTERM raises `Terminated`; later ones do not disturb the clean-up."""
    signal.signal(signal.SIGTERM, _terminate)


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """What a shell expects: 128 and the signal's number."""
    number = signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT
    return 128 + number


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
