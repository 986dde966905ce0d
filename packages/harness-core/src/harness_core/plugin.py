"""What harness-core itself registers."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl


@hookimpl
def harness_components() -> list[Entry]:
    """The three components and the unit of composition."""
    return [
        Entry("identity", "changes nothing", "harness_core.component:Identity"),
        Entry("stage", "starts where replayed actions lead", "harness_core.stage:Stage"),
        Entry(
            "contract",
            "rewrites actions, answers and observations by sandboxed source text",
            "harness_core.contract:SourceContract",
        ),
        Entry("chain", "joins envs; solved if all parts are", "harness_core.chain:Chain"),
    ]


@hookimpl
def harness_policies() -> list[Entry]:
    """Policies that need no model."""
    return [
        Entry("random", "picks any admissible action", "harness_core.policies:RandomPolicy"),
        Entry("scripted", "plays a list of actions", "harness_core.policies:ScriptedPolicy"),
        Entry("human", "asks at the terminal", "harness_core.policies:HumanPolicy"),
    ]
