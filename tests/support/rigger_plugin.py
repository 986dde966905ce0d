"""Registers the contracts and the env of the rigger's tests."""

from __future__ import annotations

from attrs import frozen

from harness_core import Action, Blocked, Contract
from harness_core.contract import StateView
from harness_core.hookspecs import Entry, hookimpl


@frozen
class Wall(Contract):
    """Blocks everything."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        return Blocked("A wall.")


@frozen
class Breaks(Contract):
    """Raises at the first action."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        raise ValueError("broken on purpose")


@hookimpl
def harness_envs() -> list[Entry]:
    return [Entry("vault", "a ladder that keeps secrets", "support.vault:Vault")]


@hookimpl
def harness_components() -> list[Entry]:
    return [
        Entry("test-wall", "blocks everything", "support.rigger_plugin:Wall"),
        Entry("test-breaks", "raises", "support.rigger_plugin:Breaks"),
    ]
