"""Wall 2, the process: one warm parent per Python process, which forks a worker per session."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

from harness_core.errors import InfrastructureError

START_SECONDS = 20.0


class Worker:
    """A forked worker, and this side's end of its channel."""

    def __init__(
        self, pid: int, channel: socket.socket, nursery: Nursery, control: socket.socket
    ) -> None:
        self.pid, self.channel = pid, channel
        self._nursery, self._control = nursery, control
        self._ended = False
        self._code: int | None = None

    def end(self) -> int | None:
        """Kills the worker, unless it is dead already; may be called twice.

        Returns:
            How it died: its exit code, or minus the signal; `None` if it died with its parent.
        """
        if not self._ended:
            self._ended = True
            self.channel.close()
            self._code = self._nursery.end(self.pid, self._control)
        return self._code

    def __del__(self) -> None:
        if not self._ended:
            self.channel.close()
            self._nursery.drop(self.pid, self._control)


class Nursery:
    """The warm parent of this process's workers; started by the first `spawn`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._host = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._dropped: deque[tuple[int, socket.socket]] = deque()

    def spawn(self, memory: int, cpu_seconds: int) -> Worker:
        """Forks a worker; starts the parent again if it died.

        Raises:
            InfrastructureError: no worker can be started on this machine.
        """
        with self._lock:
            self._bury_dropped()
            try:
                return self._fork(self._control or self._start(), memory, cpu_seconds)
            except (OSError, ValueError):
                self._stop()
            return self._fork(self._start(), memory, cpu_seconds)

    def end(self, pid: int, control: socket.socket) -> int | None:
        """Kills and buries a worker of the parent behind `control`.

        Returns:
            How it died; `None` if the parent is gone, and the worker with it.
        """
        if self._host != os.getpid():
            return None
        with self._lock:
            self._bury_dropped()
            return self._bury(pid, control)

    def drop(self, pid: int, control: socket.socket) -> None:
        """Buries a worker that nobody ended: now, or with the next one.

        The garbage collector calls this at any point of any thread, so it waits for no lock.
        """
        self._dropped.append((pid, control))
        if self._host == os.getpid() and self._lock.acquire(blocking=False):
            try:
                self._bury_dropped()
            finally:
                self._lock.release()

    def _bury_dropped(self) -> None:
        while self._dropped:
            self._bury(*self._dropped.popleft())

    def _bury(self, pid: int, control: socket.socket) -> int | None:
        if control is not self._control:
            return None
        try:
            control.sendall(json.dumps(["end", pid]).encode())
            return int(json.loads(control.recv(4096)))
        except (OSError, ValueError):
            self._stop()
            return None

    def close(self) -> None:
        """Ends the parent and all its workers."""
        with self._lock:
            self._stop()

    def abandon(self) -> None:
        """In a forked child: lets go of the parent, which belongs to another process."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # nothing that this process could wait for

    def _start(self) -> socket.socket:
        if not hasattr(os, "fork"):
            raise InfrastructureError(
                "The sandbox needs a system that can fork. On Windows, run inside WSL."
            )
        ours, theirs = socket.socketpair()
        with theirs:
            # Not -I, which would ignore the hash seed: sets of str must have one order everywhere.
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-s", "-S", "-P"),
                    str(Path(__file__).with_name("parent.py")),
                    *(str(theirs.fileno()), str(self._host)),
                ],
                env={"PYTHONHASHSEED": "0"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the host alone
            )
        self._control = ours
        ours.settimeout(START_SECONDS)
        try:
            if ours.recv(1):
                return ours
        except OSError:
            pass
        self._stop()
        raise InfrastructureError(
            f"The sandbox's warm process did not start. See what this says: "
            f"env -i {sys.executable} -s -S -P {Path(__file__).with_name('kernel.py')}"
        )

    def _fork(self, control: socket.socket, memory: int, cpu_seconds: int) -> Worker:
        control.sendall(json.dumps(["spawn", memory, cpu_seconds]).encode())
        flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        answer, descriptors, _, _ = socket.recv_fds(control, 4096, 1, flags)
        pid = json.loads(answer)
        if not descriptors:
            raise InfrastructureError(
                f"The sandbox could not fork a worker: {pid}. Look at `ulimit -a` and at the free "
                "memory, or run fewer workers."
            )
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptors[0])
        channel.set_inheritable(False)
        return Worker(pid, channel, self, control)

    def _stop(self) -> None:
        control, self._control = self._control, None
        process, self._process = self._process, None
        if control is not None:
            control.close()
        if process is not None:
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


_nursery = Nursery()


def nursery() -> Nursery:
    """The nursery of this process."""
    return _nursery


def _after_fork() -> None:
    global _nursery
    _nursery.abandon()
    _nursery = Nursery()


atexit.register(lambda: _nursery.close())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
