"""Reads what several commands take: `k=v` options, envs or stack files, run paths."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from harness_core.errors import HarnessError, SpecError, StoreError
from harness_core.spec import StackSpec
from harness_core.values import JsonDict


def parse_options(pairs: Iterable[str] | None, flag: str = "--option") -> JsonDict:
    """`["size=3", "mode=fast"]` as `{"size": 3, "mode": "fast"}`: JSON where it is, else text.

    Raises:
        HarnessError: a pair without `=`.
    """
    options: JsonDict = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise HarnessError(f"{flag} takes name=value, such as {flag} size=3; got {pair!r}.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def parse_stack(target: str, options: JsonDict) -> StackSpec:
    """The stack that `target` names: the id of an env, or a JSON file of a stack.

    Raises:
        SpecError: the file cannot be read, or is no stack.
    """
    path = Path(target)
    if path.suffix != ".json" and len(path.parts) == 1:
        return StackSpec(target, options=options)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"Cannot read the stack {target}: {error}.") from error
    try:
        spec = StackSpec.from_json(text)
    except HarnessError as error:
        raise SpecError(f"{target}: {error}") from error
    return evolve(spec, options={**spec.options, **options})


def run_file(path: Path) -> Path:
    """The database of a run, given its folder or the database itself."""
    return path if path.suffix == ".db" else path / "run.db"


def existing_run(path: Path) -> Path:
    """Like `run_file`, of a run that exists.

    Raises:
        StoreError: there is none.
    """
    file = run_file(path)
    if not file.is_file():
        raise StoreError(f"There is no run {file}. `harness run` makes one.")
    return file
