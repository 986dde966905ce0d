"""The real `harness`, as a subprocess, in a folder of its own; and what became of processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
HARNESS = Path(sys.executable).with_name("harness")
PLUGINS = ("--plugin", "support.ladder_plugin", "--plugin", "support.third_party")


class Cli:
    """Runs `harness` with the tests' plugins in `folder`; its temporary folder is `tmp`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tmp = folder, folder / "tmp"
        self.tmp.mkdir()
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "PYTHONPATH": str(TESTS),
            "TMPDIR": str(self.tmp),
            "LADDER_LOG": str(folder / "log"),
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(HARNESS), *PLUGINS, *arguments]

    def __call__(
        self, *arguments: str, given: str = "", timeout: float = 60, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env={**self.env, **env},
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    def json(self, *arguments: str) -> Any:
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_listen_to_ctrl_c,
        )

    def begun(self) -> int:
        """How many episodes have begun in this folder."""
        log = self.folder / "log"
        return len(log.read_text().splitlines()) if log.exists() else 0


def _listen_to_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run in the background


def wait_until(holds: Callable[[], object]) -> None:
    """Returns when `holds()` is true."""
    limit = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < limit, "it never came true"
        time.sleep(0.01)


def descendants(pid: int) -> set[int]:
    """All processes below `pid`."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def running(pids: set[int]) -> set[int]:
    """Those of `pids` that have not ended."""
    return {pid for pid in pids if _state(pid) not in ("", "Z")}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
