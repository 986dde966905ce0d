"""What a designer model is told about one task: nothing but what may leave the env.

That is the goal, the action space, the state without its private names, figures of the rollouts,
and what the agent saw and did. Rewards, scores, metrics and options of the env are not in it.
"""

from __future__ import annotations

import json
from collections import Counter
from math import isfinite

from harness_core.models.transcript import shorten, transcript
from harness_core.values import JsonDict, Tool
from harness_rigger.evidence import Evidence
from harness_rigger.strategy import Case, Diagnosis, Trial

MOST_ADMISSIBLE = 60


def situation(case: Case, tokens: int) -> str:
    """The task, the env, the figures and two rollouts.

    Args:
        case: what is known.
        tokens: of the rollouts and the state, together.
    """
    standing = case.objective.standing(case.baseline)
    parts = [
        f"Task: {case.goal}",
        f"Step budget of an episode: {case.max_steps}",
        f"Whether an ending may be taken back: {'yes' if case.reversible else 'no'}",
        _actions(case),
        _state(case, tokens // 4),
        f"Target: {case.objective.describe()}",
        f"The way there: {case.objective.direction(standing)}",
        f"The env as it is: {figures(case.baseline)}",
    ]
    if case.distance is not None and isfinite(case.distance):
        parts.append(f"The fewest actions that solve the task: {case.distance:g}")
    if case.path:
        path = ", ".join(map(str, case.path))
        parts.append(shorten(f"A known way to success, without detours: {path}", tokens // 8))
    parts.append(rollouts(case.baseline, tokens * 5 // 8))
    return "\n\n".join(parts)


def figures(evidence: Evidence) -> str:
    """Rate, steps and endings of some rollouts."""
    rate = evidence.rate
    told = [f"{rate.successes} of {rate.n} rollouts solved"]
    if evidence.solved:
        told.append(f"{evidence.mean_steps:.1f} steps when solved")
    endings = Counter(each.ending for each in evidence.counted if not each.success)
    told += [f"{count} failed with ending {ending!r}" for ending, count in endings.most_common()]
    if evidence.blocked_share:
        told.append(f"{evidence.blocked_share:.0%} of the actions blocked")
    return ", ".join(told)


def rollouts(evidence: Evidence, tokens: int) -> str:
    """A success and a failure, in full where there is room, with their numbers."""
    chosen = _chosen(evidence)
    told = []
    for number in chosen:
        episode = evidence.episodes[number]
        how = "solved" if episode.success else "not solved"
        told.append(f"Rollout {number + 1}, {how}:\n\n{transcript(episode, tokens // len(chosen))}")
    return "\n\n".join(told)


def _chosen(evidence: Evidence) -> list[int]:
    """The shortest success, and the failure that tells most: the longest."""
    lengths = [(len(each.steps), n, each) for n, each in enumerate(evidence.episodes)]
    solved = sorted(entry[:2] for entry in lengths if entry[2].success)
    failed = sorted(entry[:2] for entry in lengths if entry[2].success is False)
    return sorted(number for _, number in (*solved[:1], *failed[-1:]))


def _actions(case: Case) -> str:
    told = [f"- {_tool(tool)}" for tool in case.tools]
    lines = ["Actions:", *told] if told else ["Actions are plain texts."]
    admissible = case.start.data.get("admissible")
    if isinstance(admissible, list) and admissible:
        some = ", ".join(map(str, admissible[:MOST_ADMISSIBLE]))
        more = len(admissible) - MOST_ADMISSIBLE
        lines.append(f"Possible at the start: {some}{f', and {more} more' if more > 0 else ''}")
    return "\n".join(lines)


def _tool(tool: Tool) -> str:
    written = "plain text" if tool.text_argument else f"tool call {tool.name}"
    return f"{written}: {tool.description} {json.dumps(tool.parameters.get('properties', {}))}"


def _state(case: Case, tokens: int) -> str:
    data = {k: v for k, v in case.state.data.items() if k not in case.private}
    schema = {
        name: value
        for name, value in _object(case.schema.get("properties")).items()
        if name not in case.private
    }
    described = f"env_state.data, by JSON schema: {json.dumps(schema)}\n\n" if schema else ""
    now = json.dumps(data, ensure_ascii=False)
    return shorten(described, tokens // 2) + shorten(f"Its value at the start: {now}", tokens)


def _object(value: object) -> JsonDict:
    return value if isinstance(value, dict) else {}


def conclusion(diagnosis: Diagnosis) -> str:
    """A diagnosis, for the writer."""
    shown = "\n".join(f"- {each}" for each in diagnosis.evidence)
    return (
        f"Diagnosis: {diagnosis.weakness}\nShown by:\n{shown}\n"
        f"Make it {diagnosis.direction}. Write a candidate."
    )


def feedback(case: Case, number: int, tokens: int) -> str:
    """What became of a trial, and what follows from it.

    Args:
        case: with all trials.
        number: of the trial, from 0.
        tokens: of its rollouts; 0 leaves them out.
    """
    trial = case.trials[number]
    decision = trial.decision
    head = f"Candidate {number + 1}: {decision.reason}. {decision.message}"
    if not trial.evidence.episodes:
        return f"{head}\n\n{_repair(trial)}"
    told = [head, f"Its rollouts: {figures(trial.evidence)}.", _advice(case, number)]
    if tokens:
        told.append(rollouts(trial.evidence, tokens))
    return "\n\n".join(told)


def _repair(trial: Trial) -> str:
    if trial.decision.reason == "unchanged":
        return (
            "Nothing of it shows in what the agent does. No rollout was run. Perturb what the "
            "agent uses, and answer again."
        )
    if trial.decision.reason == "unsolvable":
        return (
            "So nobody could solve it within the step budget. No rollout was run. Take back or "
            "loosen what did it, and answer again."
        )
    return "No rollout was run. Repair exactly this, keep the rest, and answer again in whole."


def _advice(case: Case, number: int) -> str:
    trial = case.trials[number]
    reason = trial.decision.reason
    if reason == "unsolvable":
        return (
            "Nobody solved it. Take back or loosen the constraint that did it; adding to it never "
            "leads up to the target."
        )
    if reason == "unchanged":
        return "The agent met nothing of it. Perturb what it uses."
    if reason == "component-error":
        return "The component failed while the agent played. Repair exactly this, keep the rest."
    if reason == "borderline":
        return "It is in the target, but not clearly. Keep everything, and change a magnitude."
    wanted = "harder" if reason == "too-easy" else "easier"
    keep = (
        f"Keep the hooks that work to the letter, and make it {wanted} by changing magnitudes only."
    )
    before = case.objective.standing(case.baseline)
    if case.objective.direction(before) != case.objective.direction(trial.standing):
        return f"It went past the target, so the kind of change has an effect. {keep}"
    if case.objective.distance(trial.standing) < case.objective.distance(before):
        return f"It moved toward the target, so the kind of change is right. {keep}"
    return (
        f"It did not move toward the target. It must get {wanted}: start over with another kind "
        "of change."
    )
