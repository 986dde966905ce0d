"""Corpora: accepted stacks as JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_core import StackSpec
from harness_core.errors import SpecError, StoreError
from harness_core.values import JsonDict
from harness_rigger.corpus import read_corpus, write_corpus
from harness_rigger.search.contracts import LongWay

STACK = StackSpec("toy24", "1-1-4-6", (LongWay("combine", 2),))


def line(stack: StackSpec | None = STACK) -> JsonDict:
    return {
        "stack": stack.to_dict() if stack else None,
        "digest": stack.digest if stack else None,
    }


def test_a_corpus_comes_back(tmp_path: Path) -> None:
    """Stacks are read as they were written; lines without a stack are passed over."""
    path = tmp_path / "corpus.jsonl"
    write_corpus(path, [line(), line(None)])
    (entry,) = read_corpus(path)
    assert entry.stack == STACK
    assert entry.digest == STACK.digest


def test_a_changed_line_is_refused(tmp_path: Path) -> None:
    """A stack that is not the one its digest names is an error that names the line."""
    path = tmp_path / "corpus.jsonl"
    changed = line()
    changed["stack"]["task"] = "1-2-3-4"
    write_corpus(path, [line(), changed])
    with pytest.raises(SpecError, match=r"line 2.*was changed"):
        read_corpus(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"stack": {}}', json.dumps({"digest": ""})])
def test_a_damaged_line_is_refused(tmp_path: Path, text: str) -> None:
    """What is no corpus line is an error that names the line."""
    path = tmp_path / "corpus.jsonl"
    path.write_text(text)
    with pytest.raises(SpecError, match="line 1"):
        read_corpus(path)


def test_a_missing_file_and_an_unwritable_one_are_told(tmp_path: Path) -> None:
    """Neither ends in a bare OSError."""
    with pytest.raises(SpecError, match="Cannot read"):
        read_corpus(tmp_path / "none.jsonl")
    with pytest.raises(StoreError, match="Cannot write"):
        write_corpus(tmp_path / "no" / "folder.jsonl", [])
