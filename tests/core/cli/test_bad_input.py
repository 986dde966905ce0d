from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import Cli

RUN = ("run", "ladder", "--policy", "random", "--max-steps", "3")


def _refused(cli: Cli, *arguments: str, code: int = 2) -> str:
    """What stderr says, after the checks that hold for every refusal."""
    done = cli(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("harness: ")
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lst"], "Did you mean 'list'?"),
        (["--jsn"], "There is no command '--jsn'"),
        (["run", "ladder"], "--policy"),
        ([*RUN, "--epsiodes", "3"], "Did you mean --episodes?"),
        ([*RUN, "--episodes", "many"], '"many"'),
        ([*RUN, "--episodes", "0"], "from 1"),
        ([*RUN, "--tasks", "0"], "from 1"),
        ([*RUN[:-1], "0"], "--max-steps is a whole number from 1"),
        ([*RUN, "--workers", "0"], "--workers is a whole number from 1"),
        ([*RUN, "--retries", "-1"], "--retries is a whole number from 0"),
        ([*RUN, "--step-seconds", "-1"], "seconds above 0"),
        ([*RUN, "--step-seconds", "nan"], "seconds above 0"),
        ([*RUN, "--reset-seconds", "1e400"], "seconds above 0"),
        ([*RUN, "--option", "task=rung-1"], "task"),
        ([*RUN, "--tasks", "2", "--all"], "one of --task, --tasks and --all"),
        ([*RUN, "--option", "pause"], "--option size=3"),
        ([*RUN, "--option", "pasue=3"], "does not take these options"),
        ([*RUN, "--policy-option", "x=3"], "It takes none."),
        (["run", "laddr", "--policy", "random"], "Did you mean 'ladder'?"),
        (["run", "ladder", "--policy", "rndom"], "Did you mean 'random'?"),
        (["run", "ladder", "--policy", "human"], "harness play"),
        ([*RUN, "--task", "rung-66"], "Did you mean 'rung-6'"),
        (["play", "ladder", "--task", "rung-66"], "`harness list tasks ladder` shows all"),
        (["list", "envs"], "Did you mean 'env'?"),
        (["list", "tasks"], "harness list tasks ENV"),
        (["list", "tasks", "rocket"], "pip install 'rocket-science[engine]'"),
        (["run", "rocket", "--policy", "random"], "pip install 'rocket-science[engine]'"),
        (["launch"], "pip install 'rocket-science[engine]'"),
        (["--plugin", "no_such_module", "list"], "'no_such_module' cannot be imported"),
        (["list", "--plugin"], "--plugin"),
        (["show", "nowhere"], "There is no run nowhere/run.db"),
        (["export", "nowhere", "--to", "x.jsonl"], "There is no run"),
        (["export", "nowhere", "--to", "x.db"], ".jsonl"),
        (["play", "gone.json"], "Cannot read the stack gone.json"),
    ],
)
def test_wrong_requests(cli: Cli, arguments: list[str], told: str) -> None:
    """A wrong request gets one message that says what to do next, exit code 2, and no run."""
    assert told in _refused(cli, *arguments)
    assert not (cli.folder / "runs").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"schema": 1, "env": "ladder"', "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "JSON object"),
        ('{"env": "ladder"}', "schema"),
        ('{"schema": 99, "env": "ladder"}', "Upgrade harness-core"),
        ('{"schema": 1, "env": "ladder", "tsk": "rung-1"}', "tsk"),
        ('{"schema": 1, "env": "laddr"}', "Did you mean 'ladder'?"),
        ('{"schema": 1, "env": "ladder", "task": "rung-66"}', "Did you mean"),
        ('{"schema": 1, "env": "ladder", "components": [{"type": "stge"}]}', "'stage'"),
        ('{"schema": 1, "env": "ladder", "components": [{"type": "stage"}]}', "actions"),
    ],
)
@pytest.mark.parametrize("command", ["run", "play"])
def test_bad_spec_files(cli: Cli, command: str, text: str, told: str) -> None:
    """A stack file that cannot be read or built is refused with the reason."""
    (cli.folder / "stack.json").write_text(text)
    assert told in _refused(cli, command, "stack.json", "--policy", "random")


def test_spec_file_that_is_no_text(cli: Cli) -> None:
    """A stack file with other bytes than text is refused."""
    (cli.folder / "stack.json").write_bytes(b"\xff\xfe\x00")
    assert "Cannot read the stack stack.json" in _refused(cli, "play", "stack.json")


