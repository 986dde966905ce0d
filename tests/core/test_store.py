from __future__ import annotations

import sqlite3
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from harness_core import Observation, Task
from harness_core.episode import Episode, run_episode
from harness_core.errors import SpecError, StoreError
from harness_core.policies import PolicySpec, RandomPolicy
from harness_core.rollout import Unit
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from support.ladder import Ladder


def _unit(seed: int = 0) -> Unit:
    return Unit(StackSpec("ladder", "rung-6"), PolicySpec("random"), seed)


def _played(seed: int = 0, trouble: str = "") -> Episode:
    return run_episode(Ladder("rung-6", trouble=trouble), RandomPolicy(), seed=seed)


def _put(store: RunStore, unit: Unit, episode: Episode) -> None:
    store.put_episode(unit.key, unit.to_dict(), episode)


def test_keeps_episodes(tmp_path: Path) -> None:
    """What was put is there after the file is opened anew, equal, and ordered by key."""
    with RunStore(tmp_path / "new" / "run.db") as store:
        for seed in range(5):
            _put(store, _unit(seed), _played(seed))
    with RunStore(tmp_path / "new" / "run.db") as store:
        assert store.episode(_unit(3).key) == _played(3)
        assert store.episode(_unit(9).key) is None
        units = [unit for unit, _ in store.episodes()]
        assert units == [u.to_dict() for u in sorted(map(_unit, range(5)), key=lambda u: u.key)]


def test_infrastructure_failure_is_tried_again(tmp_path: Path) -> None:
    """An episode that infrastructure ended is listed, but not known; a later try replaces it."""
    with RunStore(tmp_path / "run.db") as store:
        _put(store, _unit(), _played(trouble="raise"))
        assert store.episode(_unit().key) is None
        assert len(list(store.episodes())) == 1
        _put(store, _unit(), _played())
        assert store.episode(_unit().key) == _played()
        _put(store, _unit(), _played(trouble="raise"))
        assert store.episode(_unit().key) == _played(), "a late failure took a good one away"
        assert len(list(store.episodes())) == 1


def test_records_and_meta(tmp_path: Path) -> None:
    """Records are kept by kind and key, the newest of each; meta is text by name."""
    with RunStore(tmp_path / "run.db") as store:
        store.put_record("candidate", "b", {"n": 1})
        store.put_record("candidate", "a", [1, None])
        store.put_record("candidate", "b", {"n": 2})
        store.put_record("decision", "a", "accept")
        store.set_meta("command", "harness run")
        assert store.records("candidate") == [[1, None], {"n": 2}]
        assert store.record("candidate", "b") == {"n": 2}
        assert store.record("candidate", "c") is None
        assert store.records("nothing") == []
        assert store.meta("command") == "harness run"
        assert store.meta("absent", "x") == "x"


def test_threads_and_processes_share_a_file(tmp_path: Path) -> None:
    """Four threads on two stores of one file lose nothing."""
    with RunStore(tmp_path / "run.db") as one, RunStore(tmp_path / "run.db") as two:

        def write(store: RunStore, name: str) -> None:
            for number in range(25):
                store.put_record("r", f"{name}-{number}", number)

        threads = [
            threading.Thread(target=write, args=(store, f"{side}{half}"))
            for side, store in (("one", one), ("two", two))
            for half in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(one.records("r")) == 100


def _damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:] = b"\x5a" * (len(content) - 4096)
    file.write_bytes(content)


def _not_sqlite(file: Path) -> None:
    file.write_text("no database " * 1000)


