"""`harness rig` and `harness reproduce`, as subprocesses."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from harness_rigger.corpus import read_corpus
from support.cli import Cli, descendants, wait_until

LADDER = ("rig", "ladder", "--policy", "scripted", "--policy-option", f"actions={['up'] * 40}")
RIG = tuple(each.replace("'", '"') for each in LADDER)
FAST = ("--max-steps", "20", "--baseline", "10", "--workers", "2")


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_rig_writes_a_corpus(cli: Cli) -> None:
    """One command reshapes tasks, and its corpus can be read and built."""
    done = cli(*RIG, *FAST, "--task", "rung-3", "--task", "rung-4", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "rung-3" in done.stdout
    entries = read_corpus(cli.folder / "out" / "corpus.jsonl")
    assert entries
    assert all(entry.stack.env == "ladder" for entry in entries)


def test_rig_speaks_json(cli: Cli) -> None:
    """`--json` prints one document with every trial and its typed reason."""
    (rigged,) = cli.json(*RIG, *FAST, "--task", "rung-3")
    assert rigged["outcome"] in ("accepted", "exhausted")
    assert {trial["reason"] for trial in rigged["trials"]} <= {
        "in-band",
        "borderline",
        "too-easy",
        "too-hard",
        "unchanged",
        "unsolvable",
    }


def test_an_interrupted_rig_goes_on(cli: Cli, tmp_path: Path) -> None:
    """Ctrl-C leaves no process behind; the same command ends with what a whole run finds."""
    slow = (*RIG, *FAST, "--task", "rung-3", "--option", "pause=0.01")
    process = cli.start(*slow, "--out", "stopped")
    wait_until(lambda: cli.begun() > 3)
    children = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
    resumed = cli.json(*slow, "--out", "stopped")
    whole = cli.json(*slow, "--out", "whole")
    assert resumed == whole
    assert list(cli.tmp.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--objective", "sucess-band"), "Did you mean 'success-band'"),
        (("--strategy", "serach"), "Did you mean 'search'"),
        (("--objective-option", "lo=0.4"), "It takes: low, high,"),
        (("--objective-option", "low=0.9"), "A band runs from low to high"),
        (("--baseline", "0"), "at least 1 baseline rollout"),
        (("--tasks", "0"), "--tasks"),
    ],
)
def test_wrong_requests_are_told(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    """A wrong id, option or number ends with code 2 and a message, not a traceback."""
    done = cli(*RIG, *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_reproduce_lists_and_refuses(cli: Cli) -> None:
    """`--list` names the experiments; an unknown name or scale is told with the known ones."""
    assert "target-band" in cli("reproduce", "--list").stdout
    assert "Did you mean 'target-band'?" in cli("reproduce", "target-bend").stderr
    assert "Known: default, small, smoke" in cli("reproduce", "--scale", "huge").stderr


@pytest.mark.textworld
def test_reproduce_runs_end_to_end(cli: Cli) -> None:
    """The smallest scale runs on the real engine and writes all three reports; twice the same."""
    command = ("reproduce", "target-band", "--scale", "smoke", "--out", "out")
    first = cli(*command, timeout=300)
    assert first.returncode == 0, first.stderr
    assert "success rate in [0.4, 0.6]" in first.stdout
    written = (cli.folder / "out" / "results.json").read_text()
    results = json.loads(written)
    assert [result["name"] for result in results] == ["success-band", "step-band"]
    assert all(result["reshaped"]["n"] == 2 for result in results)
    page = (cli.folder / "out" / "results.html").read_text()
    assert "<svg" in page
    assert "<td>" in page
    second = cli(*command, timeout=300)
    assert second.returncode == 0
    assert (cli.folder / "out" / "results.json").read_text() == written
