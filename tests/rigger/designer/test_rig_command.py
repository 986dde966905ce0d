"""`harness rig --strategy llm`, `harness verify` and `harness show --candidates`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_core.testing.model_server import ModelServer, Say
from support.cli import Cli
from support.designing import candidate, contract, diagnosis, ends_after

ACTIONS = json.dumps(["up"] * 40)
BAND = ("--objective-option", "low=0.5", "--objective-option", "high=0.8")
RIG = (
    "rig", "ladder", "--task", "rung-3", "--policy", "scripted", "--policy-option",
    f"actions={ACTIONS}", "--strategy", "llm", "--max-steps", "20", "--baseline", "10",
    "--workers", "2", "--out", "out", *BAND,
)  # fmt: skip
ANSWERS = [
    diagnosis(),
    candidate(contract("import os"), rationale="reads the disk"),
    candidate(ends_after(4), rationale="a curfew of 4"),
]
KEY = "sk-planted-key-of-the-command-line"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def script(seen: object) -> Say | str:
        return ANSWERS[min(len(seen.messages) // 2 - 1 + ("Write a" in seen.text), 2)]  # type: ignore[attr-defined]  # Seen

    with ModelServer(script, keys=(KEY,)) as server:
        yield server


def environment(server: ModelServer, how: str = "direct") -> dict[str, str]:
    endpoint = f"{server.url} key=DESIGN_KEY {how}"
    return {
        "MODEL": "openai/scripted", "HARNESS_ENDPOINTS": endpoint, "DESIGN_KEY": KEY
    }  # fmt: skip


def test_a_designer_rigs_from_the_command_line(cli: Cli, server: ModelServer) -> None:
    """The run tells rates and spend, its corpus holds when verified, `show` lists the decisions,
    and no file of it holds the key."""
    done = cli(*RIG, **environment(server, how=""))
    assert done.returncode == 0, done.stderr
    assert "1 accepted; 3 model calls" in done.stderr
    assert "designer" in done.stdout
    again = cli(*RIG, **environment(server))
    assert again.returncode == 0
    assert len(server.seen) == 3, "the second run asks nothing"

    verified = cli("verify", "out/corpus.jsonl", "--rollouts", "60", "--workers", "2", *BAND)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "1 of 1 stacks hold" in verified.stdout

    shown = cli("show", "out", "--candidates").stdout
    assert "diagnosis: it never looks down" in shown
    assert "[1] reads the disk" in shown
    assert "reject, broken" in shown
    assert "accept, in-band" in shown
    (rigging,) = cli.json("show", "out", "--candidates")["riggings"]
    assert [trial["reason"] for trial in rigging["trials"]] == ["broken", "in-band"]
    files = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_spent_limit_stops_and_a_larger_one_goes_on(cli: Cli, server: ModelServer) -> None:
    """The run ends with what it has; with a larger limit the same command finishes it, and pays
    each call once."""
    stopped = cli(*RIG, "--max-calls", "2", **environment(server))
    assert stopped.returncode != 0
    assert "the same command goes on" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert len(server.seen) == 2
    finished = cli(*RIG, "--max-calls", "9", **environment(server))
    assert finished.returncode == 0, finished.stderr
    assert len(server.seen) == 3


def test_a_designer_without_a_model_is_told(cli: Cli) -> None:
    """Without MODEL the command says which variable to set, and makes no run."""
    done = cli(*RIG)
    assert done.returncode == 2
    assert "MODEL_DESIGNER" in done.stderr
    assert not (cli.folder / "out").exists()


def test_promising_tasks_first(cli: Cli) -> None:
    """All tasks are observed before the first is reshaped; the corpus is in that order."""
    rig = [each for each in RIG if each not in ("--strategy", "llm")]
    tasks = ("--task", "rung-6", "--task", "rung-2", "--promising-first")
    actions = json.dumps(["up"] * 3)
    rig[rig.index(f"actions={ACTIONS}")] = f"actions={actions}"
    rigged = cli.json(*rig, *tasks)
    assert [line["task"] for line in rigged] == ["rung-2", "rung-3", "rung-6"]
