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
    """Policies: those that need no model, and those that ask one in every step."""
    models, llm = "harness_core.models.policies", "harness-core[llm]"
    return [
        Entry("random", "picks any admissible action", "harness_core.policies:RandomPolicy"),
        Entry("scripted", "plays a list of actions", "harness_core.policies:ScriptedPolicy"),
        Entry("human", "asks at the terminal", "harness_core.policies:HumanPolicy"),
        Entry(
            "tool-calling",
            "a model that calls the env's tools",
            f"{models}.tool_calling:ToolCallingPolicy",
            extra=llm,
        ),
        Entry(
            "think-action",
            "a model that writes <think> and <action>",
            f"{models}.think_action:ThinkActionPolicy",
            extra=llm,
        ),
        Entry(
            "react",
            "a model that writes Thought: and Action:",
            f"{models}.react:ReActPolicy",
            extra=llm,
        ),
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
