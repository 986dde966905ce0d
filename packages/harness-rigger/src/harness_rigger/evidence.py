"""What a batch of rollouts shows."""

from __future__ import annotations

from statistics import fmean

from attrs import frozen

from harness_core.episode import Episode
from harness_core.rates import Rate, success_rate
from harness_core.values import JsonDict


@frozen
class Evidence:
    """Episodes of one policy in one stack.

    Args:
        episodes: in the order of their seeds.
        reachable: whether a success is known to be within reach: somebody solved it, or a plan
            exists; `None` where nobody knows.
        distance: fewest actions to a success from the start, where the env knows.
    """

    episodes: tuple[Episode, ...]
    reachable: bool | None = None
    distance: float | None = None

    @property
    def counted(self) -> tuple[Episode, ...]:
        """The episodes that say something about the policy."""
        return tuple(episode for episode in self.episodes if episode.success is not None)

    @property
    def solved(self) -> tuple[Episode, ...]:
        """The successful ones."""
        return tuple(episode for episode in self.episodes if episode.success)

    @property
    def rate(self) -> Rate:
        """Successes among the counted."""
        return success_rate(self.episodes)

    @property
    def mean_steps(self) -> float:
        """Mean steps of the successes; NaN if there is none."""
        steps = [len(episode.steps) for episode in self.solved]
        return fmean(steps) if steps else float("nan")

    @property
    def endings(self) -> set[str]:
        """The ways in which the episodes ended."""
        return {episode.ending for episode in self.episodes}

    @property
    def timeouts(self) -> int:
        """Episodes that used up their step budget."""
        return sum(episode.ending == "budget" for episode in self.episodes)

    @property
    def blocked_share(self) -> float:
        """Blocked actions among all actions, in [0, 1]."""
        steps = [step for episode in self.episodes for step in episode.steps]
        return sum(bool(step.blocked) for step in steps) / len(steps) if steps else 0.0

    @property
    def component_errors(self) -> tuple[str, ...]:
        """Messages of the failures that components caused."""
        failures = [episode.failure for episode in self.episodes]
        return tuple(f.message for f in failures if f is not None and f.fault == "component")

    @property
    def infrastructure_errors(self) -> int:
        """Episodes lost to infrastructure."""
        failures = [episode.failure for episode in self.episodes]
        return sum(f is not None and f.fault == "infrastructure" for f in failures)

    def touched(self) -> bool:
        """Whether any layer blocked an action or rewrote an answer in any step."""
        steps = [step for episode in self.episodes for step in episode.steps]
        return any(step.blocked or step.raw is not None for step in steps)

    def summary(self) -> JsonDict:
        """The figures as JSON data."""
        solved = bool(self.solved)
        return {
            "n": self.rate.n,
            "successes": self.rate.successes,
            "interval": list(self.rate.interval()),
            "mean_steps": self.mean_steps if solved else None,
            "timeouts": self.timeouts,
            "blocked_share": self.blocked_share,
            "component_errors": len(self.component_errors),
            "infrastructure_errors": self.infrastructure_errors,
            "reachable": self.reachable,
        }
