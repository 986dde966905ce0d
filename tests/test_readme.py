"""What the README promises about a package of one's own, kept with the package that it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import HARNESS

README = Path(__file__).parents[1] / "README.md"
FILE = re.compile(r"^```\w+ title=\"(coin\.py|pyproject\.toml)\"\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The README's package, written as it stands there and installed into a folder."""
    source = tmp_path_factory.mktemp("source")
    target = tmp_path_factory.mktemp("installed")
    files = dict(FILE.findall(README.read_text(encoding="utf-8")))
    assert files.keys() == {"coin.py", "pyproject.toml"}
    for name, text in files.items():
        (source / name).write_text(text, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(target)]
    subprocess.run([*pip, str(source)], check=True, timeout=300)
    return target


def run(installed: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_it_is_listed(installed: Path, tmp_path: Path) -> None:
    """`harness list env` shows the env of the installed package, with its plugin."""
    listed = json.loads(run(installed, tmp_path, str(HARNESS), "list", "env", "--json").stdout)
    assert listed["broken"] == {}
    (coin,) = (entry for entry in listed["entries"] if entry["id"] == "coin")
    assert (coin["summary"], coin["plugin"]) == ("say heads", "coin")


def test_it_keeps_the_contract(installed: Path, tmp_path: Path) -> None:
    """`check_env` finds no broken promise, and a Stage composes with it."""
    code = """
from coin import CoinEnv
from harness_core import Action, Stage, make
from harness_core.testing import check_env

assert "snapshot" in check_env(CoinEnv)
env = Stage(["tails"])(make("coin"))
env.reset()
assert env.step(Action("heads")).terminated and env.evaluate().success
assert env.get_env_state().steps == 1
"""
    run(installed, tmp_path, sys.executable, "-c", code)


def test_it_is_played(installed: Path, tmp_path: Path) -> None:
    """`harness play` plays it with any registered policy."""
    for policy in (
        ["random"],
        ["scripted", "--policy-option", 'actions=["tails", "heads"]'],
    ):
        played = run(installed, tmp_path, str(HARNESS), "play", "coin", "--policy", *policy)
        assert "Say heads." in played.stdout
        assert "Solved after" in played.stdout


def test_it_is_run_and_shown(installed: Path, tmp_path: Path) -> None:
    """`harness run` plays it in worker processes, which find it by its entry point too."""
    harness = str(HARNESS)
    run(installed, tmp_path, harness, "run", "coin", "--policy", "random", "--out", "coins")
    shown = json.loads(run(installed, tmp_path, harness, "show", "coins", "--json").stdout)
    assert [episode["outcome"] for episode in shown["episodes"]] == ["solved"]
