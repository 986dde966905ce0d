"""Registers the test env and the test contracts; loaded by `harness_core.testing` alone."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl

_CONTRACTS = "harness_core.testing.contracts"


@hookimpl
def harness_envs() -> list[Entry]:
    """The test env."""
    return [Entry("corridor", "walk and light a lamp", "harness_core.testing.corridor:CorridorEnv")]


@hookimpl
def harness_components() -> list[Entry]:
    """The test contracts."""
    return [
        Entry("test-keep-words", "cuts observations", f"{_CONTRACTS}:KeepWords"),
        Entry("test-forbid", "blocks a word", f"{_CONTRACTS}:Forbid"),
        Entry("test-swap", "replaces an action", f"{_CONTRACTS}:Swap"),
        Entry("test-count-steps", "numbers the answers", f"{_CONTRACTS}:CountSteps"),
        Entry("test-handover", "routes to one segment", f"{_CONTRACTS}:Handover"),
    ]
