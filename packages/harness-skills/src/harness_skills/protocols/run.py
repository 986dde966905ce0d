"""Runs a plan: batch by batch, all arms in step, so that they learn in equally many envs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import fmean

from attrs import asdict, frozen

from harness_core.episode import Episode
from harness_core.policies import Usage
from harness_core.rollout import Unit
from harness_core.values import JsonDict
from harness_skills.protocols.learner import Lab, Learner
from harness_skills.protocols.plan import Plan
from harness_skills.protocols.plans import NONE, ORIGINAL
from harness_skills.protocols.statistics import difference, score


@frozen
class Row:
    """One evaluation of one arm.

    Args:
        arm: its name.
        compared: what arms share that may be compared: model and family left out.
        batch: after which it was, 0 before the first.
        envs: that the arm has learned in.
        skills: in its bank.
        outcomes: task -> outcome in each run.
        steps: mean steps of the episodes that count; `None` where none does.
        lost: episodes that infrastructure ended.
        learning: tokens of the policy while learning.
        evaluation: tokens of the policy in this evaluation.
    """

    arm: str
    compared: tuple[str, str]
    batch: int
    envs: int
    skills: int
    outcomes: dict[str, list[bool | None]]
    steps: float | None
    lost: int
    learning: Usage
    evaluation: Usage


def run_plan(plan: Plan, lab: Lab) -> JsonDict:
    """Runs all arms and returns the results as JSON data.

    A run that is started again with the same arguments goes on where it stopped: episodes and
    answers of models are in the store.

    Raises:
        HarnessError: a limit is reached, or something cannot be run at all.
    """
    tell = lab.setup.tell
    learners = {arm.name: Learner.of(arm, lab) for arm in plan.arms}
    rows = [
        _row(learner, 0)
        for learner in learners.values()
        if not (learner.arm.source or learner.arm.joined)
    ]
    batches = -(-lab.scale.envs // lab.scale.every)
    for batch in range(1, batches + 1):
        for group in _groups(learners.values()):
            made = {learner.arm.name: learner.envs(batch) for learner in group}
            equal = min(map(len, made.values()))
            for learner in group:
                tell(f"batch {batch}: {learner.arm.name} learns in {equal} envs")
                learner.learn(batch, made[learner.arm.name][:equal])
                if plan.each_batch or batch == batches:
                    rows.append(_row(learner, batch))
    for learner in learners.values():
        if learner.arm.joined:
            learner.join([learners[name] for name in learner.arm.joined])
            rows.append(_row(learner, batches))
    return _results(plan, lab, rows, list(learners.values()))


def _groups(learners: Iterable[Learner]) -> Iterator[list[Learner]]:
    """The arms that learn from envs, those together whose numbers of envs are to be equal."""
    learning = sorted((each for each in learners if each.arm.source), key=_compared)
    for _, group in groupby(learning, key=_compared):
        yield list(group)


def _compared(learner: Learner) -> tuple[str, str]:
    return learner.arm.model, learner.arm.left_out


def _row(learner: Learner, batch: int) -> Row:
    learner.lab.setup.tell(f"evaluating {learner.arm.name}")
    played = learner.evaluate()
    counted = [episode for _, episode in played if episode.success is not None]
    return Row(
        arm=learner.arm.name,
        compared=_compared(learner),
        batch=batch,
        envs=len(learner.lessons),
        skills=len(learner.bank.freeze().skills),
        outcomes=_outcomes(played),
        steps=fmean(len(episode.steps) for episode in counted) if counted else None,
        lost=sum(episode.success is None for _, episode in played),
        learning=learner.usage,
        evaluation=sum((episode.usage for _, episode in played), Usage()),
    )


def _outcomes(played: Sequence[tuple[Unit, Episode]]) -> dict[str, list[bool | None]]:
    outcomes: dict[str, list[bool | None]] = {}
    for unit, episode in played:
        outcomes.setdefault(unit.stack.task or "", []).append(episode.success)
    return outcomes


def _results(plan: Plan, lab: Lab, rows: list[Row], learners: Sequence[Learner]) -> JsonDict:
    return {
        "title": plan.title,
        "env": lab.bench.env,
        "policy": {"id": lab.policy.id, "options": lab.policy.options},
        "scale": asdict(lab.scale),
        "seed": lab.setup.seed,
        "published": plan.published,
        "note": plan.note,
        "rows": [_row_data(row, rows) for row in rows],
        "rounds": [
            {
                "arm": learner.arm.name,
                "round": lesson.batch,
                "task": lesson.sourced.stack.task,
                "weakness": lesson.sourced.weakness,
                "change": lesson.sourced.change,
                "components": [
                    type(component).__name__ for component in lesson.sourced.stack.components
                ],
                "solved": lesson.solved,
                "played": lesson.played,
                "skills": _taught(learner, lesson.sourced.stack.digest),
            }
            for learner in learners
            for lesson in learner.lessons
        ],
        "spend": [asdict(spend) for spend in lab.models.spend()],
        "problems": [problem for learner in learners for problem in learner.problems],
    }


def _taught(learner: Learner, digest: str) -> list[str]:
    """Titles of the skills, still in the bank, that the episodes in an env taught."""
    skills = learner.bank.freeze().skills
    return [skill.title for skill in skills if digest in skill.provenance.envs]


def _row_data(row: Row, rows: Sequence[Row]) -> JsonDict:
    """A row, and how it differs from the policy without skills and with those of the originals."""
    others = {
        each.arm: each
        for each in rows
        if each.compared == row.compared and each.batch in (0, row.batch) and each is not row
    }
    against = {
        name: difference(row.outcomes, other.outcomes)
        for name, other in others.items()
        if name.endswith((NONE.name, ORIGINAL.name))
    }
    return {
        **asdict(row),
        "score": asdict(score(row.outcomes)),
        "against": {name: asdict(diff) for name, diff in against.items() if diff is not None},
    }
