"""What folders a data root holds: walked once, then remembered in one small file.

The file lies in the data root, as `.harness-index`; for a root that cannot be written, in the
cache folder that XDG_CACHE_HOME names. It holds the names in each folder with the time of the
folder's last change, so a folder to which anything was added, or in which anything was removed
or renamed, is read again. Nothing depends on the file: it may be deleted at any time.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from harness_bridges.alfworld.games.whole import write_whole

INDEX_FILE = ".harness-index"

SETTLED_NS = 2_000_000_000
"""A folder that changed less than this ago is read again next time: another change might bear
the same time."""

Folders = dict[str, tuple[int, list[str]]]
"""Folder, relative to the root -> time of its last change, and the folders in it, sorted."""


def list_trials(root: Path) -> list[tuple[str, str, str]]:
    """The names of all folders three levels below a data root: split, task and trial; sorted."""
    path = _index_file(root)
    known, found = _read(path), Folders()
    trials = []
    for split in _names(root):
        for task in _list(root, split, known, found):
            for trial in _list(root, f"{split}/{task}", known, found):
                trials.append((split, task, trial))
    if found != known:
        _write(path, found)
    return trials


def _list(root: Path, folder: str, known: Folders, found: Folders) -> list[str]:
    """The folders in a folder, remembered or read; none if it is gone or closed to us."""
    where = f"{root}/{folder}"
    try:
        status = os.stat(where)
        changed = max(status.st_mtime_ns, status.st_ctime_ns)
        entry = known.get(folder)
        if entry is None or entry[0] != changed:
            settled = changed < time.time_ns() - SETTLED_NS
            entry = (changed if settled else 0, _names(where))
    except OSError:
        return []
    found[folder] = entry
    return entry[1]


def _names(folder: Path | str) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(e.name for e in entries if not e.name.startswith(".") and _is_folder(e))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, say
        return False


def _index_file(root: Path) -> Path:
    if os.access(root, os.W_OK):
        return root / INDEX_FILE
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    name = sha256(os.fsencode(root.resolve())).hexdigest()[:16]
    return Path(caches) / "harness" / "alfworld" / name


def _read(path: Path) -> Folders:
    """What was remembered; nothing if the file is missing or not exactly what was written."""
    try:
        digest, _, text = path.read_text(encoding="utf-8").partition("\n")
        if digest != sha256(text.encode()).hexdigest():
            return {}
        return {folder: (changed, names) for folder, (changed, names) in json.loads(text).items()}
    except (OSError, ValueError):
        return {}


def _write(path: Path, folders: Folders) -> None:
    text = json.dumps(folders)
    with suppress(OSError):  # a full disk, say: the next call walks again
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{sha256(text.encode()).hexdigest()}\n{text}")
