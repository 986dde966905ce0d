"""The run store: one SQLite file (WAL) per run.

Every unit of work has a content key, so an interrupted run resumes where it stopped. A record
is on disk when `put_*` returns, and survives `kill -9`.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from harness_core.closing import Closing
from harness_core.episode import Episode
from harness_core.errors import HarnessError, SpecError, StoreError
from harness_core.policies import Usage
from harness_core.serial import canonical, from_data, to_data
from harness_core.values import JsonDict

SCHEMA = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS episodes (
    key TEXT PRIMARY KEY, task TEXT, seed INTEGER, policy TEXT, success INTEGER, fault TEXT,
    steps INTEGER, seconds REAL, unit TEXT NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    kind TEXT, key TEXT, body TEXT NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY, role TEXT NOT NULL, model TEXT NOT NULL, sample INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost REAL NOT NULL,
    seconds REAL NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
"""


@frozen
class Call:
    """One paid call of a model.

    Args:
        key: content key of what was asked.
        role: whose call.
        model: that was asked.
        sample: number of the answer among those to one request.
        usage: tokens.
        cost: US dollars.
        seconds: wall-clock time, further tries included.
        body: what was asked and answered; JSON data.
    """

    key: str
    role: str
    model: str
    sample: int
    usage: Usage
    cost: float
    seconds: float
    body: JsonDict


