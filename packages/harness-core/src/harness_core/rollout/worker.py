"""The env's side of a rollout: a process that builds envs and answers calls on them.

Started by `EnvProcess` as `python -m harness_core.rollout.worker FD LIFELINE BOARD`. Its messages
are pickled: both ends are this package.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from harness_core.env import ActionableEnv
from harness_core.errors import HarnessError, message_of, told
from harness_core.registry import register
from harness_core.rollout.doing import Doing
from harness_core.spec import StackSpec


def main(channel: int, lifeline: int, board: int) -> None:
    """Answers calls until the other end closes the channel."""
    connection: Connection[Any, Any] = Connection(channel)
    tmp = os.environ["TMPDIR"]
    threading.Thread(target=_die_with_parent, args=(lifeline, tmp), daemon=True).start()
    served = _Served(Doing(board))
    os.close(board)
    try:
        for module in connection.recv():
            register(module)
        while True:
            method, arguments = connection.recv()
            connection.send_bytes(_answer(served, method, arguments))
    except (EOFError, ConnectionError):
        pass
    finally:
        with contextlib.suppress(BaseException):  # nobody is left who could be told
            served.close()
        shutil.rmtree(tmp, ignore_errors=True)
    atexit._run_exitfuncs()
    os._exit(0)  # a plain exit would wait for the threads that an env left running


def _die_with_parent(lifeline: int, tmp: str) -> None:
    os.read(lifeline, 1)  # returns when the parent is gone, however it went
    shutil.rmtree(tmp, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)  # this process leads the group of whatever the env started


def _answer(served: _Served, method: str, arguments: tuple[Any, ...]) -> bytes:
    """The pickled answer; whatever an env raises or returns, there is one."""
    failure: tuple[str, str, str]
    try:
        value = getattr(served, method)(*arguments)
        return _pickled("value", value)
    except HarnessError as error:
        failure = type(error).__name__, message_of(error), traceback.format_exc()
    except BaseException as error:  # SystemExit too: the env's end is not the process's
        failure = "EnvError", f"{method} raised {told(error)}", traceback.format_exc()
    return _pickled("error", failure)


def _pickled(kind: str, value: object) -> bytes:
    return bytes(ForkingPickler.dumps((kind, value)))


class _Served:
    """The calls that a worker answers; `build` first, the rest on the env it built."""

    def __init__(self, doing: Doing) -> None:
        self._doing = doing
        self._env: ActionableEnv | None = None

    def build(self, stack: dict[str, Any]) -> dict[str, Any]:
        self.close()
        env = self._env = StackSpec.from_dict(stack).build()
        return {
            "snapshots": env.snapshots,
            "verifier_cost": env.verifier_cost,
            "reversible_endings": env.reversible_endings,
            "private_state": env.private_state,
        }

    def step(self, action: Any) -> tuple[Any, Any]:
        env = self.env
        return env.step(action), env.last_transition()

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> Any:
        return self.env.reset(seed=seed, options=options)

    def play(self, policy: Any, max_steps: int, seed: int, max_seconds: float) -> Any:
        """A whole episode, here; before every call of the env it notes which."""
        from harness_core.episode import run_episode
        from harness_core.rollout.watched import WatchedEnv, WatchedPolicy

        self._doing.begin("reset")
        env = WatchedEnv(self.env, self._doing.begin)
        return run_episode(
            env,
            WatchedPolicy(policy.build()),
            max_steps=max_steps,
            seed=seed,
            max_seconds=max_seconds,
        )

    @property
    def env(self) -> ActionableEnv:
        assert self._env is not None, "build comes first"
        return self._env

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            env.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
