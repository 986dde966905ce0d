"""One call, tried again and elsewhere until there is a reply or it makes no sense any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from harness_core.errors import (
    ContentFiltered,
    ContextTooLong,
    HarnessError,
    ModelError,
    ModelRefused,
    RateLimited,
)
from harness_core.models.endpoints import Lane, Lanes, ready
from harness_core.models.settings import ModelSettings
from harness_core.models.transport import EXTRA, Failed, Kind, Why, loaded, quiet_litellm, send
from harness_core.registry import import_extra
from harness_core.secrets import Scrubber
from harness_core.values import JsonDict

T = TypeVar("T")

ERRORS: dict[Why, tuple[type[HarnessError], str]] = {
    "down": (ModelError, "Check that it is up, or raise HARNESS_MODEL_TIMEOUT if it is slow."),
    "garbled": (ModelError, "Check what answers at this address."),
    "limited": (RateLimited, "Run fewer workers, or name further keys in HARNESS_ENDPOINTS."),
    "refused": (ModelRefused, "Check the model's name, its key, and what it supports."),
    "context": (ContextTooLong, "Shorten the conversation, or choose a model that reads more."),
    "filtered": (ContentFiltered, "Nothing helps but to ask something else."),
}
"""What a failure becomes, and what to do."""

LONGEST = 500
"""Characters of an endpoint's message that are told."""


class Caller:
    """Makes the calls of a session. For the coroutines of one event loop.

    Args:
        settings: endpoints and patience.
        environ: names its secrets.
    """

    def __init__(self, settings: ModelSettings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._lanes = Lanes(settings)
        self._waiting: set[asyncio.Task[Any]] = set()
        self._stopped = False
        self.scrub = Scrubber(environ, (each.key for each in settings.endpoints if each.key))

    async def call(
        self, kind: Kind, model: str, body: JsonDict, read: Callable[[JsonDict, float], T]
    ) -> T:
        """What `read` makes of the reply and its cost.

        Raises:
            ModelError: no endpoint gave a reply that `read` takes, in all tries.
            ModelRefused, ContextTooLong, ContentFiltered: what an endpoint says to the request.
        """
        task = asyncio.current_task()
        assert task is not None, "it runs in a loop"
        self._waiting.add(task)
        try:
            return await self._tried(kind, model, body, read, task)
        except Failed as failed:
            error = self._typed(failed, model)
        finally:
            self._waiting.discard(task)
        raise error  # out here it carries nothing of the failure that might hold a key

    async def _tried(
        self,
        kind: Kind,
        model: str,
        body: JsonDict,
        read: Callable[[JsonDict, float], T],
        task: asyncio.Task[Any],
    ) -> T:
        stamina = import_extra("stamina", EXTRA)
        stamina.instrumentation.set_on_retry_hooks([])  # it would log each retry
        settings, lanes = self._settings, self._lanes.of(model)
        if not all(lane.endpoint.direct for lane in lanes) and not loaded():
            await asyncio.to_thread(quiet_litellm)  # it takes seconds
        tries = stamina.retry_context(
            on=lambda error: self._pause(error, lanes),
            attempts=settings.attempts,
            timeout=settings.patience,
            wait_initial=settings.first_wait,
            wait_max=settings.longest_wait,
            wait_jitter=settings.first_wait,
        )
        async for attempt in tries:
            with attempt:
                lane = await self._taken(lanes)
                self._waiting.discard(task)
                try:
                    return await self._once(lane, kind, model, body, read)
                except Failed as failed:
                    failed.tries = attempt.num
                    raise
                finally:
                    self._lanes.give(lane)
                    self._waiting.add(task)
        raise AssertionError("a retry context ends with a value or an error")

    async def _taken(self, lanes: tuple[Lane, ...]) -> Lane:
        """The next free endpoint.

        Raises:
            Failed: all of them rest for longer than anybody waits.
        """
        left = min(lane.rest for lane in lanes)
        if left > self._settings.patience:
            told = f"every endpoint asked to be left alone for {left:.0f} s"
            raise Failed("limited", told, left)
        return await self._lanes.take(lanes)

    async def _once(
        self,
        lane: Lane,
        kind: Kind,
        model: str,
        body: JsonDict,
        read: Callable[[JsonDict, float], T],
    ) -> T:
        try:
            data, cost = await send(kind, model, lane.endpoint, body, self._settings.timeout)
        except Failed as failed:
            if failed.why in ("down", "limited"):
                lane.failed(failed.wait, self._settings)
            raise
        lane.succeeded()
        try:
            return read(data, cost)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise Failed("garbled", f"a reply of another form ({error!r})") from None

    def _pause(self, error: Exception, lanes: tuple[Lane, ...]) -> bool | float:
        """Whether to try again, and after how many seconds; `True` leaves that to stamina."""
        if not isinstance(error, Failed) or not error.passing or self._stopped:
            return False
        if error.why != "garbled" and ready(lanes):
            return 0.0  # another endpoint takes it over
        if error.wait is None:
            return True
        return error.wait if error.wait <= self._settings.patience else False

    def _typed(self, failed: Failed, model: str) -> HarnessError:
        kind, advice = ERRORS[failed.why]
        where = ", ".join(each.url for each in self._settings.serving(model) if each.url)
        told = " ".join(self.scrub(str(failed)).split())[:LONGEST]
        tried = f" in {failed.tries} tries" if failed.passing and failed.tries > 1 else ""
        at = f" at {self.scrub(where)}" if where else ""
        return kind(f"Model {model!r}{at} gave no answer{tried}: {told}. {advice}")

    async def stop(self) -> None:
        """Ends the calls that wait for their next try; those under way go on, untried again."""
        self._stopped = True
        for task in tuple(self._waiting):
            task.cancel()
