from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.cli import Cli

COMMANDS = ["list", "doctor", "play", "run", "show", "export"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(cli: Cli, command: str) -> None:
    """The help of each command says what it does and gives an example of it."""
    done = cli(command, "--help")
    assert done.returncode == 0
    assert f"harness {command}" in done.stdout.split("For example::")[1]
    assert "--json" in done.stdout or command in ("play", "run", "export")


def test_help_lists_commands_without_importing_them(cli: Cli) -> None:
    """The overview has a plugin's commands with their summaries, and imports none of them."""
    done = cli("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)
    assert re.search(r"greet +Greets somebody\.", done.stdout)
    assert "imported" not in done.stderr


def test_help_is_light(cli: Cli) -> None:
    """The overview loads neither what reads JSON nor what runs episodes nor what draws bars."""
    done = cli("--help", PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "cyclopts" in loaded
    heavy = {"cattrs", "sqlite3", "multiprocessing", "rich.progress", "harness_core.rollout"}
    assert not loaded & heavy


def test_plugin_commands(cli: Cli) -> None:
    """A third party's function and app run as commands, with their own help and exit code."""
    done = cli("greet", "Ada", "--loud")
    assert (done.returncode, done.stdout) == (5, "HELLO ADA\n")
    assert cli("tower", "height").stdout == "300 m\n"
    assert "harness greet Ada --loud" in cli("greet", "--help").stdout


def test_version(cli: Cli) -> None:
    """`--version` prints the version of harness-core and nothing else."""
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", cli("--version").stdout)


def test_list_shows_what_is_registered(cli: Cli) -> None:
    """The list has every kind, the plugin of each entry, and how to install what is missing."""
    lines = cli("list").stdout.splitlines()
    assert any(re.match(r"component +stage .* core$", line) for line in lines)
    assert any(re.match(r"policy +random ", line) for line in lines)
    assert any(re.match(r"env +ladder .* support.ladder_plugin$", line) for line in lines)
    assert any(
        re.match(r"env +rocket .* pip install 'rocket-science\[engine\]'", line) for line in lines
    )


def test_list_of_one_kind_as_json(cli: Cli) -> None:
    """`harness list KIND --json` is one JSON document with entries of that kind alone."""
    listed = cli.json("list", "env")
    entries = {entry["id"]: entry for entry in listed["entries"]}
    assert {entry["kind"] for entry in listed["entries"]} == {"env"}
    assert entries["rocket"]["missing"] == ["rocket-science"]
    assert entries["ladder"]["missing"] == []
    assert listed["broken"] == {}


def test_list_tasks(cli: Cli) -> None:
    """`harness list tasks ENV` shows the tasks in the env's order, built with the options."""
    tasks = cli.json("list", "tasks", "ladder", "--option", "pause=1.5")["tasks"]
    assert [task["id"] for task in tasks] == [f"rung-{rungs}" for rungs in range(1, 7)]
    assert re.search(r"rung-2 +low +seen +Climb 2 rungs\.", cli("list", "tasks", "ladder").stdout)


def _install(folder: Path, name: str, module: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[harness]\n{name} = {module}\n")


def test_broken_plugin_is_named_and_harms_nobody(cli: Cli, tmp_path: Path) -> None:
    """A plugin that cannot be imported is shown with its error; the doctor exits with 1 for it."""
    _install(tmp_path, "wreck", "wreck_plugin")
    (tmp_path / "wreck_plugin.py").write_text("raise RuntimeError('no keel')\n")
    path = f"{cli.env['PYTHONPATH']}:{tmp_path}"
    listed = cli("list", PYTHONPATH=path)
    assert listed.returncode == 0
    assert "Plugin wreck is broken: RuntimeError: no keel" in listed.stdout
    assert "ladder" in listed.stdout
    doctor = cli("doctor", PYTHONPATH=path)
    assert doctor.returncode == 1
    assert re.search(r"broken +plugin wreck +RuntimeError: no keel", doctor.stdout)


def test_doctor(cli: Cli) -> None:
    """The doctor reports python, packages, walls, space, cores and envs; a lack is only noted."""
    report = cli.json("doctor")
    checks = {check["what"]: check for check in report["checks"]}
    assert report["usable"]
    assert {"python", "harness-core", "plugin core", "temporary space", "cores"} <= checks.keys()
    assert any(what.startswith("sandbox ") for what in checks)
    assert checks["env ladder"]["state"] == "ok"
    assert checks["env rocket"]["state"] == "note"
    assert "pip install 'rocket-science[engine]'" in checks["env rocket"]["detail"]
    assert "Everything needed is here." in cli("doctor").stdout


def test_play_asks_a_human(cli: Cli) -> None:
    """A person types actions, asks with `?` what is admissible, and reads the verdict."""
    done = cli("play", "ladder", "--task", "rung-2", given="?\nsideways\nup\nup\nup\nup\nup\nup\n")
    assert done.returncode == 0
    assert "Task rung-2: Climb 2 rungs." in done.stdout
    assert "up\ndown" in done.stdout
    assert "There is no 'sideways'" in done.stdout
    assert "You are on rung 2 of 2." in done.stdout
    assert re.search(r"Solved after \d steps \(terminated\); score 1\.", done.stdout)


def test_play_ends_with_the_input(cli: Cli) -> None:
    """At the end of the input the person gives up, and the verifier still decides."""
    done = cli("play", "ladder", given="")
    assert done.returncode == 0
    assert "Not solved after 0 steps (stopped); score 0." in done.stdout


def test_play_shows_a_policy(cli: Cli) -> None:
    """A policy's actions and what it sees are printed; `--policy-option` reaches it."""
    script = ("--policy", "scripted", "--policy-option", 'actions=["down", "down"]')
    done = cli("play", "ladder", *script)
    assert done.stdout.count("> down\n") == 2
    assert "Not solved after 2 steps (stopped)" in done.stdout


def test_play_of_a_spec_file(cli: Cli, tmp_path: Path) -> None:
    """A stack from a file is played with its task, its components and its options."""
    stage = {"type": "stage", "actions": ["up", "up"]}
    spec = {"schema": 1, "env": "ladder", "task": "rung-6", "components": [stage]}
    (tmp_path / "stack.json").write_text(json.dumps(spec))
    script = ("--policy", "scripted", "--policy-option", "actions=[]")
    done = cli("play", "stack.json", "--seed", "2", *script)
    assert done.returncode == 0, done.stderr
    assert "You are on rung 2 of 6." in done.stdout


def test_play_tells_failures(cli: Cli) -> None:
    """An env that breaks is named with its fault, and the exit code is 1."""
    done = cli("play", "ladder", "--option", "trouble=raise", given="down\ndown\n")
    assert done.returncode == 1
    assert "EnvError, infrastructure" in done.stdout
    assert "the ladder broke" in done.stdout
    assert "Traceback" not in done.stderr
