"""`ModelClient`: one model in one role."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness_core.errors import ContentFiltered
from harness_core.models.values import Reply, Request, Role

if TYPE_CHECKING:
    from harness_core.models.session import ModelSession


class ModelClient:
    """Asks one model, in one role. Made by `ModelSession.client`; safe for threads.

    Every method raises:

    - `ModelError`: no endpoint answered, in all tries;
    - `ModelRefused`: the request itself is wrong;
    - `ContextTooLong`, `ContentFiltered`: the model will not answer this request;
    - `SpendLimitReached`: another call would pass the limit.

    Args:
        session: makes the calls.
        role: whose account they go on.
        model: in litellm's form.
    """

    def __init__(self, session: ModelSession, role: Role, model: str) -> None:
        self._session = session
        self.role, self.model = role, model

    def chat(self, request: Request, sample: int = 0) -> Reply:
        """The model's answer.

        Args:
            request: what is asked.
            sample: another number gets another answer; the same one gets the same, for free.
        """
        asked = self._session.ask(self.role, self.model, request, sample)
        return _whole(self._session.waiter(asked).result())

    async def achat(self, request: Request, sample: int = 0) -> Reply:
        """`chat`, for coroutines of any event loop."""
        asked = self._session.ask(self.role, self.model, request, sample)
        return _whole(await asyncio.wrap_future(self._session.waiter(asked)))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector for each text, by the embedding model that goes with this one."""
        model = self._session.settings.embedding_of(self.model)
        for made in self._session.embed(self.role, model, texts):
            self._session.waiter(made).result()
        return self._session.vectors(model, texts)

    async def aembed(self, texts: Sequence[str]) -> list[list[float]]:
        """`embed`, for coroutines of any event loop."""
        model = self._session.settings.embedding_of(self.model)
        for made in self._session.embed(self.role, model, texts):
            await asyncio.wrap_future(self._session.waiter(made))
        return self._session.vectors(model, texts)


def _whole(reply: Reply) -> Reply:
    if reply.finish == "content_filter":
        raise ContentFiltered(
            "The endpoint's content filter stopped the answer. Nothing helps but to ask something "
            f"else. What came before: {reply.text!r:.200}"
        )
    return reply
