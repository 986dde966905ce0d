"""Whole protocols: a simulated learner, real envs, and a scripted writer behind a real server."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_core.errors import SpendLimitReached
from harness_core.experiment import Setup
from harness_core.registry import load
from harness_core.testing.model_server import ModelServer, Say, Seen

pytest.importorskip("litellm")

HARNESS = Path(sys.executable).with_name("harness")
OPTIONS: dict[str, Any] = {
    "env": "alfworld",
    "generate": True,
    "knobs": {"receptacles": 9},
    "policy": "household-simulated-reader",
    "model": "openai/scripted",
    "strategy": "search",
    "scale": {"train": 8, "test": 6, "envs": 2, "every": 1, "runs": 2, "max_steps": 40},
}
LESSONS = {
    "closed": "Open every closed container and look inside.",
    "two": "With two objects, go back for the second object.",
    "": "Keep looking until every place was searched.",
}


def writer(seen: Seen) -> Say:
    """Writes a lesson that the simulated reader heeds, and adds whatever is new."""
    new = re.findall(r"^(N\d+) ", seen.text, re.MULTILINE)
    if new:
        return Say(json.dumps({"operations": [{"op": "add", "new": [each]} for each in new]}))
    word = next(word for word in LESSONS if word in seen.text.partition("<episode>")[2].lower())
    lesson = {
        "title": f"Lesson {word or 'search'} {len(seen.text)}",
        "description": "When an object is not in sight.",
        "content": LESSONS[word],
        "category": "strategy",
    }
    return Say(json.dumps({"skills": [lesson]}), delay=0.02)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with ModelServer(writer) as server:
        monkeypatch.setenv("HARNESS_ENDPOINTS", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "no-secret")
        yield server


def run(name: str, folder: Path, **options: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    setup = Setup("smoke", 1, folder, 2, lambda line: None, {**OPTIONS, **options})
    report = load("experiment", name).run(setup)
    assert "*simulated*" in report
    results: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return results


def calls(server: ModelServer) -> int:
    return sum(served.calls for served in server.served.values())


def test_skills_are_learned_and_are_worth_something(tmp_path: Path, server: ModelServer) -> None:
    """All arms see equally many envs, and the simulated learner solves more with what it read."""
    results = run("skills", tmp_path / "run")
    rows = {row["arm"]: row for row in results["rows"]}
    assert [*rows] == ["no skills", "original envs", "reshaped envs"]
    assert rows["original envs"]["envs"] == rows["reshaped envs"]["envs"] > 0
    assert rows["reshaped envs"]["skills"] > 0
    assert rows["reshaped envs"]["score"]["mean"] > rows["no skills"]["score"]["mean"]
    assert rows["reshaped envs"]["against"]["no skills"]["n"] == 6
    assert all(row["weakness"] for row in results["rounds"] if row["arm"] == "reshaped envs")


def test_spend_is_what_the_server_counted(tmp_path: Path, server: ModelServer) -> None:
    """Calls and tokens by role add up to what the server sent, also after a second run."""
    for _ in range(2):
        spent = run("skills", tmp_path / "run")["spend"]
        assert sum(each["calls"] for each in spent) == calls(server)
        (served,) = server.served.values()
        assert sum(each["input_tokens"] for each in spent) == served.usage.input_tokens
        assert sum(each["output_tokens"] for each in spent) == served.usage.output_tokens


@pytest.mark.parametrize("name", ["transfer", "scaling", "chain", "backbones", "rounds", "cost"])
def test_every_protocol_runs(tmp_path: Path, server: ModelServer, name: str) -> None:
    """Each gives a row for each of its arms, with episodes that count."""
    small = {"train": 6, "test": 6, "envs": 1, "every": 1, "runs": 1, "max_steps": 20}
    results = run(name, tmp_path / "run", scale=small, models=["openai/one", "openai/two"])
    assert results["rows"]
    assert all(row["score"]["n"] > 0 for row in results["rows"])
    assert not any(row["lost"] for row in results["rows"])


def test_a_limit_stops_and_a_larger_one_goes_on(tmp_path: Path, server: ModelServer) -> None:
    """A limit of calls ends the run; with a larger one it pays only for what is missing."""
    whole = run("skills", tmp_path / "whole")
    undisturbed = calls(server)
    with pytest.raises(SpendLimitReached):
        run("skills", tmp_path / "limited", max_calls=2)
    assert calls(server) - undisturbed <= 3
    limited = run("skills", tmp_path / "limited")
    assert calls(server) == 2 * undisturbed
    assert limited["rows"] == whole["rows"]


@pytest.mark.parametrize("attempt", range(int(os.environ.get("KILLED_PROTOCOLS", "1"))))
def test_killed_anywhere_it_resumes(tmp_path: Path, attempt: int) -> None:
    """Killed again and again, it ends with the same table, and no answer is paid for twice."""
    chance = random.Random(attempt)
    with ModelServer(writer) as server:
        whole = _to_the_end(tmp_path / "whole", server, None)
        undisturbed = calls(server)
        killed = _to_the_end(tmp_path / "killed", server, chance)
        assert calls(server) == 2 * undisturbed
    assert killed["rows"] == whole["rows"]
    for each, other in zip(killed["spend"], whole["spend"], strict=True):
        assert {**each, "cached": 0} == {**other, "cached": 0}


def _to_the_end(folder: Path, server: ModelServer, chance: random.Random | None) -> dict[str, Any]:
    """Runs the command until it is done; with `chance` it is killed a few times before."""
    folder.mkdir()
    given = [f"--option={name}={json.dumps(value)}" for name, value in OPTIONS.items()]
    command = [str(HARNESS), "reproduce", "skills", "--scale", "smoke", "--out", "out", *given]
    env = {**os.environ, "HARNESS_ENDPOINTS": server.url, "OPENAI_API_KEY": "no-secret"}
    for _ in range(3 if chance else 0):
        assert chance is not None
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        timer = threading.Timer(chance.uniform(1.0, 12.0), process.send_signal, [signal.SIGKILL])
        timer.start()
        process.wait(timeout=120)
        timer.cancel()
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, timeout=240)
    results: dict[str, Any] = json.loads((folder / "out" / "results.json").read_text())
    return results
