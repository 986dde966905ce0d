"""Banks as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_core.errors import StoreError
from harness_skills.bank import Bank
from harness_skills.bank_file import load_bank, save_bank
from harness_skills.operations import Operation
from support.skills import skill


@pytest.fixture
def bank() -> Bank:
    bank = Bank(capacity=5, grace=2)
    bank.apply([Operation("add", skill(title)) for title in ("a", "b")], note="first")
    bank.credit([skill("a").id], solved=True)
    bank.apply([Operation("merge", skill("c"), (skill("b").id,), "better")])
    bank.rollback(1)
    return bank


def test_a_bank_comes_back(bank: Bank, tmp_path: Path) -> None:
    """Settings, log, every version and the uses are read as they were written."""
    save_bank(bank, tmp_path / "new" / "bank.jsonl")
    read = load_bank(tmp_path / "new" / "bank.jsonl")
    assert (read.capacity, read.grace, read.log, read.uses) == (5, 2, bank.log, bank.uses)
    assert [read.freeze(n) for n in range(4)] == [bank.freeze(n) for n in range(4)]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["bank.jsonl"]


def test_a_file_cut_anywhere_is_refused(bank: Bank, tmp_path: Path) -> None:
    """No part of a bank passes for the whole, and the file is left as it is."""
    path = tmp_path / "bank.jsonl"
    save_bank(bank, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(StoreError, match=r"damaged at line|no skill bank"):
            load_bank(path)
        assert path.read_bytes() == whole[:length]


def test_a_changed_line_is_refused_by_its_number(bank: Bank, tmp_path: Path) -> None:
    """One letter of a skill, a use that is no number, or a lost line are enough."""
    path = tmp_path / "bank.jsonl"
    save_bank(bank, path)
    lines = path.read_text().splitlines()
    changes = {
        r"line 2: it was changed": [lines[0], lines[1].replace("Do a.", "Do A."), *lines[2:]],
        r"line 3: it is not JSON": [*lines[:2], lines[2][:-1], *lines[3:]],
        r"line 4: 5 lines are to be there": [*lines[:2], *lines[3:]],
        r"line 5: the skills are not": [
            *lines[:-1],
            lines[-1].replace('"digest":"', '"digest":"0'),
        ],
        r"line 5": [*lines[:-1], "[]"],
        r"no skill bank": lines[1:],
    }
    for told, changed in changes.items():
        path.write_text("\n".join(changed) + "\n")
        with pytest.raises(StoreError, match=told):
            load_bank(path)


def test_a_newer_schema_is_refused(bank: Bank, tmp_path: Path) -> None:
    """The message says to upgrade."""
    path = tmp_path / "bank.jsonl"
    save_bank(bank, path)
    head, *rest = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(head), "bank": 2}), *rest, ""]))
    with pytest.raises(StoreError, match="Upgrade harness-skills"):
        load_bank(path)


def test_a_failed_save_leaves_what_was_there(bank: Bank, tmp_path: Path) -> None:
    """Neither the old file nor a half-written one is harmed or left."""
    save_bank(Bank(), tmp_path / "bank.jsonl")
    (tmp_path / "bank.jsonl.part").mkdir()
    with pytest.raises(StoreError, match="is unchanged"):
        save_bank(bank, tmp_path / "bank.jsonl")
    assert load_bank(tmp_path / "bank.jsonl").number == 0
    with pytest.raises(StoreError, match="Cannot read"):
        load_bank(tmp_path / "none.jsonl")
