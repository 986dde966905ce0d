"""The one event loop, in a thread of its own, that serves all model calls of a process.

Callers wait in as many threads as they like; the calls themselves cost a coroutine each.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from aiohttp import ClientSession

T = TypeVar("T")


class _Loop:
    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.http: ClientSession | None = None
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="harness-models", daemon=True
        )
        self._thread.start()
        atexit.register(self._end)

    def _end(self) -> None:
        """Closes the connections that are kept open, as their libraries want it."""
        if self.pid == os.getpid():
            asyncio.run_coroutine_threadsafe(self._close(), self.loop).result(timeout=10)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(timeout=10)

    async def _close(self) -> None:
        if self.http is not None:
            await self.http.close()
        if "litellm" in sys.modules:
            from litellm.llms.custom_httpx.async_client_cleanup import close_litellm_async_clients

            await close_litellm_async_clients()  # type: ignore[no-untyped-call]  # litellm's


_running: _Loop | None = None
_lock = threading.Lock()


def _loop() -> _Loop:
    global _running
    with _lock:
        if _running is None or _running.pid != os.getpid():  # a fork has no threads
            _running = _Loop()
        return _running


def start(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Runs a coroutine on the loop, from any thread."""
    return asyncio.run_coroutine_threadsafe(work, _loop().loop)


def http() -> ClientSession:
    """The connections of the loop; for its coroutines."""
    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    running = _loop()
    if running.http is None:
        running.http = ClientSession(connector=TCPConnector(limit=0), timeout=ClientTimeout())
    return running.http
