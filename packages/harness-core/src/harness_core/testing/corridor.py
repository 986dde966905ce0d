"""`CorridorEnv`: the smallest env that keeps every promise of the contract."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from harness_core.env import ActionableEnv
from harness_core.errors import HarnessError, InvalidAction, UnknownTaskError
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Verdict,
)

WORDS = ("left", "right", "stop", "switch")
TASKS = {f"length-{length}": length for length in range(2, 7)}


class CorridorEnv(ActionableEnv):
    """A dark corridor: solved while standing in its last cell with the lamp on.

    The seed places the agent anywhere but in the last cell. Walking into a wall changes nothing.
    Solving it or saying `stop` ends the episode.

    Args:
        task: `"length-2"` to `"length-6"`; `None` means the first.
        slip: probability, from the seed, that a walk does not move.
        limit: steps after which the env gives up; 0 for none.
        replay: snapshots by seed and actions (`"episode"`) instead of by the world (`"live"`).
    """

    def __init__(
        self, task: str | None = None, *, slip: float = 0.0, limit: int = 0, replay: bool = False
    ) -> None:
        self._task = _known("length-2" if task is None else task)
        self._slip, self._limit = slip, limit
        self.snapshots = "episode" if replay else "live"
        self._running = False
        self._seed = 0
        self._history: list[Action] = []
        self._free = 0
        self._position, self._lamp, self._stopped = 0, False, False

    @property
    def _length(self) -> int:
        return TASKS[self._task]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        if options and "task" in options:
            self._task = _known(options["task"])
        self._seed = seed or 0
        self._history, self._free = [], 0
        self._position = random.Random(self._seed).randrange(self._length - 1)
        self._lamp = self._stopped = False
        self._running = True
        return ResetResult(self.observe(), _task(self._task))

    def step(self, action: Action) -> StepResult:
        self._check_running()
        word = _word(action)
        if self._over:
            raise InvalidAction("The episode is over: call reset().")
        if word == "switch":
            self._lamp = not self._lamp
        elif word == "stop":
            self._stopped = True
        elif not self._slips():
            target = self._position + (1 if word == "right" else -1)
            self._position = min(max(target, 0), self._length - 1)
        self._history.append(deepcopy(action))
        return StepResult(
            self.observe(),
            terminated=self._stopped or self.evaluate().success,
            truncated=bool(self._limit) and len(self._history) >= self._limit,
            info={"clock": len(self._history)},
        )

    def observe(self) -> Observation:
        self._check_running()
        lamp = "on" if self._lamp else "off"
        text = f"Cell {self._position + 1} of {self._length}. The lamp is {lamp}."
        return Observation(text, {"position": self._position, "admissible": list(WORDS)})

    def evaluate(self) -> Verdict:
        self._check_running()
        share = self._position / (self._length - 1)
        success = share == 1 and self._lamp
        return Verdict(success, 1.0 if success else share / 2, {"position": self._position})

    def get_env_state(self) -> EnvState:
        self._check_running()
        data = {"position": self._position, "lamp": self._lamp, "stopped": self._stopped}
        return EnvState(self._task, len(self._history) - self._free, data)

    def save_state(self) -> JsonDict:
        self._check_running()
        saved: JsonDict = {
            "task": self._task,
            "options": {
                "slip": self._slip,
                "limit": self._limit,
                "replay": self.snapshots == "episode",
            },
            "seed": self._seed,
            "actions": [[a.text, a.tool, dict(a.arguments)] for a in self._history],
            "free": self._free,
        }
        if self.snapshots == "live":
            saved["world"] = [self._position, self._lamp, self._stopped]
        return saved

    @classmethod
    def from_state(cls, state: JsonDict) -> CorridorEnv:
        env = cls(state["task"], **state["options"])
        env.reset(seed=state["seed"])
        if not env.resume(state):
            for parts in state["actions"]:
                env.step(Action(*parts))
            env._free = state["free"]
        return env

    def resume(self, state: JsonDict) -> bool:
        if "world" not in state:
            return False
        self._task, self._seed, self._free = state["task"], state["seed"], state["free"]
        self._position, self._lamp, self._stopped = state["world"]
        self._history = [Action(*parts) for parts in state["actions"]]
        self._running = True
        return True

    def tools(self) -> tuple[Tool, ...]:
        way = {"type": "string", "enum": ["left", "right"]}
        return (
            Tool(
                "walk",
                "Walks one cell.",
                {"type": "object", "properties": {"way": way}, "required": ["way"]},
            ),
            Tool("switch", "Turns the lamp on or off."),
            Tool("stop", "Ends the episode."),
        )

    def state_schema(self) -> JsonDict:
        return {
            "type": "object",
            "properties": {
                "position": {"type": "integer"},
                "lamp": {"type": "boolean"},
                "stopped": {"type": "boolean"},
            },
            "required": ["position", "lamp", "stopped"],
        }

    def list_tasks(self) -> Sequence[Task]:
        return [_task(id) for id in TASKS]

    def notify_replay_complete(self) -> None:
        self._free = len(self._history)

    def step_signal(self) -> float:
        """The share of the way walked."""
        return self._position / (self._length - 1)

    @property
    def _over(self) -> bool:
        spent = bool(self._limit) and len(self._history) >= self._limit
        return self._stopped or spent or self.evaluate().success

    def _slips(self) -> bool:
        luck = random.Random(f"{self._seed}:{len(self._history)}").random() if self._slip else 1.0
        return luck < self._slip

    def _check_running(self) -> None:
        if not self._running:
            raise HarnessError("No episode is running: call reset() first.")


def _known(task: object) -> str:
    if not isinstance(task, str) or task not in TASKS:
        raise UnknownTaskError(str(task), TASKS, "corridor")
    return task


def _task(id: str) -> Task:
    return Task(id, f"Light the last of {TASKS[id]} cells.", family="corridor")


def _word(action: Action) -> str:
    """The text form of an action in either form."""
    if not action.tool and action.text in WORDS:
        return action.text
    if action.tool in ("switch", "stop") and not action.arguments:
        return action.tool
    if action.tool == "walk" and action.arguments in ({"way": "left"}, {"way": "right"}):
        return str(action.arguments["way"])
    raise InvalidAction(
        f"{str(action)!r} is no action here. Write one of {', '.join(WORDS)}, or call "
        'walk(way), switch() or stop(), with way "left" or "right".'
    )
