"""`Segment`: one part of a chained episode."""

from __future__ import annotations

from typing import final

from harness_core.env import ActionableEnv
from harness_core.values import JsonDict, Verdict


@final
class Segment:
    """One env of a chain, and what became of it."""

    def __init__(self, env: ActionableEnv, started: bool = False) -> None:
        self.env = env
        self.started = started
        self.verdict: Verdict | None = None

    @property
    def ended(self) -> bool:
        """Whether its own episode is over; its verdict is then fixed."""
        return self.verdict is not None

    def end(self) -> None:
        """Asks the verifier, once."""
        if self.verdict is None:
            self.verdict = self.env.evaluate()

    def evaluate(self) -> Verdict:
        """The verdict; a failure if the segment never ended."""
        return self.verdict or Verdict(False, metrics={"ended": False})

    def summary(self) -> JsonDict:
        """What a route may know."""
        return {"ended": self.ended, "success": self.verdict.success if self.verdict else None}