@pytest.mark.parametrize("command", ["run", "show", "export"])
def test_corrupted_store(cli: Cli, command: str) -> None:
    """A damaged run store is named, with the way to rescue it, and left exactly as it was."""
    assert cli(*RUN, "--all", "--episodes", "20", "--out", "x").returncode == 0
    file = cli.folder / "x" / "run.db"
    content = bytearray(file.read_bytes())
    content[4096 : len(content) // 2] = b"\x5a" * (len(content) // 2 - 4096)
    file.write_bytes(content)
    arguments = {
        "run": [*RUN, "--all", "--episodes", "20", "--out", "x"],
        "show": ["show", "x"],
        "export": ["export", "x", "--to", "y.jsonl"],
    }
    told = _refused(cli, *arguments[command])
    assert "x/run.db is damaged" in told
    assert ".recover" in told
    assert file.read_bytes() == content
    assert not (cli.folder / "y.jsonl").exists()


def test_files_that_are_no_store(cli: Cli) -> None:
    """Text, and another program's database, are refused and left as they were."""
    text, other = cli.folder / "text.db", cli.folder / "other.db"
    text.write_text("not a database at all " * 100)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE addresses (name TEXT)")
    db.close()
    before = other.read_bytes()
    assert "no run store" in _refused(cli, "show", "text.db")
    assert "no run store" in _refused(cli, "show", "other.db")
    assert "no run store" in _refused(cli, *RUN, "--out", "other.db")
    assert other.read_bytes() == before


def test_store_of_newer_schema(cli: Cli) -> None:
    """A store that a newer version wrote is refused with the advice to upgrade."""
    cli(*RUN, "--out", "x")
    with sqlite3.connect(cli.folder / "x" / "run.db") as db:
        db.execute("UPDATE meta SET value = '99' WHERE name = 'schema'")
    db.close()
    assert "Upgrade harness-core" in _refused(cli, "show", "x")


def test_unknown_episode(cli: Cli) -> None:
    """A key prefix that fits none or several episodes is refused with the ones that there are."""
    cli(*RUN, "--tasks", "2", "--out", "x")
    keys = [episode["key"] for episode in cli.json("show", "x")["episodes"]]
    for prefix in ("z", ""):
        told = _refused(cli, "show", "x", prefix)
        assert all(key[:10] in told for key in keys)


def test_folder_that_cannot_be_made(cli: Cli) -> None:
    """A run whose folder is a file's child is refused."""
    (cli.folder / "file").touch()
    assert "Cannot make the folder" in _refused(cli, *RUN, "--out", "file/x")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(disk)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"root may not mount a small tmpfs here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_full_disk(cli: Cli, small_disk: Path) -> None:
    """A run that fills its disk stops with the reason, keeps what it wrote, and resumes later."""
    run = (*RUN[:-2], "--all", "--episodes", "60", "--out", "disk/x", "--workers", "2")
    done = cli(*run)
    assert done.returncode == 1, done.stderr
    assert "No space to write" in done.stderr
    assert "Go on with: harness" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(cli.tmp.iterdir()) == []
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    kept = len(cli.json("show", "disk/x")["episodes"])
    assert kept > 10
    again = cli(*run)
    assert again.returncode == 0, again.stderr
    assert f"{kept} of them there already" in again.stderr
    assert len(cli.json("show", "disk/x")["episodes"]) == 360


def test_full_output(cli: Cli) -> None:
    """Output that cannot be written ends the command with a message."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            cli.command("list"), env=cli.env, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr.startswith("harness: ")
    assert "No space left" in done.stderr
    assert done.stderr.count("\n") == 1


def test_reader_that_goes_away(cli: Cli) -> None:
    """A closed pipe ends the command silently, with the exit code of SIGPIPE."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", '"$@" | true', "bash", *cli.command("list", "--json")],
        env=cli.env,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (141, "")


def test_bug_leaves_its_traceback_in_a_file(cli: Cli) -> None:
    """An unexpected error is called a bug: its traceback is in a file, the exit code is 70."""
    done = cli("greet", "x", "--fail")
    assert done.returncode == 70
    assert "Traceback" not in done.stderr
    (file,) = cli.tmp.iterdir()
    assert str(file) in done.stderr
    assert "ZeroDivisionError: nobody expects this" in file.read_text()


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_debug_shows_tracebacks(cli: Cli, by: str) -> None:
    """`--debug` and HARNESS_DEBUG=1 show the traceback of an expected error as well."""
    flag, env = (("--debug",), {}) if by == "flag" else ((), {"HARNESS_DEBUG": "1"})
    done = cli("play", "laddr", *flag, **env)
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert "Did you mean 'ladder'?" in done.stderr


def test_options_are_json_or_text(cli: Cli) -> None:
    """`--option` values that are JSON become JSON, others text, and everything after `=` counts."""
    cli(*RUN, "--option", "pause=0.001", "--option", "trouble=a=b", "--out", "x")
    (episode,) = cli.json("show", "x")["episodes"]
    unit = cli.json("show", "x", episode["key"])["unit"]
    assert unit["stack"]["options"] == {"pause": 0.001, "trouble": "a=b"}


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_streams(cli: Cli, closed: str) -> None:
    """A shell that closed a stream gets no traceback, and the command is done."""
    command = " ".join([*cli.command("list", "env"), closed])
    done = subprocess.run(
        ["bash", "-c", command], cwd=cli.folder, env=cli.env, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr


def test_a_person_who_is_not_there(cli: Cli) -> None:
    """Without an input there is nobody to ask: the episode ends, and nothing breaks."""
    command = " ".join([*cli.command("play", "ladder"), "<&-"])
    done = subprocess.run(
        ["bash", "-c", command], cwd=cli.folder, env=cli.env, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert "AttributeError" not in done.stdout + done.stderr
