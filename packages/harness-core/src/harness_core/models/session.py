"""`ModelSession`: the model calls of a run, each paid once, counted by role, within a limit."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from typing import Any, TypeVar, cast

from attrs import evolve

from harness_core.closing import Closing
from harness_core.errors import HarnessError, ModelError
from harness_core.models.calling import Caller
from harness_core.models.client import ModelClient
from harness_core.models.loop import start
from harness_core.models.settings import ModelSettings
from harness_core.models.spend import Account, Spend, SpendLimit
from harness_core.models.values import Reply, Request, Role
from harness_core.models.wire import chat_body, reply_of, usage_of, vectors_of
from harness_core.policies import Policy, PolicySpec
from harness_core.registry import construct, load
from harness_core.serial import digest_of, from_data, to_data
from harness_core.store import Call, RunStore
from harness_core.values import JsonDict

T = TypeVar("T")

BATCH = 64
"""Texts that are embedded in one call."""

STOPPED = "The model call was given up, since the run was stopped. Run it again to go on."


class ModelSession(Closing):
    """Makes model calls for a run. Safe for threads.

    A reply is in the store before anybody sees it, so a run that is started again pays for
    nothing twice. Two who ask the same at the same time share one call.

    Args:
        store: keeps every reply; `None` keeps them in memory.
        settings: models and endpoints; by default those of the environment.
        limit: what all calls in the store may cost.
    """

    def __init__(
        self,
        store: RunStore | None = None,
        *,
        settings: ModelSettings | None = None,
        limit: SpendLimit | None = None,
    ) -> None:
        self.settings = ModelSettings.from_env(os.environ) if settings is None else settings
        self._own = RunStore(":memory:") if store is None else None
        self._store = store or cast(RunStore, self._own)
        self._limit = limit or SpendLimit()
        self._account = Account(
            Spend(role, calls, 0, read, written, cost)
            for role, calls, read, written, cost in self._store.spent()
        )
        self.kept: dict[Any, Any] = {}
        """What others want to keep for as long as the session lives."""
        self._cached: Counter[str] = Counter()
        self._caller = Caller(self.settings, os.environ)
        self._under_way: dict[str, Future[Any]] = {}
        self._waiters: dict[Future[Any], threading.Thread] = {}
        self._interrupted: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def client(self, role: Role, model: str | None = None) -> ModelClient:
        """What calls `model`, by default the one that the settings name for the role.

        Raises:
            HarnessError: no model is named for the role.
        """
        return ModelClient(self, role, model or self.settings.of(role))

    def spend(self) -> list[Spend]:
        """What the store's calls cost, by role; `cached` counts this session's alone."""
        with self._lock:
            rows = {each.role: each for each in self._account.rows()}
            for role, count in self._cached.items():
                rows[role] = rows.get(role, Spend(role)) + Spend(role, cached=count)
        return [rows[role] for role in sorted(rows)]

    def build(self, kind: str, id: str, options: JsonDict) -> Any:
        """Builds what is registered; a class that says `needs_model = True` gets `models=self`.

        Raises:
            SpecError: an option that it does not take.
        """
        given = {"models": self} if getattr(load(kind, id), "needs_model", False) else {}
        return construct(kind, id, {**options, **given})

    def build_policy(self, spec: PolicySpec) -> Policy:
        """Builds a policy; for `RolloutPool`."""
        policy: Policy = self.build("policy", spec.id, spec.options)
        return policy

    def resolved(self, spec: PolicySpec) -> PolicySpec:
        """`spec` with the option `model` filled in, so that a unit's key names what was run.

        A policy around another one says by `resolved_options(options, models)` what that means.
        """
        kind = load("policy", spec.id)
        if hasattr(kind, "resolved_options"):
            return evolve(spec, options=kind.resolved_options(spec.options, self))
        if not getattr(kind, "needs_model", False) or spec.options.get("model"):
            return spec
        model = self.settings.of(str(spec.options.get("role", "policy")))
        return evolve(spec, options={**spec.options, "model": model})

    def ask(self, role: str, model: str, request: Request, sample: int) -> Future[Reply]:
        """The reply to `request`, made or found. For `ModelClient`.

        Raises:
            SpendLimitReached: another call would pass the limit.
        """
        asked = to_data(request)
        key = digest_of({"kind": "chat", "model": model, "request": asked, "sample": sample})

        async def made() -> tuple[Reply, Call, None]:
            began = time.monotonic()
            reply = await self._caller.call(
                "chat",
                model,
                chat_body(request),
                lambda data, cost: reply_of(data, cost, self._caller.scrub),
            )
            seconds, body = time.monotonic() - began, {"request": asked, "reply": to_data(reply)}
            call = Call(key, role, model, sample, reply.usage, reply.cost, seconds, body)
            return reply, call, None

        return self._once(key, role, made, lambda body: from_data(body["reply"], Reply))

    def embed(self, role: str, model: str, texts: Sequence[str]) -> list[Future[None]]:
        """Starts what has to be paid so that `vectors` finds all texts. For `ModelClient`."""
        unknown = dict.fromkeys(
            text for text in texts if self._store.vector(_vector_key(model, text)) is None
        )
        if texts and not unknown:
            with self._lock:
                self._cached[role] += 1
        missing = list(unknown)
        return [
            self._embed(role, model, missing[first : first + BATCH])
            for first in range(0, len(missing), BATCH)
        ]

    def vectors(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts that were embedded. For `ModelClient`."""
        return [cast(list[float], self._store.vector(_vector_key(model, text))) for text in texts]

    def _embed(self, role: str, model: str, texts: list[str]) -> Future[None]:
        key = digest_of({"kind": "embed", "model": model, "texts": texts})

        async def made() -> tuple[None, Call, dict[str, list[float]]]:
            began = time.monotonic()
            vectors, usage, cost = await self._caller.call(
                "embed",
                model,
                {"input": texts},
                lambda data, cost: (vectors_of(data, len(texts)), usage_of(data), cost),
            )
            seconds = time.monotonic() - began
            call = Call(key, role, model, 0, usage, cost, seconds, {"texts": texts})
            keys = [_vector_key(model, text) for text in texts]
            return None, call, dict(zip(keys, vectors, strict=True))

        return self._once(key, role, made, lambda body: None)

    def _once(
        self,
        key: str,
        role: str,
        make: Callable[[], Coroutine[Any, Any, tuple[T, Call, Any]]],
        read: Callable[[JsonDict], T],
    ) -> Future[T]:
        """The answer under `key`: that of a call under way, a kept one, or one that is made."""
        with self._lock:
            if self._closed:
                raise HarnessError("This model session is closed: make another.")
            future: Future[T] | None = self._under_way.get(key)
            if future is not None:
                self._cached[role] += 1
                return future
            body = self._store.call(key)
            if body is None:
                self._limit.check(self._account.total(), len(self._under_way))
                future = self._under_way[key] = start(self._kept(key, make))
                return future
            self._cached[role] += 1
        future = Future()
        future.set_result(read(body))
        return future

    async def _kept(
        self, key: str, make: Callable[[], Coroutine[Any, Any, tuple[T, Call, Any]]]
    ) -> T:
        paid: Spend | None = None
        try:
            answer, call, vectors = await make()
            self._store.put_call(call, vectors)
            used = call.usage
            paid = Spend(call.role, 1, 0, used.input_tokens, used.output_tokens, call.cost)
            return answer
        finally:
            with self._lock:  # at once, or the limit would count it twice or not at all
                del self._under_way[key]
                if paid is not None:
                    self._account.add(paid)

    def waiter(self, future: Future[T]) -> Future[T]:
        """A future of the caller's own: giving it up leaves the call to the others.

        Raises:
            ModelError: the thread was interrupted.
        """
        thread, waiter = threading.current_thread(), Future[T]()
        with self._lock:
            if thread in self._interrupted:
                raise ModelError(STOPPED)
            self._waiters[waiter] = thread
        future.add_done_callback(lambda done: self._hand_over(done, waiter))
        return waiter

    def _hand_over(self, done: Future[T], waiter: Future[T]) -> None:
        with self._lock:
            self._waiters.pop(waiter, None)
        with contextlib.suppress(InvalidStateError):  # nobody waits any more
            try:
                waiter.set_result(done.result())
            except CancelledError:
                waiter.set_exception(ModelError(STOPPED))
            except BaseException as error:
                waiter.set_exception(error)

    def interrupt(self, threads: Iterable[threading.Thread]) -> None:
        """Ends what `threads` wait for, now and later, with a `ModelError`.

        Calls under way go on, and their replies are kept.
        """
        with self._lock:
            self._interrupted.update(threads)
            waiting = [
                waiter for waiter, thread in self._waiters.items() if thread in self._interrupted
            ]
        self._give_up(waiting)

    def _give_up(self, waiting: list[Future[Any]]) -> None:
        for waiter in waiting:
            with contextlib.suppress(InvalidStateError):
                waiter.set_exception(ModelError(STOPPED))

    def close(self) -> None:
        """Ends all waiting; keeps the replies that arrive within the settings' `grace`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            under_way, waiting = list(self._under_way.values()), list(self._waiters)
        self._give_up(waiting)
        if under_way:
            start(self._caller.stop()).result()
            try:
                wait(under_way, timeout=self.settings.grace)
            finally:
                for future in under_way:
                    future.cancel()
        if self._own is not None:
            self._own.close()


def _vector_key(model: str, text: str) -> str:
    return digest_of({"kind": "vector", "model": model, "text": text})
