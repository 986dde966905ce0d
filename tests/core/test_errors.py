"""Errors that teach: what was asked for, and what is near."""

import time

import pytest

from harness_core.errors import UnknownIdError


@pytest.mark.parametrize("count", [3, 100_000])
def test_the_nearest_id_is_named_at_once(count):
    """A misspelt id is answered with the one that was meant, also among a hundred thousand."""
    known = [f"train/pick_and_place_simple-Mug-None-Desk-{number}" for number in range(count)]
    began = time.perf_counter()
    error = UnknownIdError("task", known[2] + "x", known)
    assert error.near[0] == known[2]
    assert time.perf_counter() - began < 1
    assert "Did you mean" in str(error)
