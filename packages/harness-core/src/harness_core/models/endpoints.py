"""Who takes the next call: the least busy endpoint among the healthy ones."""

from __future__ import annotations

import asyncio
import contextlib

from harness_core.models.settings import Endpoint, ModelSettings

LOOK = 1.0
"""Seconds between looks for a free endpoint, should a signal get lost with a cancelled call."""


class Lane:
    """One endpoint at work.

    After a failure it rests, and takes fewer calls at a time; one more after each success.

    Args:
        endpoint: where its calls go.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.busy = 0
        self.allowed = endpoint.concurrency
        self.rests_until = 0.0
        self._told_to_rest = False
        self._failures = 0

    @property
    def rest(self) -> float:
        """Seconds that it still rests."""
        return max(0.0, self.rests_until - _now())

    def free(self, now: float) -> bool:
        """Whether it can take a call."""
        return self.busy < self.allowed and self.rests_until <= now

    def succeeded(self) -> None:
        """An answer came, so the endpoint is alive; a rest that it asked for still holds."""
        self._failures = 0
        self.allowed = min(self.endpoint.concurrency, self.allowed + 1)
        if not self._told_to_rest:
            self.rests_until = 0.0

    def failed(self, told: float | None, settings: ModelSettings) -> None:
        """It asked for a pause, or gave no answer.

        Args:
            told: seconds that it asked for.
            settings: how long it rests where it asked for nothing.
        """
        doubled = settings.first_wait * 2 ** min(self._failures, 20)
        self._failures += 1
        self._told_to_rest = told is not None
        rest = min(doubled, settings.longest_wait) if told is None else told
        self.rests_until = max(self.rests_until, _now() + rest)
        self.allowed = max(1, self.busy // 2)


class Lanes:
    """All endpoints of a session. For the coroutines of one event loop.

    Args:
        settings: names the endpoints.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._lanes: dict[tuple[Endpoint, str], Lane] = {}
        self._waiting: list[tuple[tuple[Lane, ...], asyncio.Future[None]]] = []

    def of(self, model: str) -> tuple[Lane, ...]:
        """Where `model` is served. An endpoint's lane is the same for all its models."""
        endpoints = self._settings.serving(model)
        if not endpoints:
            endpoints = (Endpoint(concurrency=self._settings.concurrency),)
        provider = model.partition("/")[0]
        found = []
        for endpoint in endpoints:
            key = endpoint, "" if endpoint.url else provider
            found.append(self._lanes.setdefault(key, Lane(endpoint)))
        return tuple(found)

    async def take(self, lanes: tuple[Lane, ...]) -> Lane:
        """The least busy of `lanes` that is free, as soon as one is. `give` it back."""
        while True:
            now = _now()
            free = [lane for lane in lanes if lane.free(now)]
            if free:
                lane = min(free, key=lambda lane: lane.busy / lane.endpoint.concurrency)
                lane.busy += 1
                return lane
            rests = [lane.rests_until - now for lane in lanes if lane.rests_until > now]
            await self._signal(lanes, min([LOOK, *rests]))

    async def _signal(self, lanes: tuple[Lane, ...], seconds: float) -> None:
        entry = lanes, asyncio.get_running_loop().create_future()
        self._waiting.append(entry)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await entry[1]
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(entry)

    def give(self, lane: Lane) -> None:
        """Ends a call on `lane`, and wakes who waits for it."""
        lane.busy -= 1
        woken = [entry for entry in self._waiting if lane in entry[0]][:2]  # it may allow one more
        for entry in woken:
            self._waiting.remove(entry)
            if not entry[1].done():
                entry[1].set_result(None)


def ready(lanes: tuple[Lane, ...]) -> bool:
    """Whether one of `lanes` could take a call now."""
    return any(lane.free(_now()) for lane in lanes)


def _now() -> float:
    return asyncio.get_running_loop().time()
