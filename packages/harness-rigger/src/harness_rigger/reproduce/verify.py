"""Measures the stacks of a corpus, in a process that is given nothing but the file.

Run as `python -m harness_rigger.reproduce.verify CORPUS OUT FIRST_SEED STOP_SEED WORKERS`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness_core.rollout import RolloutPool
from harness_core.store import RunStore
from harness_rigger.corpus import measure, read_corpus
from harness_rigger.reproduce.band import MAX_STEPS, SUBJECT, figures


def main(corpus: Path, out: Path, seeds: range, workers: int) -> None:
    """Writes `{digest: figures}` for every stack of the corpus."""
    entries = read_corpus(corpus)
    with (
        RunStore(out.with_suffix(".db")) as store,
        RolloutPool(workers, store=store) as pool,
    ):
        evidence = measure(pool, [entry.stack for entry in entries], SUBJECT, seeds, MAX_STEPS)
        measured = {
            entry.digest: figures(each) for entry, each in zip(entries, evidence, strict=True)
        }
    out.write_text(json.dumps(measured), encoding="utf-8")


if __name__ == "__main__":
    first, stop, workers = map(int, sys.argv[3:])
    main(Path(sys.argv[1]), Path(sys.argv[2]), range(first, stop), workers)
