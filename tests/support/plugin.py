"""Registers what the tests share."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl

_COMPONENTS = ("Through", "Same", "Equal", "Remember", "Pair")
_BROKEN = (
    "Mutable",
    "Undecorated",
    "Uncompared",
    "Hidden",
    "Loose",
    "ByIdentity",
    "Impostor",
    "Unsigned",
    "Generous",
    "Leaky",
    "Counting",
)


@hookimpl
def harness_components() -> list[Entry]:
    """Components that only tests need."""
    targets = [f"support.components:{name}" for name in _COMPONENTS]
    targets += [f"support.broken:{name}" for name in _BROKEN]
    return [
        Entry(f"support-{target.partition(':')[2].lower()}", "for tests", target)
        for target in targets
    ]
