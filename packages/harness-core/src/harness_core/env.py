"""The contract: what every environment that an agent can act in implements."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from harness_core.closing import Closing
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Transition,
    Verdict,
)

if TYPE_CHECKING:
    from harness_core.spec import StackSpec


class ActionableEnv(Closing):
    """An environment: a world, the actions it accepts, and the verifier that judges it.

    A constructor takes `task: str | None = None` and keyword options that are JSON values. It
    is cheap: engines, containers and browsers start at the first `reset`. One instance runs one
    episode at a time; any number of instances may be interleaved in a process.
    """

    snapshots: Literal["live", "episode"] = "episode"
    """`"live"`: `save_state` captures the world itself. `"episode"`: it records the seed and the
    actions, and `from_state` restarts and replays them."""

    verifier_cost: Literal["free", "expensive"] = "free"
    """`"free"`: `evaluate` may be asked at every step. `"expensive"`: once, on the final state."""

    reversible_endings: bool = False
    """Whether the env can go on after it said `terminated` (a submission that is refused)."""

    private_state: frozenset[str] = frozenset()
    """The names in `get_env_state().data` that are kept from who reshapes the env, such as a
    reference solution, hidden tests, or what the verifier says: no prompt and no contract that is
    source text gets them."""

    origin: StackSpec | None = None
    """How `make` built this env; set by `make`, read by `spec_of`."""

    # -- the seven methods -------------------------------------------------------------------

    @abstractmethod
    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        """Starts an episode.

        Args:
            seed: all the randomness there is; the same seed gives the same episode. `None`
                means 0.
            options: `options["task"]` chooses another task for this and later episodes.

        Raises:
            UnknownTaskError: there is no such task.
        """

    @abstractmethod
    def step(self, action: Action) -> StepResult:
        """Executes one action.

        Raises:
            InvalidAction: `action` is outside the action space; the world is unchanged.
        """

    @abstractmethod
    def observe(self) -> Observation:
        """Reads the world as it is now. Costs no step and changes nothing."""

    @abstractmethod
    def evaluate(self) -> Verdict:
        """The benchmark's own verifier, on the world as it is now. Changes nothing."""

    @abstractmethod
    def get_env_state(self) -> EnvState:
        """The world as data: JSON all the way down, a fresh copy at every call."""

    @abstractmethod
    def save_state(self) -> JsonDict:
        """Everything that `from_state` needs to continue this episode, as JSON data."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: JsonDict) -> ActionableEnv:
        """The env that `save_state` described, at the same point of the same episode."""

    # -- optional ----------------------------------------------------------------------------

    def tools(self) -> tuple[Tool, ...]:
        """The action space as tools with JSON schemas."""
        return ()

    def state_schema(self) -> JsonDict:
        """JSON schema of `get_env_state().data`, for those who write hooks."""
        return {"type": "object"}

    def list_tasks(self) -> Sequence[Task]:
        """All tasks, in a stable order."""
        return ()

    def notify_replay_complete(self) -> None:
        """The steps so far prepared the episode; the agent does not pay for them."""

    def last_transition(self) -> Transition | None:
        """The base env's side of the last step; `None` where no layer rewrites any."""
        return None

    def step_signal(self) -> float:
        """A dense signal for the last step, if the env has one. Never decides success."""
        return 0.0

    def distance(self) -> float | None:
        """The fewest actions from here to a success, by an oracle; the agent never sees it.

        Returns:
            The number; infinite where success is out of reach; `None` where nobody knows.
        """
        return None

    def resume(self, state: JsonDict) -> bool:
        """Goes on, in place, from what `save_state` of an env with the same options wrote.

        Returns:
            Whether it does; an env that does not is unchanged, and `from_state` makes another.

        Raises:
            SpecError, EnvError: `state` is not of this env.
        """
        return False

    def close(self) -> None:
        """Frees everything the env holds. May be called twice, and after a failed start."""
