"""One sandboxed contract at work: a worker process that lives for one episode."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from harness_core.errors import (
    ContractError,
    HarnessError,
    InfrastructureError,
    SandboxCrash,
    SandboxError,
    SandboxTimeout,
    SandboxViolation,
    WireError,
)
from harness_core.sandbox import wire
from harness_core.sandbox.limits import SandboxLimits
from harness_core.sandbox.nursery import nursery
from harness_core.sandbox.source import Source, check_source
from harness_core.values import Action, Blocked, EnvState, JsonDict, Observation, StepResult

State = Callable[[], EnvState]

LARGE = ("data", "info", "arguments")
"""Fields that cross only if the source names them, or when a hook reads them all the same."""

Readers = Mapping[str, Callable[[list[Any]], Any]]


class ContractSession:
    """Runs the hooks of generated code in a process of its own.

    The hooks get copies; nothing they do to them is seen outside. The state is asked for when a
    hook reads it, at most once a call. The first failure kills the worker: it is raised again by
    every later call. Threads take turns; a forked child must open sessions of its own.

    Args:
        source: what a designer wrote; text is checked first.
        helpers: trusted text of a module of pure functions that the contract may call.
        limits: what it may use.
        route: whether `env_state` has `segments` (from `data["segments"]`) and `switch_to`.

    Raises:
        SourceRejected: the text breaks the rules; the message says where and how to repair it.
        ContractError: the text raises while it is loaded.
        SandboxError: it was stopped while it was loaded.
        InfrastructureError: this machine cannot start a worker.
    """

    def __init__(
        self,
        source: Source | str,
        *,
        helpers: str = "",
        limits: SandboxLimits | None = None,
        route: bool = False,
    ) -> None:
        checked = check_source(source) if isinstance(source, str) else source
        self.hooks = checked.hooks
        self.switch: int | None = None
        self._limits = limits or SandboxLimits()
        self._named = frozenset(n for n in LARGE if n in checked.text or n in helpers)
        self._failure: Exception | None = None
        self._lock, self._host = threading.Lock(), os.getpid()
        self._worker = nursery().spawn(self._limits.memory_mb << 20, self._limits.cpu_seconds)
        self._worker.channel.settimeout(self._limits.call_seconds)
        setup = [checked.text, checked.class_name, sorted(checked.hooks), helpers, route]
        self._call(b"load", [wire.encode(setup)], {"ready": wire.read_nothing})

    def filter_action(self, action: Action, state: State) -> Action | Blocked:
        """f_A. `state` gives the env's state before the step."""
        readers: Readers = {
            "same": lambda row: wire.read_nothing(row, action),
            "action": lambda row: wire.read_action(row, action),
            "blocked": wire.read_blocked,
        }
        later = _Later(self._named, state)
        lines = later.action(action)
        allowed: Action | Blocked = self._call(b"before", lines, readers, later)
        return allowed

    def modify_transition(self, action: Action, response: StepResult, state: State) -> StepResult:
        """f_T alone. `state` gives the env's state after the step."""
        return self._transition(b"transition", action, response, state)

    def after(self, action: Action, response: StepResult, state: State) -> StepResult:
        """f_T, then f_O on its observation, in one round trip."""
        if "modify_transition" in self.hooks:
            return self._transition(b"after", action, response, state)
        shown = self.filter_observation(response.observation, state)
        return response if shown is response.observation else response.replace(observation=shown)

    def filter_observation(self, observation: Observation, state: State) -> Observation:
        """f_O alone. `state` gives the env's present state."""
        readers: Readers = {
            "same": lambda row: wire.read_nothing(row, observation),
            "observation": lambda row: wire.read_shown(row, observation),
        }
        later = _Later(self._named, state)
        lines = later.observation(observation)
        shown: Observation = self._call(b"show", lines, readers, later)
        return shown

    def save_extras(self) -> JsonDict:
        """The hooks' memory.

        Raises:
            WireError: a hook put something there that is no JSON.
        """
        extras: JsonDict = self._call(b"save", [], {"extras": wire.read_object})
        return extras

    def load_extras(self, extras: JsonDict) -> None:
        """Replaces the hooks' memory."""
        self._call(b"restore", [wire.encode(extras)], {"ready": wire.read_nothing})

    def close(self) -> None:
        """Ends the worker. May be called twice, and after a failure."""
        if self._failure is None:
            self._failure = HarnessError("This contract session is closed; open another.")
        self._worker.end()

    def _transition(
        self, call: bytes, action: Action, response: StepResult, state: State
    ) -> StepResult:
        self.switch = None
        later = _Later(self._named, state)
        lines = [
            *later.action(action),
            *later.observation(response.observation),
            *later.rest(response),
        ]
        readers: Readers = {
            "same": lambda row: wire.read_nothing(row, (response, None)),
            "step": lambda row: wire.read_step(row, response),
        }
        answer: StepResult
        answer, self.switch = self._call(call, lines, readers, later)
        return answer

    def _call(
        self, call: bytes, lines: list[bytes], readers: Readers, later: _Later | None = None
    ) -> Any:
        if os.getpid() != self._host:
            raise HarnessError(
                f"This contract session belongs to process {self._host}, from which this one was "
                "forked: open another session here."
            )
        with self._lock:
            return self._take_turn(call, lines, readers, later)

    def _take_turn(
        self, call: bytes, lines: list[bytes], readers: Readers, later: _Later | None
    ) -> Any:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
        try:
            answer = self._ask([call, *lines])
            while later is not None and len(answer) == 1 and answer[0] in later.fields:
                answer = self._ask([later.told(answer[0])])
            if answer[0] == "error":
                raise _told(*wire.read_error(answer[1:]))
            if answer[0] not in readers:
                raise WireError(f"The contract's process answered out of turn: {answer[0]!r:.100}")
            return readers[answer[0]](answer[1:])
        except BaseException as error:
            ended = SandboxCrash("The contract's session was interrupted; open another.")
            self._failure = error if isinstance(error, Exception) else ended
            self.close()
            raise

    def _ask(self, lines: list[bytes]) -> list[Any]:
        channel = self._worker.channel
        try:
            wire.send(channel, lines, self._limits.bytes_in)
            return wire.receive(channel, self._limits.bytes_out)
        except TimeoutError as error:
            raise SandboxTimeout(
                f"The contract used more than {self._limits.call_seconds:g} s for one call. Look "
                "for a loop without end or a regular expression that backtracks."
            ) from error
        except wire.HungUp as error:
            raise self._died(self._worker.end()) from error

    def _died(self, code: int | None) -> SandboxError | InfrastructureError:
        if code is None:
            return InfrastructureError(
                "The sandbox's warm process died, and the contract's process with it: it was "
                "killed from outside, or the machine ran out of memory. Run the episode again."
            )
        if code == -getattr(signal, "SIGSYS", 31):
            return SandboxViolation(
                "The contract made a system call that only an attack needs, and was killed."
            )
        if code == -getattr(signal, "SIGXCPU", 24):
            return SandboxTimeout(
                f"The contract used up its {self._limits.cpu_seconds} s of CPU time for an episode."
            )
        how = signal.strsignal(-code) if code < 0 else f"exit code {code}"
        return SandboxCrash(
            f"The contract's process died ({how}). It may have run out of its "
            f"{self._limits.memory_mb} MB of memory, or recursed too deeply."
        )


