"""`ModelServer`: an OpenAI-compatible HTTP server on loopback whose model plays a script.

It is a real server, so a client's timeouts, retries, key pools and cut connections are tried on
the wire. On its own, in a process that outlives the client's:

    python -m harness_core.testing.model_server --script module:attribute --port 8000
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

from harness_core.closing import Closing
from harness_core.errors import HarnessError, told
from harness_core.policies import Usage
from harness_core.testing.model_script import (
    Say,
    Script,
    Seen,
    chat_reply,
    embedding,
    embedding_reply,
    error_body,
)
from harness_core.values import JsonDict

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["ModelServer", "Say", "Script", "Seen", "Served", "embedding"]

T = TypeVar("T")
_Handler = Callable[["web.Request"], Awaitable["web.StreamResponse"]]

MAX_BODY = 64 * 1024 * 1024
"""Bytes that a request may have."""


@frozen
class Served:
    """The replies of one model that were sent whole.

    Args:
        calls: how many.
        usage: the tokens of all.
    """

    calls: int = 0
    usage: Usage = field(factory=Usage)


class _Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class ModelServer(Closing):
    """Serves `/v1/chat/completions`, `/v1/embeddings` and `/v1/models` until it is closed.

    Embeddings are no part of the script: they come from the texts' character trigrams. What was
    asked and served may be read at any time; the counts also over HTTP, at `/counts`.

    Args:
        script: of the chat. A list is played once; what is asked after its end gets an error. A
            callable runs in the server's thread, one call at a time, so it may keep counts but
            should be quick.
        keys: API keys that are let in; none means that any is.
        models: what `/v1/models` lists. Other names are served as well.
        port: 0 picks a free one.

    Attributes:
        url: base URL, such as `http://127.0.0.1:40001/v1`.
        seen: the chat requests that were let in, in the order of their arrival.
        served: the replies that were sent whole, by model, embeddings included; errors, cut and
            raw bodies are none.
        aborted: how many clients went away before they had their reply.
        busiest: the largest number of requests that were open at once.

    Raises:
        HarnessError: the port is taken.
    """

    def __init__(
        self,
        script: Script,
        *,
        keys: Sequence[str] = (),
        models: Sequence[str] = ("scripted",),
        port: int = 0,
    ) -> None:
        self._script, self._keys, self._models = script, frozenset(keys), tuple(models)
        self.seen: list[Seen] = []
        self.served: dict[str, Served] = {}
        self.aborted = self.busiest = self._open = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            self._runner, self.url = self._run(self._listen(port))
        except OSError as error:
            self._end()
            raise HarnessError(f"Port {port} is not free: {error}. 0 picks a free one.") from error

    def close(self) -> None:
        """Stops the server; requests that are still open are cut."""
        if self._thread.is_alive():
            self._run(self._hang_up())
            self._end()

    def counts(self) -> JsonDict:
        """How many requests there were, what was served by model, and how many were aborted."""
        served = {
            model: {
                "calls": each.calls,
                "input_tokens": each.usage.input_tokens,
                "output_tokens": each.usage.output_tokens,
            }
            for model, each in list(self.served.items())
        }
        return {"seen": len(self.seen), "served": served, "aborted": self.aborted}

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _hang_up(self) -> None:
        await self._runner.cleanup()
        await asyncio.sleep(0)  # the loop closes the sockets in its next round

    async def _listen(self, port: int) -> tuple[web.AppRunner, str]:
        from aiohttp import web

        @web.middleware
        async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        app = web.Application(middlewares=[guard], client_max_size=MAX_BODY)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/embeddings", self._embeddings)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/counts", self._show_counts)
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
        return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Counts what is open and who left; turns a refusal into its answer."""
        from aiohttp import web

        self._open += 1
        self.busiest = max(self.busiest, self._open)
        try:
            return await handler(request)
        except _Refused as refusal:
            return web.json_response(
                error_body(str(refusal), refusal.status), status=refusal.status
            )
        except (asyncio.CancelledError, ConnectionError):
            self.aborted += 1
            raise
        finally:
            self._open -= 1

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        key, body = self._key(request), await _body(request)
        if body.get("stream"):
            raise _Refused("This server does not stream: ask with stream=false.")
        try:
            seen = Seen.of(len(self.seen), body, key)
        except (TypeError, AttributeError) as error:
            raise _Refused(f"This is no chat request: {error}.") from error
        self.seen.append(seen)
        say = self._say(seen)
        if say.delay:
            await asyncio.sleep(say.delay)
        if say.raw is not None:
            return await self._send(request, say, say.raw)
        if say.status != 200:
            return await self._send(request, say, json.dumps(error_body(say.text, say.status)))
        reply, usage = chat_reply(seen, say)
        return await self._send(request, say, json.dumps(reply), seen.model, usage)

    def _say(self, seen: Seen) -> Say:
        try:
            if callable(self._script):
                said = self._script(seen)
            elif seen.number < len(self._script):
                said = self._script[seen.number]
            else:
                raise _Refused(
                    f"The script is over: it holds {len(self._script)} replies, and this is "
                    f"request {seen.number + 1}."
                )
        except _Refused:
            raise
        except Exception as error:
            raise _Refused(f"The script raised {told(error)}") from error
        return Say(said) if isinstance(said, str) else said

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        self._key(request)
        body = await _body(request)
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise _Refused("The input of embeddings is a text or a list of texts.")
        model, form = str(body.get("model", "")), str(body.get("encoding_format") or "float")
        reply, usage = embedding_reply(model, texts, form, int(body.get("dimensions") or 256))
        return await self._send(request, Say(), json.dumps(reply), model, usage)

    async def _send(
        self, request: web.Request, say: Say, body: str, model: str = "", usage: Usage | None = None
    ) -> web.StreamResponse:
        """Sends the body, or its first half, and counts it if it is a whole reply."""
        from aiohttp import web

        data = body.encode()
        headers = {"Content-Type": "application/json", **say.headers}
        if say.truncate:
            headers["Content-Length"] = str(len(data))
            cut = web.StreamResponse(status=say.status, headers=headers)
            await cut.prepare(request)
            await cut.write(data[: len(data) // 2])
            if request.transport is not None:
                request.transport.close()
            return cut
        if request.transport is None or request.transport.is_closing():
            raise ConnectionResetError("The client went away.")
        if usage is not None:  # before the client can read it and ask for the counts
            before = self.served.get(model, Served())
            self.served[model] = Served(before.calls + 1, before.usage + usage)
        return web.Response(status=say.status, headers=headers, body=data)

    async def _list_models(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web

        self._key(request)
        data = [{"id": model, "object": "model", "owned_by": "script"} for model in self._models]
        return web.json_response({"object": "list", "data": data})

    async def _show_counts(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import web

        return web.json_response(self.counts())

    def _key(self, request: web.Request) -> str:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self._keys and key not in self._keys:
            raise _Refused("Incorrect API key provided.", status=401)
        return key


async def _body(request: web.Request) -> JsonDict:
    try:
        body = json.loads(await request.text())
    except ValueError as error:
        raise _Refused(f"The request is no JSON: {error}.") from error
    if not isinstance(body, dict):
        raise _Refused("The request is no JSON object.")
    return body


def main() -> None:
    """Serves the script that the command line names until it is interrupted."""
    import argparse
    import os
    import sys
    from importlib import import_module

    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that plays a script.")
    parser.add_argument("--script", required=True, help="module:attribute, a callable or a list")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    given = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    module, _, attribute = given.script.partition(":")
    try:
        script = getattr(import_module(module), attribute)
        server = ModelServer(script, port=given.port)
    except (ImportError, AttributeError, ValueError, OSError, HarnessError) as error:
        parser.error(f"cannot serve {given.script!r} at port {given.port}: {error}")
    with server, contextlib.suppress(KeyboardInterrupt):
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
