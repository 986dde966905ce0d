"""The skill writer: a model that is asked again where its answer cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from harness_core.errors import HarnessError, PolicyError
from harness_core.models.answers import Unusable
from harness_core.values import JsonDict

if TYPE_CHECKING:
    from harness_core.models import ModelSession

T = TypeVar("T")


class Writer:
    """Asks a model in the role `"writer"`.

    Args:
        models: makes the calls; by default a session of the environment's settings.
        model: by default the one that the session names for the role.
        temperature: of the answers.
        max_tokens: of an answer; `None` leaves it to the endpoint.
        attempts: answers that are asked for until one can be used.
    """

    def __init__(
        self,
        models: ModelSession | None = None,
        *,
        model: str | None = None,
        temperature: float = 1.0,
        max_tokens: int | None = None,
        attempts: int = 3,
    ) -> None:
        if attempts < 1:
            raise HarnessError(f"A writer is asked at least once, not {attempts} times.")
        if models is None:
            from harness_core.models import ModelSession

            models = ModelSession()
        self.models, self.model = models, model
        self._temperature, self._max_tokens = temperature, max_tokens
        self._attempts = attempts

    def ask(
        self, system: str, user: str, schema: JsonDict, read: Callable[[str], T], sample: int = 0
    ) -> T:
        """What `read` makes of the first answer that it can use; the model is told why not.

        Args:
            system: the instruction.
            user: the question.
            schema: JSON schema of the answer, for endpoints that keep to one.
            read: raises `Unusable` where it cannot read an answer.
            sample: another number gets other answers.

        Raises:
            PolicyError: no answer could be used.
            HarnessError: as `ModelClient.chat` raises.
        """
        from harness_core.models import Message, Request

        client = self.models.client("writer", self.model)
        question = (Message("system", system), Message("user", user))
        messages: tuple[Message, ...] = question
        why = ""
        for _ in range(self._attempts):
            request = Request(messages, (), schema, self._temperature, self._max_tokens)
            reply = client.chat(request, sample)
            try:
                return read(reply.text)
            except Unusable as error:
                cut = " The answer was cut: write less." if reply.finish == "length" else ""
                why = f"{error}{cut}"
            again = f"This cannot be used. {why} Answer again, with the whole JSON object."
            messages = (
                *question,
                Message("assistant", reply.text or "(nothing)"),
                Message("user", again),
            )
        raise PolicyError(
            f"The skill writer gave no usable answer in {self._attempts} tries. The last: {why}"
        )
