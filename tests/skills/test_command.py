"""`harness skills`, as a subprocess."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_skills.bank import Bank
from harness_skills.bank_file import load_bank, save_bank
from harness_skills.operations import Operation
from support.cli import Cli
from support.skills import skill


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    bank = Bank()
    bank.apply([Operation("add", skill("open doors", "", "strategy", "t1"))], "first")
    bank.apply([Operation("add", skill("count", "", "pitfall"))], "second")
    bank.credit([skill("count").id, skill("count", "", "pitfall").id], solved=True)
    save_bank(bank, tmp_path / "bank.jsonl")
    return Cli(tmp_path)


def test_show_lists_skills(cli: Cli) -> None:
    """With uses and the digest; of a version or a category alone; as JSON."""
    done = cli("skills", "show", "bank.jsonl")
    assert done.returncode == 0, done.stderr
    digest = load_bank(cli.folder / "bank.jsonl").freeze().digest
    assert f"version 2, digest {digest}" in done.stdout
    assert "open doors" in done.stdout
    older = cli.json("skills", "show", "bank.jsonl", "--version", "1")
    assert [each["title"] for each in older["skills"]] == ["open doors"]
    chosen = cli.json("skills", "show", "bank.jsonl", "--category", "pitfall")
    assert [(each["title"], each["shown"]) for each in chosen["skills"]] == [("count", 1)]


def test_log_lists_changes_and_rollback_adds_one(cli: Cli) -> None:
    """Each version has its digest; going back is a change like any other."""
    first, second = cli.json("skills", "log", "bank.jsonl")
    assert (first["note"], second["note"]) == ("first", "second")
    done = cli("skills", "rollback", "bank.jsonl", "--to", "1")
    assert done.returncode == 0, done.stderr
    third = cli.json("skills", "log", "bank.jsonl")[2]
    assert third["digest"] == first["digest"] in done.stdout
    assert "back to 1" in cli("skills", "log", "bank.jsonl").stdout


def test_export_writes_markdown_and_json_lines(cli: Cli) -> None:
    """One to read, and one for other programs."""
    assert cli("skills", "export", "bank.jsonl", "--to", "out.md").returncode == 0
    assert "### open doors" in (cli.folder / "out.md").read_text()
    assert cli("skills", "export", "bank.jsonl", "--to", "out.jsonl").returncode == 0
    lines = (cli.folder / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["title"] for line in lines] == ["open doors", "count"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "none.jsonl"), "Cannot read the bank"),
        (("show", "bank.jsonl", "--version", "7"), "versions 0 to 2"),
        (("show", "bank.jsonl", "--category", "x"), "Known: pitfall, strategy"),
        (("rollback", "bank.jsonl", "--to", "-1"), "versions 0 to 2"),
        (("export", "bank.jsonl", "--to", "bank.jsonl"), "other than the bank"),
        (("export", "bank.jsonl", "--to", "out.txt"), ".md or .jsonl"),
    ],
)
def test_wrong_requests_are_told(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    """They end with code 2 and a message, and the bank stays as it is."""
    before = (cli.folder / "bank.jsonl").read_bytes()
    done = cli("skills", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert (cli.folder / "bank.jsonl").read_bytes() == before
