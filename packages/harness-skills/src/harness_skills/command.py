"""`harness skills`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from harness_core.cli.console import note, say, say_json, table
from harness_core.errors import HarnessError
from harness_core.serial import canonical, to_data
from harness_skills.bank import Change, Use
from harness_skills.bank_file import load_bank, save_bank, write_whole

app = App(name="skills", help="Shows skill banks and takes them back to earlier versions.")

Json = Annotated[bool, Parameter("--json")]


@app.command
def show(
    bank: Path, /, *, version: int | None = None, category: str | None = None, as_json: Json = False
) -> None:
    """Shows the skills of a bank, with how often each was given and solved its task.

    For example::

        harness skills show bank.jsonl
        harness skills show bank.jsonl --version 3 --category pitfall

    Args:
        bank: file of the bank.
        version: number of a version; by default the newest.
        category: skills of this category alone.
        as_json: print one JSON document.
    """
    whole = load_bank(bank)
    frozen = whole.freeze(version)
    if category is not None and category not in frozen.categories:
        raise HarnessError(f"No skill is of {category!r}. Known: {', '.join(frozen.categories)}.")
    skills = [each for each in frozen.skills if category in (None, each.category)]
    uses = [whole.uses.get(skill.id, Use()) for skill in skills]
    if as_json:
        rows = [
            {"id": skill.id, **to_data(skill), "shown": use.shown, "solved": use.solved}
            for skill, use in zip(skills, uses, strict=True)
        ]
        say_json({"version": frozen.number, "digest": frozen.digest, "skills": rows})
        return
    table(
        ["id", "category", ">tasks", ">given", ">solved", "title"],
        [
            [
                skill.id,
                skill.category,
                str(len(skill.provenance.tasks)),
                str(use.shown),
                str(use.solved),
                skill.title,
            ]
            for skill, use in zip(skills, uses, strict=True)
        ],
    )
    say(f"version {frozen.number}, digest {frozen.digest}")


@app.command
def log(bank: Path, /, *, as_json: Json = False) -> None:
    """Shows every change of a bank, and the digest of each version.

    For example::

        harness skills log bank.jsonl

    Args:
        bank: file of the bank.
        as_json: print one JSON document, with the operations in full.
    """
    whole = load_bank(bank)
    versions = [whole.freeze(number) for number in range(1, whole.number + 1)]
    changes = list(zip(versions, whole.log, strict=True))
    if as_json:
        say_json(
            [
                {"version": version.number, "digest": version.digest, **to_data(change)}
                for version, change in changes
            ]
        )
        return
    table(
        [">version", ">skills", "digest", "change", "note"],
        [
            [
                str(version.number),
                str(len(version.skills)),
                version.digest,
                _told(change),
                change.note,
            ]
            for version, change in changes
        ],
    )


@app.command
def export(bank: Path, /, *, to: Path, version: int | None = None) -> None:
    """Writes the skills of a bank to a file: Markdown to read, or one JSON object per line.

    For example::

        harness skills export bank.jsonl --to skills.md

    Args:
        bank: file of the bank.
        to: the file to write, *.md or *.jsonl; it appears whole or not at all.
        version: number of a version; by default the newest.
    """
    frozen = load_bank(bank).freeze(version)
    if to.suffix == ".md":
        write_whole(to, frozen.to_markdown())
    elif to.suffix == ".jsonl" and to.resolve() != bank.resolve():
        rows = [{"id": skill.id, **to_data(skill)} for skill in frozen.skills]
        write_whole(to, "".join(canonical(row) + "\n" for row in rows))
    else:
        raise HarnessError(f"--to names a .md or .jsonl file other than the bank; got {to}.")
    note(f"{len(frozen.skills)} skills written to {to}")


@app.command
def rollback(bank: Path, /, *, to: int) -> None:
    """Takes a bank back to an earlier version. The log goes on, so this can be undone too.

    For example::

        harness skills rollback bank.jsonl --to 3

    Args:
        bank: file of the bank.
        to: number of the version.
    """
    whole = load_bank(bank)
    frozen = whole.rollback(to, "harness skills rollback")
    save_bank(whole, bank)
    say(f"version {frozen.number} holds what version {to} held; digest {frozen.digest}")


def _told(change: Change) -> str:
    if change.restores is not None:
        return f"back to {change.restores}"
    kinds = [operation.kind for operation in change.operations]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
