"""The store's side of model calls."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from harness_core.errors import SpecError, StoreError
from harness_core.policies import Usage
from harness_core.store import Call, RunStore


def _call(key: str, role: str = "policy", text: str = "x") -> Call:
    return Call(key, role, "openai/m", 3, Usage(5, 2), 0.5, 1.5, {"reply": {"text": text}})


def test_calls_come_back_as_they_were_put(tmp_path: Path) -> None:
    """After the file is opened anew, calls, bodies, vectors and sums are those that were put."""
    with RunStore(tmp_path / "run.db") as store:
        store.put_call(_call("b"), {"v": [0.5, -0.25], "w": [1.0]})
        store.put_call(_call("a", "judge"))
        store.put_call(_call("c"))
    with RunStore(tmp_path / "run.db") as store:
        assert list(store.calls()) == [_call("a", "judge"), _call("b"), _call("c")]
        assert store.call("b") == _call("b").body
        assert (store.call("d"), store.vector("x")) == (None, None)
        assert (store.vector("v"), store.vector("w")) == ([0.5, -0.25], [1.0])
        assert store.spent() == [("judge", 1, 5, 2, 0.5), ("policy", 2, 10, 4, 1.0)]


def test_a_store_from_before_there_were_calls_takes_them(tmp_path: Path) -> None:
    """A file without the table gets it when it is opened."""
    RunStore(tmp_path / "run.db").close()
    with sqlite3.connect(tmp_path / "run.db") as db:
        db.execute("DROP TABLE calls")
        db.execute("DROP TABLE vectors")
    db.close()
    with RunStore(tmp_path / "run.db") as store:
        assert store.spent() == []
        store.put_call(_call("a"))
        assert store.call("a") == _call("a").body


def test_a_call_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    """A call whose vector cannot be written leaves no row, and the store goes on."""
    with RunStore(tmp_path / "run.db") as store:
        store._db.execute("ALTER TABLE vectors RENAME TO away")
        with pytest.raises(StoreError):
            store.put_call(_call("a"), {"v": [1.0]})
        with pytest.raises(SpecError):
            store.put_call(_call("b", text="\ud800"))
        store._db.execute("ALTER TABLE away RENAME TO vectors")
        assert list(store.calls()) == []
        store.put_call(_call("c"))
        assert len(list(store.calls())) == 1


def test_a_damaged_call_names_its_key(tmp_path: Path) -> None:
    """A call or a vector whose bytes are damaged is a StoreError with its key."""
    with RunStore(tmp_path / "run.db") as store:
        store.put_call(_call("first"), {"v": [1.0]})
        store._db.execute("UPDATE calls SET body = x'00'")
        store._db.execute("UPDATE vectors SET body = x'00'")
        for read in (lambda: store.call("first"), lambda: list(store.calls())):
            with pytest.raises(StoreError, match="damaged call, 'first'"):
                read()
        with pytest.raises(StoreError, match="damaged vector, 'v'"):
            store.vector("v")
