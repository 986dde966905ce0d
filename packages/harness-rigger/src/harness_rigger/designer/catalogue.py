"""The registered components, in words."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import NOTHING, fields

from harness_core.errors import HarnessError
from harness_core.registry import load, registry

WRITTEN_OTHERWISE = ("identity", "composition", "stage", "contract", "chain")


def registered_components() -> Iterator[str]:
    """A line for each: id, fields with their defaults, summary."""
    for id, claims in registry().entries("component").items():
        if id in WRITTEN_OTHERWISE or len(claims) > 1:
            continue
        try:
            kind = load("component", id)
        except HarnessError:  # its extra is not installed
            continue
        named = ", ".join(
            each.name if each.default is NOTHING else f"{each.name}={each.default!r}"
            for each in fields(kind)
        )
        yield f"  {id}({named}): {claims[0][1].summary}"
