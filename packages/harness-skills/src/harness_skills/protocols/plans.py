"""The paper's protocols, with its figures.

Source: the EnvHarness paper. Success rates in percent, means of three runs; the policies are large
language models, so the figures stand beside ours for orientation and are not comparable.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness_core.errors import SpecError
from harness_skills.protocols.plan import Arm, Plan

NONE = Arm("no skills")
ORIGINAL = Arm("original envs", "original")

PUBLISHED_SKILLS = {
    "alfworld": {"no skills": 61.7, "original envs": 62.4, "reshaped envs": 68.3},
    "webarena": {"no skills": 38.7, "original envs": 38.5, "reshaped envs": 41.6},
    "swebench": {"no skills": 47.67, "original envs": 49.88, "reshaped envs": 52.58},
    "officeqa": {"no skills": 54.23, "original envs": 54.40, "reshaped envs": 56.20},
    "spreadsheetbench": {"no skills": 46.44, "original envs": 45.88, "reshaped envs": 49.15},
}
"""Main table: env -> row -> success rate. ALFWorld's is the mean of its two test splits."""

PUBLISHED_CHAIN = {
    "no skills": 47.67,
    "original envs": 49.88,
    "reshaped envs": 52.58,
    "chained envs": 49.63,
    "reshaped and chained": 54.30,
}
"""On SWE-bench Verified; mean steps 53.58, 55.01, 49.61, 41.96 and 43.12."""

PUBLISHED_SCALING = {"no skills": 47.67, "original envs": 52.13, "reshaped envs": 54.79}
"""On SWE-bench Verified, after 300 envs; a bank is made every 50."""

PUBLISHED_BACKBONES = {
    "Gemini 3.1 Flash-Lite": (30.7, 36.8, 40.0),
    "Qwen3.6 27B": (41.0, 48.4, 52.1),
    "Gemini 3.5 Flash": (47.7, 49.9, 52.6),
    "Claude Sonnet 4.6": (67.2, 69.2, 72.4),
}
"""On SWE-bench Verified: without skills, with skills from original, and from reshaped envs."""

PUBLISHED_COST = {
    "alfworld": {"reshaped envs": "1.46 + 226.6"},
    "webarena": {"reshaped envs": "1.58 + 135.7"},
}
"""Million tokens for design, and for rollouts."""


def reshaped(strategy: str) -> Arm:
    """The arm that learns in envs which `strategy` reshaped."""
    return Arm("reshaped envs", "reshaped", {"strategy": strategy})


def skills(env: str, strategy: str, others: Sequence[str] = ()) -> Plan:
    """No skills, skills from the envs as they are, and from reshaped ones.

    Args:
        env: for the published figures.
        strategy: that reshapes.
        others: further registered sources, each an arm of its own.
    """
    more = tuple(Arm(source, source) for source in others)
    return Plan(
        "Skills from reshaped envs, on untouched held-out tasks",
        (NONE, ORIGINAL, *more, reshaped(strategy)),
        published=PUBLISHED_SKILLS.get(env, {}),
        note=f"success rate on {env}",
    )


def transfer(families: Sequence[str], strategy: str) -> Plan:
    """Leaves one family out: trains on the others, evaluates on it."""
    if len(families) < 2:
        raise SpecError(f"To leave one family out there must be two; this env has {len(families)}.")
    arms = tuple(
        Arm(f"{family}: {arm.name}", arm.source, arm.options, left_out=family)
        for family in families
        for arm in (NONE, ORIGINAL, reshaped(strategy))
    )
    return Plan("Skills on a family of tasks that was not trained on", arms)


def scaling(strategy: str) -> Plan:
    """A bank after every batch of envs; each batch is for the policy with its skills so far."""
    return Plan(
        "More envs, at equal numbers",
        (NONE, ORIGINAL, reshaped(strategy)),
        each_batch=True,
        published=PUBLISHED_SCALING,
        note="success rate on SWE-bench Verified after 300 envs",
    )


def chain(strategy: str) -> Plan:
    """Random pairs of tasks as one episode: their skills alone, and joined with the others."""
    return Plan(
        "Skills from chained envs",
        (
            NONE,
            ORIGINAL,
            reshaped(strategy),
            Arm("chained envs", "chained"),
            Arm("reshaped and chained", joined=("reshaped envs", "chained envs")),
        ),
        published=PUBLISHED_CHAIN,
        note="success rate on SWE-bench Verified",
    )


def backbones(models: Sequence[str], strategy: str) -> Plan:
    """The main comparison for each of several models, which is policy and designer at once."""
    if not models:
        raise SpecError("Name the models to compare: --option models='[\"openai/...\", ...]'.")
    arms = tuple(
        Arm(f"{model}: {arm.name}", arm.source, arm.options, model=model)
        for model in models
        for arm in (NONE, ORIGINAL, reshaped(strategy))
    )
    names = (NONE.name, ORIGINAL.name, "reshaped envs")
    published = {
        f"{model}: {name}": rate
        for model, rates in PUBLISHED_BACKBONES.items()
        for name, rate in zip(names, rates, strict=True)
    }
    note = "success rate on SWE-bench Verified"
    return Plan("The same, by model", arms, published=published, note=note)


def rounds(strategy: str) -> Plan:
    """Reshaped envs alone: which weakness, which component and which skill, round by round."""
    return Plan("What each round aims at", (NONE, reshaped(strategy)), each_batch=True)


def cost(env: str, strategy: str) -> Plan:
    """What reshaping costs beside learning from the envs as they are: see the table of costs."""
    return Plan(
        "What it costs",
        (ORIGINAL, reshaped(strategy)),
        published=PUBLISHED_COST.get(env, {}),
        note=f"million tokens on {env}: design and rollouts",
    )
