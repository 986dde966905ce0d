"""`RolloutPool`: runs many episodes at once, the same ones at any worker count."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import field, frozen

from harness_core.closing import Closing
from harness_core.env import ActionableEnv
from harness_core.episode import Episode, Failure, run_episode
from harness_core.errors import EnvError, HarnessError, SpecError, told
from harness_core.policies import Policy, PolicySpec
from harness_core.registry import registry
from harness_core.rollout.remote import EnvProcess, Limits, RemoteEnv
from harness_core.serial import digest_of, to_data
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from harness_core.values import JsonDict, Observation, Task

if TYPE_CHECKING:
    from harness_core.models import ModelSession

SEEDS = range(-(2**63), 2**63)
"""What the store can hold."""


def _policy(given: PolicySpec | str) -> PolicySpec:
    return PolicySpec(given) if isinstance(given, str) else given


@frozen
class Unit:
    """One episode to run. Everything that decides its course is in here.

    Args:
        stack: the env.
        policy: the agent; an id stands for a policy without options.
        seed: of both; 64 bits with sign.
        max_steps: step budget.

    Raises:
        HarnessError: the seed is no such number.
    """

    stack: StackSpec
    policy: PolicySpec = field(converter=_policy)
    seed: int = 0
    max_steps: int = 50

    def __attrs_post_init__(self) -> None:
        if type(self.seed) is not int or self.seed not in SEEDS:
            raise HarnessError(f"A seed is an integer of 64 bits with sign, not {self.seed!r:.80}.")

    def to_dict(self) -> JsonDict:
        """The JSON form."""
        return {
            "stack": self.stack.to_dict(),
            "policy": to_data(self.policy),
            "seed": self.seed,
            "max_steps": self.max_steps,
        }

    @cached_property
    def key(self) -> str:
        """Content hash: units with equal keys have equal episodes."""
        return digest_of(self.to_dict())


class _Run:
    """The units of one stream, the threads that play them, and what they have to say."""

    def __init__(self, waiting: dict[str, Unit]) -> None:
        self.todo = deque(waiting.items())
        self.results: queue.Queue[tuple[str, Episode | BaseException]] = queue.Queue()
        self.threads: list[threading.Thread] = []
        self.stopped = threading.Event()

    def join(self) -> None:
        """Waits for all threads."""
        for thread in tuple(self.threads):
            if thread.ident is not None:  # else the interruption came before it started
                thread.join()


class RolloutPool(Closing):
    """Worker processes for envs; policies are called from the threads of this process.

    A policy whose class says `beside_env = True` is built and called in the env's process
    instead, so that an episode costs no message for every step.

    Args:
        workers: processes, and episodes at a time.
        limits: what takes longer is killed.
        retries: further tries of an episode that infrastructure ended.
        store: keeps every episode; units whose episode it has are not run again.
        build_policy: makes the policy of a unit, in this process; by default the registered one.
        models: builds the policies where `build_policy` is not given; not closed here.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        limits: Limits | None = None,
        retries: int = 2,
        store: RunStore | None = None,
        build_policy: Callable[[PolicySpec], Policy] | None = None,
        models: ModelSession | None = None,
    ) -> None:
        if workers < 1 or retries < 0:
            raise HarnessError(
                f"A pool has at least 1 worker and 0 retries; got {workers}, {retries}."
            )
        self._workers, self._retries = workers, retries
        self.store = store
        self._limits = limits or Limits()
        self._build_policy, self._models = build_policy, models
        self._idle: list[EnvProcess] = []
        self._busy: dict[EnvProcess, _Run | None] = {}
        self._runs: list[_Run] = []
        self._lock = threading.Lock()
        self._closed = False

    def run(self, units: Iterable[Unit]) -> list[Episode]:
        """The episodes of `units`, in order.

        Raises:
            HarnessError: what is the caller's to mend, or `close` was called meanwhile; what was
                finished is in the store.
        """
        wanted = list(units)
        done = {unit.key: episode for unit, episode in self.stream(wanted)}
        return [done[unit.key] for unit in wanted]

    def stream(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, Episode]]:
        """Each unit with its episode as soon as it is there; stored ones first."""
        waiting: dict[str, Unit] = {}
        finished = failed = 0
        for unit in units:
            key = unit.key
            known = self.store.episode(key) if self.store and key not in waiting else None
            if known is None:
                waiting.setdefault(key, unit)
            else:
                finished += 1
                failed += known.failure is not None
                yield unit, known
        for unit, episode in self._fresh(waiting):
            finished += 1
            failed += episode.failure is not None
            yield unit, episode
        registry().manager.hook.harness_run_finished(episodes=finished, failed=failed)

    @contextlib.contextmanager
    def borrow(self, stack: StackSpec) -> Iterator[ActionableEnv]:
        """`stack`, live in a worker, for as long as the `with` block lasts.

        Raises:
            HarnessError: the stack cannot be built.
        """
        with self._process() as process:
            env = RemoteEnv(process, stack, self._limits)
            yield env
            env.close()

    def _fresh(self, waiting: dict[str, Unit]) -> Iterator[tuple[Unit, Episode]]:
        run = _Run(waiting)
        with self._lock:
            if self._closed:
                raise HarnessError("This pool is closed: make another.")
            self._runs.append(run)
        try:
            for _ in range(min(self._workers, len(waiting))):
                thread = threading.Thread(target=self._work, args=(run,), daemon=True)
                run.threads.append(thread)
                thread.start()
            for _ in range(len(waiting)):
                key, outcome = run.results.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                yield waiting[key], self._kept(key, waiting[key], outcome)
        finally:
            self._halt(run)
            self._runs.remove(run)

    def _halt(self, run: _Run) -> None:
        """Ends what `run` is doing now, and waits for it."""
        run.stopped.set()
        with self._lock:
            for process, owner in self._busy.items():
                if owner is run:
                    process.interrupt()
        if self._models is not None:
            self._models.interrupt(run.threads)
        run.join()

    def _kept(self, key: str, unit: Unit, episode: Episode) -> Episode:
        """`episode`, on disk; a failed one in its place if it holds what JSON cannot."""
        if self.store is None:
            return episode
        try:
            self.store.put_episode(key, unit.to_dict(), episode)
        except SpecError as error:  # a store keeps only what can be read back
            episode = _failed(unit, EnvError(f"The episode cannot be kept: {error}"))
            self.store.put_episode(key, unit.to_dict(), episode)
        return episode

    def _work(self, run: _Run) -> None:
        while not run.stopped.is_set():
            try:
                key, unit = run.todo.popleft()
            except IndexError:
                return
            try:
                run.results.put((key, self._play(run, unit)))
            except BaseException as error:  # handed to the thread that waits for results
                run.results.put((key, error))
                return

    def _play(self, run: _Run, unit: Unit) -> Episode:
        hook = registry().manager.hook
        try:
            hook.harness_episode_started(spec=unit.stack, seed=unit.seed)
            for _ in range(self._retries + 1):
                episode = self._try(run, unit)
                failure = episode.failure
                if failure is None or failure.fault != "infrastructure" or run.stopped.is_set():
                    break
            hook.harness_episode_finished(episode=episode)
        except Exception as error:
            return _failed(unit, error)
        return episode

    def _try(self, run: _Run, unit: Unit) -> Episode:
        try:
            with self._process(run) as process:
                env = RemoteEnv(process, unit.stack, self._limits)
                episode = self._episode(env, unit)
                with contextlib.suppress(HarnessError):  # one that cannot close is not reused
                    env.close()
                return episode
        except Exception as error:
            return _failed(unit, error)

    def _episode(self, env: RemoteEnv, unit: Unit) -> Episode:
        if self._build_policy is None and unit.policy.beside_env:
            return env.play(unit.policy, unit.max_steps, unit.seed)
        return run_episode(
            env,
            self._policy(unit.policy),
            max_steps=unit.max_steps,
            seed=unit.seed,
            max_seconds=self._limits.episode,
        )

    def _policy(self, spec: PolicySpec) -> Policy:
        if self._build_policy is not None:
            return self._build_policy(spec)
        return spec.build() if self._models is None else self._models.build_policy(spec)

    @contextlib.contextmanager
    def _process(self, run: _Run | None = None) -> Iterator[EnvProcess]:
        with self._lock:
            if self._closed or (run is not None and run.stopped.is_set()):
                raise EnvError("The run was stopped, or its pool closed.")
            process = self._idle.pop() if self._idle else EnvProcess()
            self._busy[process] = run
        try:
            yield process
        finally:
            with self._lock:
                del self._busy[process]
                if process.alive and not self._closed:
                    self._idle.append(process)
                else:
                    process.kill()

    def close(self) -> None:
        """Ends all worker processes, busy ones too, and the streams that wait for them.

        May be called twice, and from any thread.
        """
        with self._lock:
            self._closed = True
            runs = tuple(self._runs)
            borrowed = [process for process, owner in self._busy.items() if owner is None]
            idle, self._idle = self._idle, []
        closed = "The pool was closed while it ran; what was finished is in the store."
        for run in runs:
            run.results.put(("", EnvError(closed)))
            self._halt(run)
        for process in borrowed:
            process.interrupt()
        for process in idle:
            process.close()


def _failed(unit: Unit, error: Exception) -> Episode:
    """The episode that `error` ended.

    Raises:
        HarnessError: `error`, where it is the caller's to mend.
    """
    if not isinstance(error, HarnessError):
        broken = EnvError(f"The episode could not be played: {told(error)}")
        broken.__cause__ = error
        error = broken
    if error.fault == "caller":
        raise error
    task = Task(unit.stack.task or "")
    return Episode(task, unit.seed, Observation(), (), "failed", failure=Failure.of(error))
