"""`harness export`."""

from __future__ import annotations

from pathlib import Path

from harness_core.cli.console import note
from harness_core.cli.parsing import existing_run
from harness_core.errors import HarnessError
from harness_core.export import export_jsonl
from harness_core.store import RunStore


def export(path: Path, /, *, to: Path) -> None:
    """Writes the episodes of a run to a file, one JSON object per line.

    For example::

        harness export runs/ENV-random-1a2b3c4d --to episodes.jsonl

    Args:
        path: folder or .db file of the run.
        to: the file to write, *.jsonl; it appears whole or not at all.
    """
    if to.suffix != ".jsonl":
        raise HarnessError(f"--to names a .jsonl file; got {to}.")
    with RunStore(existing_run(path)) as store:
        count = export_jsonl(store, to)
    note(f"{count} episodes written to {to}")
