"""What harness-skills registers."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl


@hookimpl
def harness_policies() -> list[Entry]:
    """A policy around others."""
    return [
        Entry(
            "with-skills",
            "any policy, with skills of a bank as guidance",
            "harness_skills.policy:WithSkills",
            extra="harness-skills[retrieval]",
        )
    ]


@hookimpl
def harness_commands() -> list[Entry]:
    """Subcommands of `harness`."""
    return [Entry("skills", "Shows skill banks and takes them back.", "harness_skills.command:app")]


@hookimpl
def harness_sources() -> list[Entry]:
    """Envs to learn from that nobody reshaped."""
    module = "harness_skills.sources"
    return [
        Entry("original", "the tasks as they are", f"{module}:OriginalSource"),
        Entry("chained", "random pairs of tasks, as one episode", f"{module}:ChainedSource"),
    ]


@hookimpl
def harness_experiments() -> list[Entry]:
    """The paper's protocols about skills."""
    about = {
        "skills": "no skills, skills from original envs, and from reshaped ones",
        "transfer": "the same, on a family of tasks that was left out",
        "scaling": "a bank after every batch of envs, at equal numbers",
        "chain": "skills from random pairs of tasks, alone and joined with the others",
        "backbones": "the skills protocol for each of several models",
        "rounds": "which weakness, component and skill each round brings",
        "cost": "tokens for design and for rollouts",
    }
    return [
        Entry(
            id,
            summary,
            f"harness_skills.protocols.experiment:{id.upper()}",
            extra="harness-skills[llm,retrieval]",
        )
        for id, summary in about.items()
    ]
