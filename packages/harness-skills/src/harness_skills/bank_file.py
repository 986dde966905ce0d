"""Banks as JSON lines.

The first line says what follows, then there is a line for each change, and the last one holds the
uses and the digest of the current version: a file that was cut or changed is told from a whole one.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from harness_core.errors import HarnessError, SpecError, StoreError
from harness_core.serial import canonical, digest_of, from_data, to_data
from harness_core.values import JsonDict
from harness_skills.bank import Bank, Change, Use

SCHEMA = 1


@frozen
class _Head:
    bank: int
    capacity: int
    grace: int
    changes: int


def save_bank(bank: Bank, path: Path) -> None:
    """Writes a bank; the file appears whole or not at all, in place of what was there.

    Raises:
        StoreError: it cannot be written; what was there is there still.
    """
    head = _Head(SCHEMA, bank.capacity, bank.grace, bank.number)
    tail = {
        "digest": bank.freeze().digest,
        "uses": {id: [use.shown, use.solved] for id, use in sorted(bank.uses.items())},
    }
    lines = [to_data(head), *map(_signed, bank.log), tail]
    write_whole(path, "".join(canonical(line) + "\n" for line in lines))


def write_whole(path: Path, text: str) -> None:
    """Writes a file that appears whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error}. What was there is unchanged.") from error
    finally:
        with suppress(OSError):
            part.unlink()


def load_bank(path: Path) -> Bank:
    """Reads what `save_bank` wrote, or nothing: there is no such thing as half a bank.

    Raises:
        StoreError: the file is not there, was cut, or a line was changed. It stays as it is.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"Cannot read the bank {path}: {error}.") from error
    if lines.pop():
        raise _damaged(path, len(lines) + 1, "it is cut")
    rows = [_row(path, number, line) for number, line in enumerate(lines, start=1)]
    head = _head(path, rows)
    if len(rows) != head.changes + 2:
        raise _damaged(path, len(rows), f"{head.changes + 2} lines are to be there")
    changes = [_change(path, number, row) for number, row in enumerate(rows[1:-1], start=2)]
    try:
        bank = Bank(head.capacity, head.grace)
        bank.resume(changes, {id: Use(*use) for id, use in rows[-1]["uses"].items()})
        if bank.freeze().digest != rows[-1]["digest"]:
            raise SpecError("the skills are not those that its digest names")
    except (HarnessError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, len(rows), str(error)) from error
    return bank


def _signed(change: Change) -> JsonDict:
    data = to_data(change)
    return {"change": data, "digest": digest_of(data)}


def _row(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, number, f"it is not JSON ({error})") from error


def _head(path: Path, rows: list[Any]) -> _Head:
    try:
        head = from_data(rows[0], _Head)
    except (HarnessError, IndexError) as error:
        raise StoreError(f"{path} is no skill bank: {error}.") from error
    if head.bank > SCHEMA:
        raise StoreError(
            f"{path} has schema {head.bank}; this version reads up to {SCHEMA}. Upgrade "
            "harness-skills."
        )
    return head


def _change(path: Path, number: int, row: Any) -> Change:
    try:
        if row["digest"] != digest_of(row["change"]):
            raise SpecError("it was changed after it was written")
        return from_data(row["change"], Change)
    except (HarnessError, KeyError, TypeError) as error:
        raise _damaged(path, number, str(error)) from error


def _damaged(path: Path, number: int, why: str) -> StoreError:
    return StoreError(
        f"The bank {path} is damaged at line {number}: {why}. It was left as it is, and nothing "
        "of it was used: bring back a copy."
    )
