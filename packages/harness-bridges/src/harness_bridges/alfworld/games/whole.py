"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex


def write_whole(path: Path, text: str) -> None:
    """Writes a text file in one piece; of several writers at once, one wins.

    Raises:
        OSError: it cannot be written; nothing is left behind.
    """
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
