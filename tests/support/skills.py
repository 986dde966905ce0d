"""Skills and episodes made by hand."""

from __future__ import annotations

from harness_core.episode import Episode, Step
from harness_core.values import Action, Observation, Task, Verdict
from harness_skills.item import Provenance, Skill


def skill(title: str, content: str = "", category: str = "strategy", *tasks: str) -> Skill:
    """A skill about `title`, learned from `tasks`."""
    return Skill(
        title, f"When {title} matters.", content or f"Do {title}.", category, Provenance(tasks)
    )


def episode(
    task: str, success: bool | None, *actions: str, goal: str = "Climb the ladder."
) -> Episode:
    """An episode with the given actions; `None` for one that infrastructure ended."""
    steps = tuple(
        Step(Action(action), Observation(f"You did {action}."), Action(action))
        for action in actions
    )
    verdict = None if success is None else Verdict(success)
    return Episode(Task(task, goal, "low"), 0, Observation("A ladder."), steps, "budget", verdict)
