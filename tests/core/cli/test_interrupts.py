from __future__ import annotations

import random
import re
import signal
import time
from functools import partial

import pytest

from harness_core.store import RunStore
from support.cli import Cli, descendants, running, wait_until

RUN = ("run", "ladder", "--all", "--policy", "random", "--max-steps", "8", "--workers", "2")


def _stored(cli: Cli, run: str) -> set[tuple[str, int]]:
    file = cli.folder / run / "run.db"
    if not file.exists():
        return set()
    with RunStore(file) as store:
        return {(unit["stack"]["task"], unit["seed"]) for unit, _ in store.episodes()}


def _log(cli: Cli) -> list[tuple[str, int]]:
    lines = (line.split() for line in (cli.folder / "log").read_text().splitlines())
    return [(task, int(seed)) for task, seed in lines]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_run_resumes(cli: Cli, number: int, code: int) -> None:
    """A signal ends a run at once, with nothing left behind, and names the command that resumes."""
    run = (*RUN, "--episodes", "10", "--option", "pause=0.02", "--out", "x")
    process = cli.start(*run)
    wait_until(lambda: cli.begun() > 10)
    below = descendants(process.pid)
    assert len(below) == 2
    process.send_signal(number)
    sent = time.monotonic()
    out, told = process.communicate(timeout=20)
    assert time.monotonic() - sent < 5
    assert process.returncode == code
    assert out == ""
    assert "Traceback" not in told
    assert f"Go on with: {' '.join(['harness', *cli.command(*run)[1:]])}" in told
    assert running(below) == set()
    assert list(cli.tmp.iterdir()) == []
    kept = _stored(cli, "x")
    assert 8 < len(kept) < 60
    before = len(_log(cli))
    again = cli(*run)
    assert f"{len(kept)} of them there already" in again.stderr
    assert sorted(set(_log(cli)[before:]) | kept) == sorted(_log(cli)[before:] + list(kept))
    assert len(_stored(cli, "x")) == 60


def test_interrupted_run_leaves_no_sandbox(cli: Cli) -> None:
    """The processes that run generated code go with the run that SIGTERM ends."""
    source = (
        "class Same(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        "        return action\n"
    )
    (cli.folder / "s.json").write_text(
        '{"schema": 1, "env": "ladder", "options": {"pause": 0.05}, "task": "rung-6", '
        f'"components": [{{"type": "contract", "source": {source!r}}}]}}'.replace("'", '"')
    )
    run = ("run", "s.json", "--policy", "random", "--episodes", "50", "--workers", "2")
    process = cli.start(*run)
    wait_until(lambda: cli.begun() > 3)
    below = descendants(process.pid)
    assert len(below) > 4
    process.terminate()
    _, told = process.communicate(timeout=20)
    assert process.returncode == 143, told
    wait_until(lambda: not running(below))
    assert list(cli.tmp.iterdir()) == []


def test_play_ends_at_ctrl_c(cli: Cli) -> None:
    """Ctrl-C at the prompt, or between the steps of a policy, ends `play` with 130 and no fuss."""
    play = ("play", "ladder", "--task", "rung-6", "--policy", "random", "--option", "pause=0.1")
    process = cli.start(*play, "--max-steps", "1000")
    assert process.stdout is not None
    wait_until(lambda: "> " in (process.stdout.readline() if process.stdout else ""))
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert (process.returncode, told) == (130, "")


def test_killed_twenty_times(cli: Cli) -> None:
    """After `kill -9` at 20 random moments no episode is lost, none is played twice, and the
    table is that of an undisturbed run."""
    run = (*RUN, "--episodes", "25", "--option", "pause=0.01", "--out")
    expected = cli(*run, "calm").stdout
    (cli.folder / "log").unlink()
    moments = random.Random(20)
    kept: set[tuple[str, int]] = set()
    kept_after: list[int] = []
    for _ in range(20):
        begun = cli.begun()
        process = cli.start(*run, "x")
        enough = begun + moments.randint(1, 7)  # the first 2 begin while the workers start
        wait_until(partial(_has_begun, cli, enough))
        time.sleep(moments.uniform(0.0, 0.1))
        below = descendants(process.pid)
        process.kill()
        process.wait()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        wait_until(partial(_all_ended, below))
        assert not kept & set(_log(cli)[begun:])
        now = _stored(cli, "x")
        assert kept <= now
        kept = now
        kept_after.append(len(kept))
    assert len(set(kept_after)) > 5
    last = cli(*run, "x")
    assert f"{len(kept)} of them there already" in last.stderr
    assert _table(last.stdout) == _table(expected)
    assert re.search(r"total +150 +150 ", last.stdout)
    with (
        RunStore(cli.folder / "x" / "run.db") as broken,
        RunStore(cli.folder / "calm" / "run.db") as calm,
    ):
        assert list(broken.episodes()) == list(calm.episodes())
    assert list(cli.tmp.iterdir()) == []


def _has_begun(cli: Cli, enough: int) -> bool:
    return cli.begun() >= enough


def _all_ended(pids: set[int]) -> bool:
    return not running(pids)


def _table(text: str) -> list[str]:
    return text.splitlines()[:4]
