"""The warm parent: an empty Python process that forks one worker per session.

Run as a script with the number of its control socket and the process id of its host. A request
is one JSON list, `["spawn", memory, cpu_seconds]` or `["end", pid]`; so is the answer: the pid,
beside one end of the worker's channel, or the exit status; a text says why not. Standard library
only.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness_core.sandbox import kernel, worker
else:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import kernel
    import worker

# A text codec that is first named in a hook could not be loaded any more.
PRELOADED = ("ascii", "latin-1", "utf-16", "utf-32", "unicode-escape", "idna", "punycode")


def _empty_directory() -> None:
    """Works in a directory that has no name any more: nothing to read, nowhere to write."""
    path = tempfile.mkdtemp()
    os.chdir(path)
    os.rmdir(path)


def _watch_host(host: int) -> list[int]:
    """A descriptor that becomes readable when the host dies, where the kernel has such."""
    with suppress(AttributeError, OSError):
        return [os.pidfd_open(host)]
    return []


def _become_worker(channel: int, parent: int, memory: int, cpu_seconds: int) -> None:
    try:
        kernel.die_with_parent(parent)
        os.dup2(channel, worker.CHANNEL)
        os.closerange(worker.CHANNEL + 1, 256)
        sealed = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, worker.CHANNEL)
        kernel.seal_worker(memory, cpu_seconds)
        worker.serve(sealed)
    finally:
        os._exit(1)


class Parent:
    """Forks, ends and buries workers for one host."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._living: set[int] = set()
        self._pid = os.getpid()

    def serve(self, watched: list[int]) -> None:
        """Answers requests until the host closes the control socket or dies."""
        poll = select.poll()
        for descriptor in (self._control.fileno(), *watched):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if not set(ready).isdisjoint(watched):
                return
            request = self._control.recv(4096)
            if not request:
                return
            call, *numbers = json.loads(request)
            if call == "spawn":
                self._spawn(*numbers)
            else:
                self._end(*numbers)

    def close(self) -> None:
        """Ends all workers."""
        for pid in sorted(self._living):
            self._bury(pid)

    def _spawn(self, memory: int, cpu_seconds: int) -> None:
        theirs, ours = socket.socketpair()
        with theirs, ours:
            try:
                pid = os.fork()
            except OSError as error:
                self._control.sendall(json.dumps(str(error)).encode())
                return
            if pid == 0:
                _become_worker(ours.fileno(), self._pid, memory, cpu_seconds)
            self._living.add(pid)
            socket.send_fds(self._control, [json.dumps(pid).encode()], [theirs.fileno()])

    def _end(self, pid: int) -> None:
        self._control.sendall(json.dumps(self._bury(pid)).encode())

    def _bury(self, pid: int) -> int:
        """Kills a worker, unless it is dead, and tells how it died."""
        if pid not in self._living:
            return 0
        self._living.remove(pid)
        found, status = os.waitpid(pid, os.WNOHANG)
        if not found:
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Seals the process, says that it is ready, and serves."""
    control = socket.socket(fileno=int(sys.argv[1]))
    watched = _watch_host(int(sys.argv[2]))
    for codec in PRELOADED:
        "".encode(codec)
    import unicodedata  # noqa: F401 - a "\N{...}" in a source needs it

    _empty_directory()
    kernel.seal_parent()
    os.environ.clear()
    sys.argv.clear()
    sys.path.clear()
    gc.collect()
    gc.freeze()
    parent = Parent(control)
    control.sendall(b"0")
    try:
        parent.serve(watched)
    finally:
        parent.close()


if __name__ == "__main__":
    main()
