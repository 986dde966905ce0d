from __future__ import annotations

import os
import pty
import subprocess

from support.cli import Cli

RUN = ("run", "ladder", "--all", "--policy", "random", "--episodes", "2", "--max-steps", "5")


def _on_terminal(cli: Cli, *arguments: str) -> str:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        cli.command(*arguments),
        cwd=cli.folder,
        env={**cli.env, "TERM": "xterm", "COLUMNS": "100"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side closed
            break
        if not part:
            break
        seen += part
    os.close(leader)
    assert process.wait(timeout=20) == 0
    return seen.decode()


def test_terminal_gets_a_bar(cli: Cli) -> None:
    """On a terminal a run draws a bar that moves, and the table fits the terminal."""
    seen = _on_terminal(cli, *RUN)
    assert "━" in seen
    assert "12/12" in seen
    assert "\x1b[" in seen
    assert "episodes after" not in seen


def test_pipe_gets_plain_lines(cli: Cli) -> None:
    """In a pipe a run writes plain lines to stderr, and the table alone to stdout."""
    done = cli(*RUN)
    assert "12/12 episodes after" in done.stderr
    assert 5 <= done.stderr.count("episodes after") <= 11
    assert "\x1b" not in done.stderr + done.stdout
    assert "after" not in done.stdout
