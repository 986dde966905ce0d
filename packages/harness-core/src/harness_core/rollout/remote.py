"""An env in a process of its own, which can be killed when it hangs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from socket import socketpair
from types import MappingProxyType
from typing import Any, NoReturn, get_args

from attrs import frozen

from harness_core import errors
from harness_core.env import ActionableEnv
from harness_core.episode import Episode
from harness_core.errors import EnvError, EnvTimeout, HarnessError, PolicyError, told
from harness_core.policies import PolicySpec
from harness_core.registry import registered_modules
from harness_core.rollout.doing import Doing, Limited
from harness_core.secrets import without_secrets
from harness_core.spec import StackSpec
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Transition,
    Verdict,
)

GLANCE = 0.2
"""Seconds between two looks at what a worker does; a limit is kept that exactly."""


@frozen
class Limits:
    """Wall-clock limits in seconds; what exceeds one is killed.

    Args:
        reset: for `reset`, engine start included.
        step: for `step` and every other call.
        evaluate: for the verifier.
        episode: for the whole episode, from reset to verdict.
    """

    reset: float = 300.0
    step: float = 120.0
    evaluate: float = 600.0
    episode: float = 3600.0

    def __attrs_post_init__(self) -> None:
        if not all(0 < each < 1e8 for each in (self.reset, self.step, self.evaluate, self.episode)):
            raise HarnessError(f"Limits are seconds above 0, and below 1e8; got {self}.")


class EnvProcess:
    """A worker process and the channel to it. Serves one env at a time, for one thread."""

    def __init__(self) -> None:
        self._tmp, self._lifeline = "", -1
        self._doing: Doing | None = None
        try:
            self._start()
        except OSError as error:
            self._free_files()
            raise EnvError(
                f"No worker process can be started: {error}. Free some space or memory, or run "
                "fewer workers."
            ) from error

    def _start(self) -> None:
        self._tmp = tempfile.mkdtemp(prefix="harness-worker-")
        ours, theirs = socketpair()
        listened, held = os.pipe()
        self._lifeline = held
        board, name = tempfile.mkstemp(prefix="harness-doing-")
        os.unlink(name)  # under a name, an env could cut it, which would kill this process
        try:
            self._doing = Doing(board)
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "harness_core.rollout.worker"),
                    *(str(theirs.fileno()), str(listened), str(board)),
                ],
                pass_fds=(theirs.fileno(), listened, board),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={
                    **without_secrets(os.environ),
                    "TMPDIR": self._tmp,
                    "PYTHONPATH": os.pathsep.join(sys.path),
                },
                start_new_session=True,  # Ctrl-C is the parent's to handle
            )
        finally:
            theirs.close()
            os.close(listened)
            os.close(board)
        self._connection: Connection[Any, Any] = Connection(ours.detach())
        with contextlib.suppress(OSError):  # a worker that died at once is noticed by `call`
            self._connection.send(registered_modules())

    @property
    def alive(self) -> bool:
        """Whether the process can take calls."""
        return not self._connection.closed and self._process.poll() is None

    def call(
        self,
        method: str,
        *arguments: Any,
        timeout: float,
        limits: Mapping[Limited, float] = MappingProxyType({}),
    ) -> Any:
        """The answer to one call.

        Args:
            method: of the env, or `build` or `play`.
            arguments: its arguments.
            timeout: seconds until there must be an answer.
            limits: seconds for each thing that the worker does meanwhile, the first of which is
                a reset.

        Raises:
            EnvTimeout: no answer within `timeout` seconds; the process is dead now.
            EnvError: the process died, or the env raised a plain exception.
            HarnessError: what the env raised.
        """
        began = time.monotonic()
        try:
            self._connection.send((method, arguments))
            if limits and self._doing is not None:
                self._watch(self._doing, began, timeout, limits)
            elif not self._connection.poll(max(0.0, timeout)):
                self._expired(method, timeout)
            kind, value = self._connection.recv()
        except (EOFError, OSError) as error:
            doing = self._doing.read()[0] if limits and self._doing is not None else method
            self.kill()
            code = self._process.returncode
            raise EnvError(f"The env's process died during {doing} (exit code {code}).") from error
        except HarnessError:
            raise
        except Exception as error:  # pickle runs foreign code, and raises anything
            self.kill()
            raise EnvError(
                f"What {method} was given or answered cannot cross to the env's process: "
                f"{told(error)}. Values that cross hold texts and JSON alone."
            ) from error
        if kind == "value":
            return value
        raise _rebuilt(*value)

    def _watch(
        self, board: Doing, began: float, timeout: float, limits: Mapping[Limited, float]
    ) -> None:
        """Returns when there is an answer, or the process died.

        Raises:
            EnvTimeout, PolicyError: a limit passed.
        """
        while True:
            doing, since = seen = board.read()
            start = max(since, began)  # what is older is of an earlier call
            until = min(start + limits[doing], began + timeout)
            if self._connection.poll(min(max(0.0, until - time.monotonic()), GLANCE)):
                return
            if time.monotonic() >= until and board.read() == seen:
                self._expired(doing, until - start)

    def _expired(self, doing: str, limit: float) -> NoReturn:
        self.kill()
        if doing == "episode":
            raise PolicyError(
                "The episode's limit passed while the policy was thinking. Raise the limit "
                "(Limits.episode), or make the policy faster."
            )
        raise EnvTimeout(
            f"{doing} did not return within {limit:.3g} s; its process was killed. "
            "Raise the limit if the env is merely slow."
        )

    def interrupt(self) -> None:
        """Ends the process and everything it started; the thread that uses it frees it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Ends the process and everything it started, at once. May be called twice."""
        self.interrupt()
        self._process.wait()
        self._free()

    def close(self) -> None:
        """Lets the process finish its own clean-up; kills it if it does not."""
        if self.alive:
            self._connection.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
        self.kill()

    def _free(self) -> None:
        self._connection.close()
        self._free_files()

    def _free_files(self) -> None:
        if self._doing is not None:
            self._doing.close()
            self._doing = None
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        shutil.rmtree(self._tmp, ignore_errors=True)


def _rebuilt(name: str, message: str, trace: str) -> HarnessError:
    """The error that a worker reported. Only the message crosses, so no constructor runs."""
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, HarnessError)):
        kind, message = EnvError, f"{name}: {message}"
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    vars(error)["trace"] = trace
    return error


class RemoteEnv(ActionableEnv):
    """The stack `spec`, built and run in `process`."""

    def __init__(self, process: EnvProcess, spec: StackSpec, limits: Limits) -> None:
        self._process, self._spec, self._limits = process, spec, limits
        self._deadline = time.monotonic() + limits.episode
        self._transition: Transition | None = None
        for name, value in self._call("build", spec.to_dict(), limit=limits.reset).items():
            setattr(self, name, value)

    def _call(self, method: str, *arguments: Any, limit: float | None = None) -> Any:
        limit = self._limits.step if limit is None else limit
        left = self._deadline - time.monotonic()
        return self._process.call(method, *arguments, timeout=min(limit, left))

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        self._deadline = time.monotonic() + self._limits.episode
        self._transition = None
        chosen = dict(options) if options is not None else None
        start: ResetResult = self._call("reset", seed, chosen, limit=self._limits.reset)
        return start

    def step(self, action: Action) -> StepResult:
        response: StepResult
        response, self._transition = self._call("step", action)
        return response

    def observe(self) -> Observation:
        seen: Observation = self._call("observe")
        return seen

    def evaluate(self) -> Verdict:
        verdict: Verdict = self._call("evaluate", limit=self._limits.evaluate)
        return verdict

    def get_env_state(self) -> EnvState:
        state: EnvState = self._call("get_env_state")
        return state

    def save_state(self) -> JsonDict:
        """Not the env's own state but a snapshot of the remote stack, for `restore`."""
        raise errors.SpecError("A remote env is rebuilt from its spec; snapshot the stack locally.")

    @classmethod
    def from_state(cls, state: JsonDict) -> ActionableEnv:
        raise errors.SpecError("A remote env is rebuilt from its spec; snapshot the stack locally.")

    def tools(self) -> tuple[Tool, ...]:
        tools: tuple[Tool, ...] = self._call("tools")
        return tools

    def state_schema(self) -> JsonDict:
        schema: JsonDict = self._call("state_schema")
        return schema

    def list_tasks(self) -> Sequence[Task]:
        tasks: Sequence[Task] = self._call("list_tasks")
        return tasks

    def last_transition(self) -> Transition | None:
        return self._transition

    def distance(self) -> float | None:
        distance: float | None = self._call("distance")
        return distance

    def step_signal(self) -> float:
        signal: float = self._call("step_signal")
        return signal

    def play(self, policy: PolicySpec, max_steps: int, seed: int) -> Episode:
        """A whole episode in the env's process, with the policy built there."""
        limits: dict[Limited, float] = {
            name: getattr(self._limits, name) for name in get_args(Limited)
        }
        episode: Episode = self._process.call(
            *("play", policy, max_steps, seed, limits["episode"]),
            timeout=self._limits.episode,
            limits=limits,
        )
        return episode

    def close(self) -> None:
        """Closes the env; its process stays for the next one."""
        if self._process.alive:
            self._call("close")
