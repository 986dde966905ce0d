"""What the commands print: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from rich.console import Console


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        self.quiet = True
        raise BrokenPipeError  # rich would exit with 1; the entry point decides


def _console(stderr: bool) -> Console:
    return _Console(stderr=stderr, markup=False, highlight=False, emoji=False)


out, err = _console(stderr=False), _console(stderr=True)


def say(text: str = "") -> None:
    """Prints a result, unwrapped."""
    out.print(text, soft_wrap=True)


def note(text: str) -> None:
    """Prints what is not a result, such as progress, to stderr."""
    err.print(text, soft_wrap=True)


def say_json(data: object) -> None:
    """Prints the one JSON document of a `--json` command."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table, fitted to a terminal; in full where the output is none.

    Args:
        columns: headings; one that starts with `>` is aligned to the right.
        rows: one text per column.
    """
    lines = [[" ".join(cell.split()) for cell in row] for row in rows]
    if not out.is_terminal:
        _plain_table(columns, lines)
        return
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        drawn.add_column(column.removeprefix(">"), justify="right" if right else "left")
    for line in lines:
        drawn.add_row(*line)
    out.print(drawn)


def _plain_table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    heads = [column.removeprefix(">") for column in columns]
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    for line in (heads, *lines):
        cells = [
            cell.rjust(width) if column.startswith(">") else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        print("  ".join(cells).rstrip())


@contextmanager
def progress(total: int, what: str, done: int = 0) -> Iterator[Callable[[], None]]:
    """Shows how far long work is: a bar on a terminal, else a plain line now and then.

    Args:
        total: how many steps there are.
        what: what they are, in the plural.
        done: how many are done already.

    Yields:
        A function to call after each step.
    """
    if not err.is_terminal:
        yield _Lines(total, what, done).advance
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=err,
    )
    with shown:
        task = shown.add_task(what, total=total, completed=done)
        yield lambda: shown.advance(task)


class _Lines:
    """A line at every tenth of the work, and after 30 s of silence."""

    def __init__(self, total: int, what: str, done: int) -> None:
        self._total, self._what, self._done = total, what, done
        self._began = self._said = time.monotonic()

    def advance(self) -> None:
        self._done += 1
        now = time.monotonic()
        tenth = self._done * 10 // self._total > (self._done - 1) * 10 // self._total
        if tenth or now - self._said > 30:
            self._said = now
            note(f"{self._done}/{self._total} {self._what} after {now - self._began:.0f} s")
