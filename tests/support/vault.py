"""A ladder that keeps secrets: in its options, its state, its schema and its verdict."""

from __future__ import annotations

from harness_core import EnvState, Verdict
from harness_core.values import JsonDict
from support.ladder import Ladder

GOLDEN, SCORED, TOKEN = "golden-answer-7f3a", "scored-by-91c2", "token-value-55de"


class Vault(Ladder):
    """Its state holds a reference solution, which `private_state` names."""

    private_state = frozenset({"golden"})

    def __init__(self, task: str | None = None, token: str = "") -> None:
        super().__init__(task)
        self._token = token

    def get_env_state(self) -> EnvState:
        state = super().get_env_state()
        return EnvState(state.task, state.steps, {**state.data, "golden": GOLDEN})

    def state_schema(self) -> JsonDict:
        golden = {"type": "string", "description": f"such as {GOLDEN}"}
        return {"type": "object", "properties": {"height": {"type": "integer"}, "golden": golden}}

    def evaluate(self) -> Verdict:
        verdict = super().evaluate()
        return Verdict(verdict.success, metrics={"by": SCORED})

    def save_state(self) -> JsonDict:
        return {**super().save_state(), "options": {"task": self._task, "token": self._token}}
