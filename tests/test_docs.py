"""The documentation says what is: its code runs, its lists are complete, its links lead somewhere.

A page's Python blocks are one program. A block titled `name.py` is a file beside it; a page's
blocks titled `output` are what the program prints, in this order.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from cyclopts import App

from harness_core import errors, hookspecs
from harness_core.registry import load, registry
from support.cli import HARNESS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]*)\")?\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.M)
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


class Block(NamedTuple):
    """One fenced block of a page, and the number of its first line."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2] or "", match[3], text.count("\n", 0, match.start(3)) + 1)
        for match in _BLOCK.finditer(text)
    ]


def run_page(page: Path, folder: Path) -> None:
    """Runs a page's blocks as one program, whose lines are numbered as in the page."""
    lines: list[str] = []
    printed: list[str] = []
    for block in blocks(page):
        if block.language == "python" and block.title.endswith(".py"):
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.text)
        elif block.language == "python":
            lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
        elif block.title == "output":
            printed.append(block.text)
    program = folder / f"{page.stem}_page.py"
    program.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "ALFWORLD_DATA"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{page}:\n{done.stderr}"
    rest = done.stdout
    for expected in printed:
        _, found, rest = rest.partition(expected)
        assert found, f"{page} does not print\n{expected}\nin this order, but\n{done.stdout}"


PAGES_WITH_CODE = [page for page in PAGES if any(b.language == "python" for b in blocks(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=name_of)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """Every Python block runs, in the order of the page, and prints what the page shows."""
    run_page(page, tmp_path)


def test_every_language_is_named() -> None:
    """No block escapes the other tests for want of a language or through a misspelt title."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"^ *```", text, re.M)) == 2 * len(blocks(page)), page
        for block in blocks(page):
            assert block.language in ("python", "text", "json", "toml", "sh"), (page, block)


@cache
def flags(command: str) -> frozenset[str]:
    """The flags that a command's own help names."""
    words = [HARNESS, *command.split(), "--help"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    shown = done.stdout[done.stdout.index("╭") :] if "╭" in done.stdout else ""
    return frozenset(re.findall(r"^│[ *]+(--[a-z][a-z-]*)", shown, re.M))


def commands() -> set[str]:
    """Every public command; of a group, its subcommands, as `"group name"`."""
    found = set()
    for id in registry().entries("command"):
        command = load("command", id)
        names = [name for name in command if name[0] != "-"] if isinstance(command, App) else [""]
        found |= {f"{id} {name}".strip() for name in names}
    return found


def test_command_lines_are_possible() -> None:
    """Every `harness` line in a block of a page names a command and flags that exist."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^(?: {4})?(harness .*)$", text, re.M):
            words = shlex.split(line, comments=True)
            while words[1:2] == ["--plugin"]:
                del words[1:3]
            command = max(" ".join(words[1:2]), " ".join(words[1:3]), key=commands().__contains__)
            assert command.startswith("-") or command in commands(), (page, line)
            known = {"--help", "--version", "--plugin", "--debug"}
            if command in commands():
                known |= flags(command)
            given = {word for word in words if word.startswith("--")}
            assert given <= known, (page, line, given - known)


def test_every_command_is_described() -> None:
    """`reference/cli.md` has a section for each command, with its flags and no others."""
    sections = dict(
        re.findall(r"^## `harness ([\w ]+)`\n(.*?)(?=^## |\Z)", cli_page(), re.M | re.S)
    )
    own = {id for id in commands() if not id_is_of_tests(id)}
    assert set(sections) == own
    for command, section in sections.items():
        assert set(_FLAG.findall(section)) == flags(command), command


def cli_page() -> str:
    return (DOCS / "reference/cli.md").read_text(encoding="utf-8")


def id_is_of_tests(command: str) -> bool:
    """Whether a command is registered by the tests' own plugins."""
    claims = registry().entries("command").get(command.split()[0], [])
    return any(plugin not in ("core", "bridges", "rigger", "skills") for plugin, _ in claims)


def test_every_hook_is_described() -> None:
    """`reference/hooks.md` has a section for each hook, and for nothing that is none."""
    page = (DOCS / "reference/hooks.md").read_text(encoding="utf-8")
    hooks = {name for name, _ in inspect.getmembers(hookspecs, inspect.isfunction)}
    hooks = {name for name in hooks if name.startswith("harness_")}
    assert set(re.findall(r"^### `(harness_\w+)`$", page, re.M)) == hooks


def test_every_error_is_described() -> None:
    """`reference/errors.md` has a row for each error, with the fault that it counts as."""
    page = (DOCS / "reference/errors.md").read_text(encoding="utf-8")
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.HarnessError)
    ]
    rows = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.M))
    assert rows == {kind.__name__: kind.fault for kind in kinds}


def anchor(heading: str) -> str:
    """The anchor that a heading gets on the site."""
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[\s-]+", "-", words)


def test_links_lead_somewhere() -> None:
    """Every link inside the documentation leads to a page, a file and a heading that are there."""
    for page in PAGES:
        text = re.sub(_BLOCK, "", page.read_text(encoding="utf-8"))
        for link in _LINK.findall(text):
            if "://" in link:
                continue
            target, _, wanted = link.partition("#")
            there = (page.parent / target).resolve() if target else page
            assert there.exists(), f"{name_of(page)} links to {link}"
            if wanted:
                headings = _HEADING.findall(there.read_text(encoding="utf-8"))
                assert wanted in map(anchor, headings), f"{name_of(page)} links to {link}"


def test_every_page_is_in_the_navigation() -> None:
    """`mkdocs.yml` names each page once."""
    named = re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert sorted(named) == [str(page.relative_to(DOCS)) for page in PAGES[1:]]