class _Later:
    """What a worker may still ask for during one call, each at most once."""

    __slots__ = ("fields", "named")

    def __init__(self, named: frozenset[str], state: State) -> None:
        self.named = named
        self.fields: dict[str, Any] = {"state": state}

    def action(self, action: Action) -> list[bytes]:
        return wire.action_lines(action, self._line("arguments", action.arguments))

    def observation(self, observation: Observation) -> list[bytes]:
        return wire.observation_lines(observation, self._line("data", observation.data))

    def rest(self, response: StepResult) -> list[bytes]:
        return wire.rest_lines(response, self._line("info", response.info))

    def told(self, name: str) -> bytes:
        value = self.fields.pop(name)
        if name == "state":
            facts = value()
            value = [facts.task, facts.steps, facts.data]
        return wire.encode(value)

    def _line(self, name: str, value: JsonDict) -> bytes:
        if not value or name in self.named:
            return wire.encode(value)
        self.fields[name] = value
        return b""


def _told(where: str, kind: str, message: str, line: int | None) -> HarnessError:
    if where == "extras":
        return WireError(f"env_state.extras must stay JSON: {message}.")
    place = f" (line {line} of the source)" if line else ""
    if kind:
        return ContractError(f"{where} raised {kind}: {message}{place}")
    return ContractError(f"{where} {message}{place}.")
