from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_core.episode import Episode, run_episode
from harness_core.errors import StoreError
from harness_core.export import export_jsonl
from harness_core.policies import PolicySpec, RandomPolicy
from harness_core.rollout import Unit
from harness_core.serial import from_data
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from support.ladder import Ladder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "run.db") as store:
        for seed in range(3):
            unit = Unit(StackSpec("ladder", "rung-6"), PolicySpec("random"), seed)
            episode = run_episode(Ladder("rung-6"), RandomPolicy(), seed=seed)
            store.put_episode(unit.key, unit.to_dict(), episode)
        yield store


def test_lines_are_the_episodes(store: RunStore, tmp_path: Path) -> None:
    """Each line reads back as the unit and the equal episode; no partial file stays."""
    assert export_jsonl(store, tmp_path / "out.jsonl") == 3
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    read = [(row["unit"], from_data(row["episode"], Episode)) for row in rows]
    assert read == list(store.episodes())
    assert not list(tmp_path.glob("*.part"))


def test_failure_leaves_the_old_file(store: RunStore, tmp_path: Path) -> None:
    """An export that fails half-way leaves the file of the last one, and nothing else."""
    out = tmp_path / "out.jsonl"
    out.write_text("old")
    store._db.execute("UPDATE episodes SET body = x'00' WHERE seed = 2")
    with pytest.raises(StoreError):
        export_jsonl(store, out)
    assert out.read_text() == "old"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("where", ["none/out.jsonl", "run.db/out.jsonl"])
def test_place_that_cannot_be_written(store: RunStore, tmp_path: Path, where: str) -> None:
    """A missing folder, or a file in its place, is a StoreError."""
    with pytest.raises(StoreError, match="Cannot write"):
        export_jsonl(store, tmp_path / where)
