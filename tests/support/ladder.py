"""A small seeded env: climb to the top of a ladder. Its options make it slow or faulty."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness_core import (
    Action,
    ActionableEnv,
    EnvState,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Verdict,
)
from harness_core.errors import InvalidAction, UnknownTaskError
from harness_core.values import JsonDict

TASKS = {
    f"rung-{rungs}": Task(
        f"rung-{rungs}", f"Climb {rungs} rungs.", "low" if rungs < 4 else "high", "seen"
    )
    for rungs in range(1, 7)
}


class Ladder(ActionableEnv):
    """`up` slips now and then, as the seed says; `down` never does.

    Args:
        task: `"rung-1"` to `"rung-6"`.
        pause: seconds that a step takes.
        trouble: what goes wrong at the second step: `"raise"`, `"die"`, `"hang"` or `"nan"`.
    """

    snapshots = "live"

    def __init__(self, task: str | None = None, pause: float = 0.0, trouble: str = "") -> None:
        self._pause, self._trouble = pause, trouble
        self._choose(task or "rung-1")
        self._height = self._steps = 0
        self._random = random.Random(0)

    def _choose(self, task: str) -> None:
        if task not in TASKS:
            raise UnknownTaskError(task, TASKS, "ladder")
        self._task = task

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        self._choose((options or {}).get("task", self._task))
        self._height = self._steps = 0
        self._random = random.Random(seed or 0)
        return ResetResult(self.observe(), TASKS[self._task])

    def step(self, action: Action) -> StepResult:
        if action.text not in ("up", "down"):
            raise InvalidAction(f"There is no {str(action)!r}: only up and down.")
        time.sleep(self._pause)
        self._steps += 1
        if self._steps == 2:
            self._go_wrong()
        climbs = 1 if self._random.random() > 0.3 else 0
        self._height = max(0, self._height + (climbs if action.text == "up" else -1))
        return StepResult(self.observe(), terminated=self._height == self._top)

    def _go_wrong(self) -> None:
        if self._trouble == "raise":
            raise RuntimeError("the ladder broke")
        if self._trouble == "die":
            os._exit(7)
        if self._trouble == "hang":
            time.sleep(3600)
        if self._trouble == "litter":
            for file in (
                *Path(tempfile.gettempdir()).iterdir(),
                Path(tempfile.gettempdir(), "doing"),
            ):
                file.write_bytes(b"")
            time.sleep(0.5)  # long enough for a look at what is going on

    @property
    def _top(self) -> int:
        return int(self._task.removeprefix("rung-"))

    def observe(self) -> Observation:
        height = float("nan") if self._trouble == "nan" and self._steps > 1 else self._height
        return Observation(
            f"You are on rung {self._height} of {self._top}.",
            {"admissible": ["up", "down"], "height": height},
        )

    def evaluate(self) -> Verdict:
        return Verdict(self._height == self._top, metrics={"height": self._height})

    def get_env_state(self) -> EnvState:
        return EnvState(self._task, self._steps, {"height": self._height})

    def save_state(self) -> JsonDict:
        version, internal, gauss = self._random.getstate()
        return {
            "options": {"task": self._task, "pause": self._pause, "trouble": self._trouble},
            "height": self._height,
            "steps": self._steps,
            "random": [version, list(internal), gauss],
        }

    @classmethod
    def from_state(cls, state: JsonDict) -> Ladder:
        env = cls(**state["options"])
        env._height, env._steps = state["height"], state["steps"]
        version, internal, gauss = state["random"]
        env._random.setstate((version, tuple(internal), gauss))
        return env

    def list_tasks(self) -> Sequence[Task]:
        return tuple(TASKS.values())
