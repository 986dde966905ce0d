"""What a worker is doing and since when, in memory that it shares with its parent.

A message for each step would cost the parent more than the step costs the worker.
"""

from __future__ import annotations

import os
import struct
import time
from mmap import mmap
from typing import Literal, get_args

Limited = Literal["reset", "step", "evaluate", "episode"]
"""What has a limit of its own; `"episode"` is everything else that an episode does."""

_NAMES: tuple[Limited, ...] = get_args(Limited)
_LAYOUT = struct.Struct("=qd")


class Doing:
    """The newest thing begun, and when.

    Args:
        file: descriptor of an empty or shared file; may be closed afterwards.
    """

    def __init__(self, file: int) -> None:
        if os.fstat(file).st_size < _LAYOUT.size:
            os.ftruncate(file, _LAYOUT.size)
        self._memory = mmap(file, _LAYOUT.size)

    def begin(self, name: Limited) -> None:
        """Something begins now."""
        _LAYOUT.pack_into(self._memory, 0, _NAMES.index(name), time.monotonic())

    def read(self) -> tuple[Limited, float]:
        """What was begun last, and when by the machine's monotonic clock."""
        seen = None
        while seen != (seen := _LAYOUT.unpack_from(self._memory)):
            pass  # the writer was half-way: read again
        number, since = seen
        return _NAMES[number], since

    def close(self) -> None:
        """Frees the memory. May be called twice."""
        self._memory.close()
