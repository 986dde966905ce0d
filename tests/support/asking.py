"""A policy that does what a model says, word by word; registers itself as `asking`."""

from __future__ import annotations

from collections.abc import Sequence

from harness_core import Action, Entry, Observation, Task, Tool, hookimpl
from harness_core.models import Message, ModelSession, Request, Role
from harness_core.policies import Decision


class Asking:
    """One question for each step.

    Args:
        models: makes the calls.
        model: in place of the role's.
        role: whose account the calls go on.
    """

    needs_model = True

    def __init__(
        self,
        models: ModelSession | None = None,
        model: str | None = None,
        role: Role = "policy",
    ) -> None:
        self._client = (models or ModelSession()).client(role, model)
        self._seed = self._step = 0

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._seed, self._step = seed, 0

    def act(self, observation: Observation) -> Decision:
        """The model's answer to the observation."""
        self._step += 1
        question = Message("user", f"Step {self._step}. {observation.text}")
        reply = self._client.chat(Request((question,)), self._seed)
        return Decision(Action(reply.text), reply.text, reply.usage)


@hookimpl
def harness_policies() -> list[Entry]:
    """The policy."""
    return [Entry("asking", "does what a model says", "support.asking:Asking")]
