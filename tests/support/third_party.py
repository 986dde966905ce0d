"""Registers commands, and things whose engine is not installed."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl

ENGINE = "rocket-science[engine]"


@hookimpl
def harness_envs() -> list[Entry]:
    return [Entry("rocket", "needs an engine", "support.rocket:Rocket", extra=ENGINE)]


@hookimpl
def harness_commands() -> list[Entry]:
    return [
        Entry("greet", "Greets somebody.", "support.third_party_commands:greet"),
        Entry("tower", "A command with commands.", "support.third_party_commands:tower"),
        Entry("launch", "Needs an engine.", "support.rocket:launch", extra=ENGINE),
    ]
