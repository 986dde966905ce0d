"""What harness-rigger registers."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl


@hookimpl
def harness_components() -> list[Entry]:
    """Contracts with a magnitude."""
    module = "harness_rigger.search.contracts"
    return [
        Entry("long-way", "moves arrive only when repeated", f"{module}:LongWay"),
        Entry("early-end", "ends episodes after some actions", f"{module}:EarlyEnd"),
        Entry("first-sentences", "shortens observations", f"{module}:FirstSentences"),
        Entry(
            "withhold-admissible",
            "leaves out lists of admissible actions",
            f"{module}:WithholdAdmissible",
        ),
    ]


@hookimpl
def harness_objectives() -> list[Entry]:
    """What a rigging aims at."""
    module = "harness_rigger.objectives"
    return [
        Entry("success-band", "success rate in a band", f"{module}:SuccessBand"),
        Entry("step-band", "mean steps of successes in a band", f"{module}:StepBand"),
        Entry(
            "weakness",
            "shows a weakness, given in a sentence, while success stays within reach",
            "harness_rigger.weakness:Weakness",
        ),
        Entry(
            "learning-signal",
            "returns that differ within a group of rollouts",
            "harness_rigger.learning:LearningSignal",
        ),
        Entry("all-of", "several objectives at once", "harness_rigger.all_of:AllOf"),
    ]


@hookimpl
def harness_strategies() -> list[Entry]:
    """Writers of candidates."""
    return [
        Entry("search", "component families, no model", "harness_rigger.search:SearchStrategy"),
        Entry(
            "llm",
            "a model diagnoses, writes, repairs and refines",
            "harness_rigger.designer:LlmStrategy",
            extra="harness-rigger[llm]",
        ),
    ]


@hookimpl
def harness_sources() -> list[Entry]:
    """Envs to learn from, made for the policy that learns."""
    return [
        Entry(
            "reshaped",
            "what the rigger accepts, task by task",
            "harness_rigger.source:ReshapedSource",
        )
    ]


@hookimpl
def harness_experiments() -> list[Entry]:
    """What `harness reproduce` runs."""
    return [
        Entry(
            "target-band",
            "share of tasks whose success rate or step count is in a band, before and after",
            "harness_rigger.reproduce.band:TARGET_BAND",
            extra="harness-rigger[report]",
        )
    ]


@hookimpl
def harness_commands() -> list[Entry]:
    """Subcommands of `harness`."""
    return [
        Entry("rig", "Reshapes tasks against a policy's weakness.", "harness_rigger.command:rig"),
        Entry(
            "verify",
            "Measures the stacks of a corpus again.",
            "harness_rigger.verify_command:verify",
        ),
    ]
