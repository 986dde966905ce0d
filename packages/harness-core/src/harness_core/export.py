"""Exports of a run store."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from harness_core.errors import StoreError
from harness_core.serial import canonical, to_data
from harness_core.store import RunStore


def export_jsonl(store: RunStore, path: Path) -> int:
    """Writes one JSON line per episode: `{"unit": {...}, "episode": {...}}`.

    The file appears whole or not at all.

    Returns:
        The number of lines.

    Raises:
        StoreError: the file cannot be written.
    """
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        with part.open("w", encoding="utf-8") as lines:
            for unit, episode in store.episodes():
                lines.write(canonical({"unit": unit, "episode": to_data(episode)}) + "\n")
                count += 1
        os.replace(part, path)
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error}. The run itself is untouched.") from error
    finally:
        with suppress(OSError):
            part.unlink()
    return count
