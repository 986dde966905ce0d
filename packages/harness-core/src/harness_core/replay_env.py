"""`ReplayEnv`: the shortest way to a bridge. It keeps the books; a subclass is the world."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, ClassVar, Self

from attrs import frozen

from harness_core.env import ActionableEnv
from harness_core.errors import HarnessError, InvalidAction, SpecError, UnknownTaskError
from harness_core.registry import id_of
from harness_core.serial import from_data
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Verdict,
)


@frozen
class SavedEpisode:
    """What `save_state` writes."""

    task: str
    options: JsonDict
    seed: int
    actions: tuple[tuple[str, str, JsonDict], ...]
    free: int


class ReplayEnv(ActionableEnv):
    """An env that is saved as its seed and actions, and restored by replaying them.

    A subclass gives `tasks` and the five methods below. The world must follow from task, seed
    and actions alone. Options of the constructor, if any, are keyword arguments with defaults,
    passed on to this one.

    Args:
        task: id of the task; `None` means the first.
        options: keyword arguments that `from_state` gives to the constructor again.
    """

    tasks: ClassVar[Mapping[str, str]]
    """Id -> what the agent is told to achieve."""

    snapshots = "episode"

    def __init__(self, task: str | None = None, **options: Any) -> None:
        self._task = self._known(next(iter(self.tasks)) if task is None else task)
        self._options = options
        self._seed: int | None = None
        self._actions: list[Action] = []
        self._free = 0

    @abstractmethod
    def begin(self, task: str, seed: int) -> None:
        """Makes the world anew. All randomness comes from `seed`."""

    @abstractmethod
    def act(self, action: Action) -> bool:
        """Executes an action and says whether the episode ended.

        Raises:
            InvalidAction: the action is outside the action space; the world is unchanged.
        """

    @abstractmethod
    def show(self) -> Observation:
        """What the agent sees of the world now."""

    @abstractmethod
    def solved(self) -> bool:
        """The verifier: whether the world is as the task wants it."""

    @abstractmethod
    def facts(self) -> JsonDict:
        """The world as JSON data: states that the verifier tells apart differ."""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        if options and "task" in options:
            self._task = self._known(options["task"])
        self._seed, self._actions, self._free = seed or 0, [], 0
        self.begin(self._task, self._seed)
        return ResetResult(self._shown(), Task(self._task, self.tasks[self._task]))

    def step(self, action: Action) -> StepResult:
        self._check_running()
        action = Action.of(action)
        kept = deepcopy(action)
        ended = self.act(deepcopy(action))
        self._actions.append(kept)
        return StepResult(self._shown(), terminated=ended)

    def observe(self) -> Observation:
        self._check_running()
        return self._shown()

    def evaluate(self) -> Verdict:
        self._check_running()
        return Verdict(self.solved())

    def get_env_state(self) -> EnvState:
        self._check_running()
        return EnvState(self._task, len(self._actions) - self._free, deepcopy(self.facts()))

    def list_tasks(self) -> Sequence[Task]:
        return [Task(id, goal) for id, goal in self.tasks.items()]

    def notify_replay_complete(self) -> None:
        self._free = len(self._actions)

    def save_state(self) -> JsonDict:
        self._check_running()
        actions = [[each.text, each.tool, each.arguments] for each in self._actions]
        state = {
            "task": self._task,
            "options": self._options,
            "seed": self._seed,
            "actions": actions,
            "free": self._free,
        }
        return deepcopy(state)

    @classmethod
    def from_state(cls, state: JsonDict) -> Self:
        """Starts the episode again and replays its actions.

        Raises:
            SpecError: `state` was not written by `save_state`.
        """
        try:
            saved = from_data(state, SavedEpisode)
            if not 0 <= saved.free <= len(saved.actions):
                raise SpecError(f"{saved.free} of {len(saved.actions)} actions cannot be free.")
            env = cls(saved.task, **deepcopy(saved.options))
            env.reset(seed=saved.seed)
            for parts in saved.actions:
                env.step(Action(*parts))
        except (SpecError, TypeError, InvalidAction) as error:
            raise SpecError(f"This is no saved {cls.__name__}: {error}") from error
        env._free = saved.free
        return env

    def _shown(self) -> Observation:
        return deepcopy(self.show())  # what is done to an observation is not done to the world

    def _known(self, task: Any) -> str:
        if not isinstance(task, str) or task not in self.tasks:
            name = type(self).__name__
            with suppress(SpecError):
                name = id_of("env", type(self))
            raise UnknownTaskError(str(task), self.tasks, name)
        return task

    def _check_running(self) -> None:
        if self._seed is None:
            raise HarnessError("No episode is running: call reset() first.")
