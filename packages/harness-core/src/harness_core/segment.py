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
        self.ended = False
        self._verdict: Verdict | None = None

    def end(self) -> None:
        """Its own episode is over: asks the verifier."""
        self.ended = True
        self.evaluate()

    def evaluate(self) -> Verdict:
        """The verdict, asked once, and fixed from then on; a failure if the segment never ended."""
        if not self.ended:
            return Verdict(False, metrics={"ended": False})
        if self._verdict is None:
            self._verdict = self.env.evaluate()
        return self._verdict

    def summary(self) -> JsonDict:
        """What a route may know."""
        return {"ended": self.ended, "success": self.evaluate().success if self.ended else None}
