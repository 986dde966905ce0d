"""What harness-core itself registers."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl


@hookimpl
def harness_components() -> list[Entry]:
    """The three components and the unit of composition."""
    return [
        Entry("identity", "changes nothing", "harness_core.component:Identity"),
        Entry("composition", "several as one", "harness_core.component:Composition"),
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


@hookimpl
def harness_commands() -> list[Entry]:
    """The subcommands that every installation has."""
    module = "harness_core.cli"
    return [
        Entry(
            "list", "Shows what is registered, or tasks of an env.", f"{module}.listing:show_list"
        ),
        Entry("doctor", "Checks this machine and installation.", f"{module}.doctor:doctor"),
        Entry("play", "Plays one episode in the terminal.", f"{module}.play:play"),
        Entry("run", "Plays many episodes and keeps them in a run.", f"{module}.run:run"),
        Entry("show", "Shows a run, or one of its episodes.", f"{module}.show:show"),
        Entry(
            "reproduce",
            "Runs an experiment and reports it beside the published figures.",
            f"{module}.reproduce:reproduce",
        ),
        Entry("export", "Writes the episodes of a run to a file.", f"{module}.export:export"),
    ]
