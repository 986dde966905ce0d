"""`RolloutPool`: runs many episodes at once, the same ones at any worker count."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self

from attrs import field, frozen

from harness_core.env import ActionableEnv
from harness_core.episode import Episode, Failure, run_episode
from harness_core.errors import EnvError, HarnessError, SpecError
from harness_core.policies import Policy, PolicySpec
from harness_core.registry import registry
from harness_core.rollout.remote import EnvProcess, Limits, RemoteEnv
from harness_core.serial import digest_of, to_data
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from harness_core.values import JsonDict, Observation, Task


def _policy(given: PolicySpec | str) -> PolicySpec:
    return PolicySpec(given) if isinstance(given, str) else given


@frozen
class Unit:
    """One episode to run. Everything that decides its course is in here.

    Args:
        stack: the env.
        policy: the agent; an id stands for a policy without options.
        seed: of both.
        max_steps: step budget.
    """

    stack: StackSpec
    policy: PolicySpec = field(converter=_policy)
    seed: int = 0
    max_steps: int = 50

    def to_dict(self) -> JsonDict:
        """The JSON form."""
        return {
            "stack": self.stack.to_dict(),
            "policy": to_data(self.policy),
            "seed": self.seed,
            "max_steps": self.max_steps,
        }

    @property
    def key(self) -> str:
        """Content hash: units with equal keys have equal episodes."""
        return digest_of(self.to_dict())


class RolloutPool:
    """Worker processes for envs; policies are called from the threads of this process.

    Args:
        workers: processes, and episodes at a time.
        limits: what takes longer is killed.
        retries: further tries of an episode that infrastructure ended.
        store: keeps every episode; units whose episode it has are not run again.
        build_policy: makes the policy of a unit; by default the registered one.
    """

    def __init__(
        self,
        workers: int = 1,
        *,
        limits: Limits | None = None,
        retries: int = 2,
        store: RunStore | None = None,
        build_policy: Callable[[PolicySpec], Policy] = PolicySpec.build,
    ) -> None:
        if workers < 1 or retries < 0:
            raise HarnessError(
                f"A pool has at least 1 worker and 0 retries; got {workers}, {retries}."
            )
        self._workers, self._retries = workers, retries
        self.store = store
        self._limits = limits or Limits()
        self._build_policy = build_policy
        self._idle: list[EnvProcess] = []
        self._busy: set[EnvProcess] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def run(self, units: Iterable[Unit]) -> list[Episode]:
        """The episodes of `units`, in order.

        Raises:
            HarnessError: what is the caller's to mend; what was finished is in the store.
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
        todo = deque(waiting.items())
        results: queue.Queue[tuple[str, Episode | BaseException]] = queue.Queue()
        try:
            for _ in range(min(self._workers, len(todo))):
                thread = threading.Thread(target=self._work, args=(todo, results), daemon=True)
                self._threads.append(thread)
                thread.start()
            for _ in range(len(waiting)):
                key, outcome = results.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                yield waiting[key], self._kept(key, waiting[key], outcome)
        finally:
            self._halt()

    def _halt(self) -> None:
        """Ends what is running now, and waits for it."""
        self._stopped.set()
        with self._lock:
            for process in self._busy:
                process.interrupt()
        while self._threads:
            thread = self._threads.pop()
            if thread.ident is not None:  # else the interruption came before it started
                thread.join()
        self._stopped.clear()

    def _kept(self, key: str, unit: Unit, episode: Episode) -> Episode:
        """`episode`, on disk; a failed one in its place if it holds what JSON cannot."""
        if self.store is None:
            return episode
        try:
            self.store.put_episode(key, unit.to_dict(), episode)
        except (SpecError, ValueError) as error:  # NaN, or text that is not Unicode
            episode = _failed(unit, EnvError(f"The episode cannot be kept: {error}"))
            self.store.put_episode(key, unit.to_dict(), episode)
        return episode

    def _work(
        self,
        todo: deque[tuple[str, Unit]],
        results: queue.Queue[tuple[str, Episode | BaseException]],
    ) -> None:
        while not self._stopped.is_set():
            try:
                key, unit = todo.popleft()
            except IndexError:
                return
            try:
                results.put((key, self._play(unit)))
            except BaseException as error:  # handed to the thread that waits for results
                results.put((key, error))
                return

    def _play(self, unit: Unit) -> Episode:
        hook = registry().manager.hook
        hook.harness_episode_started(spec=unit.stack, seed=unit.seed)
        for _ in range(self._retries + 1):
            episode = self._try(unit)
            failure = episode.failure
            if failure is None or failure.fault != "infrastructure" or self._stopped.is_set():
                break
        hook.harness_episode_finished(episode=episode)
        return episode

    def _try(self, unit: Unit) -> Episode:
        try:
            with self._process() as process:
                env = RemoteEnv(process, unit.stack, self._limits)
                episode = run_episode(
                    env,
                    self._build_policy(unit.policy),
                    max_steps=unit.max_steps,
                    seed=unit.seed,
                    max_seconds=self._limits.episode,
                )
                with contextlib.suppress(HarnessError):  # one that cannot close is not reused
                    env.close()
                return episode
        except HarnessError as error:
            if error.fault == "caller":
                raise
            return _failed(unit, error)

    @contextlib.contextmanager
    def _process(self) -> Iterator[EnvProcess]:
        with self._lock:
            if self._stopped.is_set():
                raise EnvError("The run was stopped.")
            process = self._idle.pop() if self._idle else EnvProcess()
            self._busy.add(process)
        try:
            yield process
        finally:
            with self._lock:
                self._busy.discard(process)
                if process.alive:
                    self._idle.append(process)
                else:
                    process.kill()

    def close(self) -> None:
        """Ends all worker processes, busy ones too. May be called twice."""
        self._halt()
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _failed(unit: Unit, error: HarnessError) -> Episode:
    task = Task(unit.stack.task or "")
    return Episode(task, unit.seed, Observation(), (), "failed", failure=Failure.of(error))