def _foreign(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE addresses (name TEXT)")
    db.close()


@pytest.mark.parametrize("spoil", [_damage, _not_sqlite, _foreign])
def test_files_that_are_no_store_are_left_alone(tmp_path: Path, spoil: object) -> None:
    """A damaged or foreign file is refused with a way out, and not one byte of it changes."""
    file = tmp_path / "run.db"
    with RunStore(file) as store:
        for seed in range(20):
            _put(store, _unit(seed), _played(seed))
    assert callable(spoil)
    spoil(file)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="damaged or no run store"):
        RunStore(file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("schema", ["2", "99", "new"])
def test_newer_schema_is_refused(tmp_path: Path, schema: str) -> None:
    """A store of a schema that this version does not know is refused with advice."""
    with RunStore(tmp_path / "run.db") as store:
        store.set_meta("schema", schema)
    with pytest.raises(StoreError, match="Upgrade harness-core"):
        RunStore(tmp_path / "run.db")


def test_damaged_episode(tmp_path: Path) -> None:
    """An episode whose bytes are damaged is a StoreError that names the file."""
    with RunStore(tmp_path / "run.db") as store:
        _put(store, _unit(), _played())
    with sqlite3.connect(tmp_path / "run.db") as db:
        db.execute("UPDATE episodes SET body = x'00'")
    db.close()
    with RunStore(tmp_path / "run.db") as store, pytest.raises(StoreError, match="damaged episode"):
        store.episode(_unit().key)


def test_close_twice(tmp_path: Path) -> None:
    """Closing twice is fine; a closed store says so in a StoreError."""
    store = RunStore(tmp_path / "run.db")
    store.close()
    store.close()
    calls = (
        lambda: store.records("x"),
        lambda: store.record("x", "y"),
        lambda: store.put_record("x", "y", 1),
        lambda: store.meta("x"),
        lambda: store.episode("x"),
        lambda: list(store.episodes()),
        lambda: _put(store, _unit(), _played()),
    )
    for call in calls:
        with pytest.raises(StoreError, match="is closed"):
            call()


ROTTEN = [
    *("NULL", "5", "1.5", "''", "'text'", "x''", "x'00'", "x'ff'", "CAST(x'ff41' AS TEXT)"),
    *("'[]'", "'null'", "x'789c0300000000 01'".replace(" ", "")),
    *(f"x'{zlib.compress(text).hex()}'" for text in (b"", b"{}", b"[]", b"\xff", b"[" * 9999)),
]


@pytest.mark.parametrize("value", ROTTEN)
@pytest.mark.parametrize("column", ["unit", "body"])
def test_any_rot_in_a_row_names_its_key(tmp_path: Path, column: str, value: str) -> None:
    """Whatever stands in a column in place of what was written is a StoreError with the key."""
    key = _unit().key
    with RunStore(tmp_path / "run.db") as store:
        _put(store, _unit(), _played())
        store._db.execute("ALTER TABLE episodes RENAME TO strict")
        store._db.execute("CREATE TABLE episodes AS SELECT * FROM strict")
        store._db.execute(f"UPDATE episodes SET {column} = {value}")
        with pytest.raises(StoreError, match=f"damaged episode, '{key}'"):
            list(store.episodes())
        if column == "body":
            with pytest.raises(StoreError, match=f"damaged episode, '{key}'"):
                store.episode(key)


@pytest.mark.parametrize("value", ["x'ff'", "'{'", "''", "CAST(x'ff41' AS TEXT)"])
def test_a_rotten_record_names_its_key(tmp_path: Path, value: str) -> None:
    """A record that is no JSON any more is a StoreError with kind and key."""
    with RunStore(tmp_path / "run.db") as store:
        store.put_record("trial", "first", 1)
        store._db.execute(f"UPDATE records SET body = {value}")
        for read in (lambda: store.record("trial", "first"), lambda: store.records("trial")):
            with pytest.raises(StoreError, match="damaged trial, 'first'"):
                read()


@pytest.mark.parametrize(
    "data",
    [{"x": (1, 2)}, {1: 2}, {"x": float("nan")}, {"x": "\ud800"}, {"x": {1}}, {"x": 10**5000}],
)
def test_what_cannot_be_read_back_never_gets_in(tmp_path: Path, data: Any) -> None:
    """An episode that would come back changed, or not at all, is refused and leaves no row."""
    for odd in (
        evolve(_played(), start=Observation("x", data)),
        evolve(_played(), task=Task("t", data=data)),
    ):
        with RunStore(tmp_path / "run.db") as store:
            with pytest.raises(SpecError):
                _put(store, _unit(), odd)
            assert list(store.episodes()) == []


def test_a_number_that_no_row_can_hold(tmp_path: Path) -> None:
    """A seed of more than 64 bits is refused, in the framework's own words."""
    with RunStore(tmp_path / "run.db") as store:
        with pytest.raises(SpecError, match="64 bits"):
            _put(store, _unit(), evolve(_played(), seed=2**63))
        assert list(store.episodes()) == []
