"""Accepted stacks as JSON lines, and their verification from the file alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import field, frozen

from harness_core.errors import SpecError, StoreError
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool, Unit
from harness_core.spec import StackSpec
from harness_core.values import JsonDict
from harness_rigger.evidence import Evidence


@frozen
class Entry:
    """One line of a corpus.

    Args:
        digest: of the stack, as written.
        stack: as read.
        line: the whole line: evidence, lineage, trials.
    """

    digest: str
    stack: StackSpec
    line: JsonDict = field(factory=dict, hash=False, repr=False)


def write_corpus(path: Path, lines: Iterable[JsonDict]) -> None:
    """Writes `Rigged.to_dict()` lines; the file appears whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        part.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error}.") from error


def read_corpus(path: Path) -> list[Entry]:
    """The stacks of a corpus; lines without one are passed over.

    Raises:
        SpecError: a line is damaged, or its stack is not the one that its digest names.
    """
    entries = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise SpecError(f"Cannot read the corpus {path}: {error}.") from error
    for number, line in enumerate(lines, start=1):
        try:
            data = json.loads(line)
        except ValueError as error:
            raise SpecError(f"{path}, line {number} is not JSON: {error}.") from error
        if not isinstance(data, dict) or "stack" not in data or "digest" not in data:
            raise SpecError(f"{path}, line {number} has no stack and digest.")
        if data["stack"] is None:
            continue
        stack = StackSpec.from_dict(data["stack"])
        if stack.digest != data["digest"]:
            raise SpecError(
                f"{path}, line {number}: the stack's digest is {stack.digest[:12]}, the line "
                f"says {str(data['digest'])[:12]}. The line was changed after it was written."
            )
        entries.append(Entry(stack.digest, stack, data))
    return entries


def measure(
    pool: RolloutPool, stacks: Iterable[StackSpec], policy: PolicySpec, seeds: range, max_steps: int
) -> Iterator[Evidence]:
    """Rollouts of every stack with the given seeds, one stack after the other."""
    for stack in stacks:
        yield Evidence(tuple(pool.run(Unit(stack, policy, seed, max_steps) for seed in seeds)))