class RunStore(Closing):
    """Episodes, model calls, and named records such as candidates, by content key.

    Safe for threads of one process, and for several processes on one file.

    Args:
        path: the file; made with its folder if it is not there.

    Raises:
        StoreError: the file is no run store, is damaged, or is of a newer schema.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"Cannot make the folder of {self.path}: {error}.") from error
        with self._guard():
            self._db = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
        try:
            with self._guard():
                self._open()
        except StoreError:
            self._db.close()
            raise

    def _open(self) -> None:
        self._db.isolation_level = None  # every statement is its own transaction
        found = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        tables = {name for (name,) in self._read("SELECT name FROM sqlite_master")}
        if tables and "meta" not in tables:
            raise sqlite3.DatabaseError("its tables are another program's")
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(_TABLES)
        schema = self.meta("schema", str(SCHEMA))
        if not schema.isdecimal() or int(schema) > SCHEMA:
            raise StoreError(
                f"{self.path} has schema {schema}; this version reads up to {SCHEMA}. "
                "Upgrade harness-core."
            )
        self._write("INSERT OR IGNORE INTO meta VALUES (?, ?)", "schema", str(SCHEMA))

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._told(error) from error
        except OverflowError as error:
            raise SpecError(f"{self.path} holds numbers of 64 bits: {error}.") from error

    def _told(self, error: sqlite3.Error) -> StoreError:
        told = str(error)
        if "closed database" in told:
            return StoreError(f"{self.path} is closed: open it again with RunStore(path).")
        if "full" in told or "disk I/O" in told:
            return StoreError(
                f"No space to write {self.path} ({told}). All that was written before is safe: "
                "free some space and run the same command again."
            )
        if isinstance(error, sqlite3.OperationalError):
            return StoreError(f"Cannot use {self.path}: {told}.")
        return StoreError(
            f"{self.path} is damaged or no run store ({told}). It was left as it is: rescue it "
            f"with `sqlite3 {self.path} .recover`, or move it aside and run again."
        )

    def _write(self, statement: str, *values: Any) -> None:
        with self._lock, self._guard():
            self._db.execute(statement, values)

    def _read(self, statement: str, *values: Any) -> list[Any]:
        with self._lock, self._guard():
            return self._db.execute(statement, values).fetchall()

    def meta(self, name: str, default: str = "") -> str:
        """A named text about the run."""
        rows = self._read("SELECT value FROM meta WHERE name = ?", name)
        return str(rows[0][0]) if rows else default

    def set_meta(self, name: str, value: str) -> None:
        """Writes a named text about the run."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", name, value)

    def put_episode(self, key: str, unit: JsonDict, episode: Episode) -> None:
        """Keeps the episode of a unit. An infrastructure failure is replaced by a later try, and
        never replaces anything else.

        Raises:
            SpecError: the episode would not come back as it is; nothing was written.
            StoreError: it cannot be written.
        """
        body = zlib.compress(_readable(to_data(episode)), 1)
        failure = episode.failure
        self._write(
            "INSERT OR REPLACE INTO episodes SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 "
            "WHERE ?6 IS NOT 'infrastructure' OR NOT EXISTS (SELECT 1 FROM episodes "
            "WHERE key = ?1 AND fault IS NOT 'infrastructure')",
            key,
            episode.task.id,
            episode.seed,
            unit["policy"]["id"],
            episode.success,
            failure.fault if failure else None,
            len(episode.steps),
            episode.seconds,
            _readable(unit).decode(),
            body,
        )

    def episode(self, key: str) -> Episode | None:
        """The episode of a unit; `None` if there is none or infrastructure ended it."""
        rows = self._read(
            "SELECT CAST(body AS BLOB) FROM episodes "
            "WHERE key = ? AND fault IS NOT 'infrastructure'",
            key,
        )
        with self._reading("episode", key):
            return _unpacked(rows[0][0]) if rows else None

    def episodes(self) -> Iterator[tuple[JsonDict, Episode]]:
        """All units with their episodes, ordered by key."""
        for (key,) in self._read("SELECT key FROM episodes ORDER BY key"):
            for unit, body in self._read(
                "SELECT CAST(unit AS BLOB), CAST(body AS BLOB) FROM episodes WHERE key = ?", key
            ):
                with self._reading("episode", key):
                    row = _object(unit), _unpacked(body)
                yield row

    @contextmanager
    def _reading(self, kind: str, key: object) -> Iterator[None]:
        try:
            yield
        except (zlib.error, ValueError, TypeError, RecursionError, HarnessError) as error:
            raise StoreError(
                f"{self.path} holds a damaged {kind}, {key!r}: {error}. Delete its row and run "
                "again, or move the file aside."
            ) from error

    def put_record(self, kind: str, key: str, data: object) -> None:
        """Keeps JSON data under a kind and a content key."""
        text = canonical(to_data(data))
        self._write("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", kind, key, text)

    def record(self, kind: str, key: str) -> Any:
        """The data kept under a kind and key; `None` if there is none."""
        rows = self._read(
            "SELECT CAST(body AS BLOB) FROM records WHERE kind = ? AND key = ?", kind, key
        )
        with self._reading(kind, key):
            return json.loads(rows[0][0]) if rows else None

    def records(self, kind: str) -> list[Any]:
        """All data of a kind, ordered by key."""
        found = []
        for key, body in self._read(
            "SELECT key, CAST(body AS BLOB) FROM records WHERE kind = ? ORDER BY key", kind
        ):
            with self._reading(kind, key):
                found.append(json.loads(body))
        return found

    def put_call(self, call: Call, vectors: Mapping[str, Sequence[float]] | None = None) -> None:
        """Keeps a paid call, together with the vectors that it gave, by their keys."""
        row = (
            *(call.key, call.role, call.model, call.sample),
            *(call.usage.input_tokens, call.usage.output_tokens, call.cost, call.seconds),
            zlib.compress(canonical(call.body).encode(), 1),
        )
        rows = [(key, array("f", vector).tobytes()) for key, vector in (vectors or {}).items()]
        with self._lock, self._guard(), self._transaction():
            self._db.execute("INSERT OR REPLACE INTO calls VALUES (?,?,?,?,?,?,?,?,?)", row)
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?,?)", rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def call(self, key: str) -> JsonDict | None:
        """What was asked and answered; `None` if it was not."""
        rows = self._read("SELECT CAST(body AS BLOB) FROM calls WHERE key = ?", key)
        with self._reading("call", key):
            return _object(zlib.decompress(rows[0][0])) if rows else None

    def calls(self) -> Iterator[Call]:
        """All paid calls, ordered by key."""
        for (key,) in self._read("SELECT key FROM calls ORDER BY key"):
            for row in self._read("SELECT * FROM calls WHERE key = ?", key):
                _, role, model, sample, read, written, cost, seconds, body = row
                with self._reading("call", key):
                    data = _object(zlib.decompress(body))
                yield Call(key, role, model, sample, Usage(read, written), cost, seconds, data)

    def spent(self) -> list[tuple[str, int, int, int, float]]:
        """Role, number of calls, tokens read, tokens written and US dollars, by role."""
        return self._read(
            "SELECT role, COUNT(*), SUM(input_tokens), SUM(output_tokens), SUM(cost) FROM calls "
            "GROUP BY role ORDER BY role"
        )

    def vector(self, key: str) -> list[float] | None:
        """The vector that is kept under a key, in single precision; `None` if there is none."""
        rows = self._read("SELECT CAST(body AS BLOB) FROM vectors WHERE key = ?", key)
        with self._reading("vector", key):
            return array("f", rows[0][0]).tolist() if rows else None

    def close(self) -> None:
        """Closes the file. May be called twice."""
        self._db.close()


def _readable(data: object) -> bytes:
    """The JSON of `data`, which comes back equal.

    Raises:
        SpecError: it does not.
    """
    text = canonical(data).encode()
    try:
        back = json.loads(text)
    except (ValueError, RecursionError) as error:  # such as a number of too many digits
        raise SpecError(f"This cannot be read back from JSON: {error}.") from error
    if back != data:
        raise SpecError("This would not come back from JSON as it is: no tuples, text as keys.")
    return text


def _object(text: bytes) -> JsonDict:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise TypeError(f"{data!r:.40} is no JSON object")
    return data


def _unpacked(body: bytes) -> Episode:
    return from_data(json.loads(zlib.decompress(body)), Episode)
