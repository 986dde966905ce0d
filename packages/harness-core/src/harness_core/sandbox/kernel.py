"""Wall 3, the operating system: what a worker may ask of the kernel.

Resource limits everywhere; on Linux seccomp, Landlock, namespaces and a powerless user besides,
as far as the kernel grants them. A wall that cannot be raised is left out; `walls()` tells which.
Standard library only: the workers' parent loads this file without the package around it.

Sources: seccomp(2), landlock(7), namespaces(7), capset(2); kernel headers for the numbers.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import signal
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import NamedTuple

with suppress(ImportError):  # Windows has none
    import resource

LINUX = sys.platform == "linux"
NOBODY = 65534

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_CLONE_NEWUTS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 1 << 26, 1 << 27, 1 << 28, 1 << 30

# What CPython needs to compute, collect garbage, use the channel and die.
_ALLOWED = [
    "read",
    "write",
    "recvfrom",
    "sendto",
    "futex",
    "brk",
    "munmap",
    "mremap",
    "madvise",
    "clock_gettime",
    "gettimeofday",
    "getrandom",
    "getpid",
    "gettid",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sched_yield",
    "restart_syscall",
    "close",
    "exit",
    "exit_group",
]
# Allowed unless the memory is to be executable.
_DATA_ONLY = ("mmap", "mprotect")
# Nothing but an attack calls these; everything else fails with EPERM.
_DEADLY = [
    "fork",
    "vfork",
    "clone",
    "clone3",
    "execve",
    "execveat",
    "socket",
    "connect",
    "bind",
    "sendmsg",
    "kill",
    "tkill",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_open",
    "pidfd_getfd",
    "pidfd_send_signal",
    "unshare",
    "setns",
    "mount",
    "bpf",
    "io_uring_setup",
]

_SINCE_2011 = {
    "pidfd_send_signal": 424,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "clone3": 435,
    "pidfd_getfd": 438,
    "landlock_create_ruleset": 444,
    "landlock_restrict_self": 446,
}
_NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
        "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28,
        "getpid": 39, "socket": 41, "connect": 42, "sendto": 44, "recvfrom": 45, "sendmsg": 46,
        "bind": 49, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "exit": 60, "kill": 62,
        "gettimeofday": 96,
        "ptrace": 101, "capset": 126, "mount": 165, "gettid": 186, "futex": 202,
        "restart_syscall": 219, "clock_gettime": 228, "exit_group": 231, "unshare": 272,
        "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "getrandom": 318,
        "bpf": 321, "execveat": 322,
    },
    "aarch64": {
        "mount": 40, "close": 57, "read": 63, "write": 64, "capset": 91, "exit": 93,
        "exit_group": 94, "unshare": 97, "futex": 98, "clock_gettime": 113, "ptrace": 117,
        "sched_yield": 124, "restart_syscall": 128, "kill": 129,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "gettimeofday": 169, "getpid": 172,
        "gettid": 178, "socket": 198, "bind": 200, "connect": 203, "sendto": 206,
        "recvfrom": 207, "sendmsg": 211, "brk": 214, "munmap": 215, "mremap": 216,
        "clone": 220, "execve": 221, "mmap": 222, "mprotect": 226,
        "madvise": 233, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
        "getrandom": 278, "bpf": 280, "execveat": 281,
    },
}  # fmt: skip
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


class Wall(NamedTuple):
    """One of the operating system's walls, as measured on this machine."""

    name: str
    active: bool
    detail: str


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, *arguments: int) -> None:
    _checked(_libc().prctl(option, *map(ctypes.c_ulong, (*arguments, 0, 0, 0, 0)[:4])))


def _number(call: str) -> int:
    table = _NUMBERS.get(platform.machine())
    if not LINUX or table is None:
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}")
    return table[call] if call in table else _SINCE_2011[call]


def _syscall(call: str, *arguments: int | ctypes.c_void_p | bytes | None) -> int:
    given = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc().syscall(ctypes.c_long(_number(call)), *given))


def limit_resources(memory: int, cpu_seconds: int) -> None:
    """No new files or processes, no cores; bytes of address space and seconds of CPU."""
    wanted = {
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_FSIZE": (0, 0),
        "RLIMIT_NPROC": (0, 0),
        "RLIMIT_NOFILE": (0, 0),
        "RLIMIT_CPU": (cpu_seconds, cpu_seconds + 1),
        "RLIMIT_AS": (memory, memory),
    }
    for name, values in wanted.items():
        # macOS lacks some and refuses others.
        with suppress(AttributeError, OSError, ValueError):
            resource.setrlimit(getattr(resource, name), values)


def no_new_privileges() -> None:
    """No program can give this process more rights than it has."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def become_nobody() -> None:
    """Leaves root, where the process has it."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def drop_capabilities() -> None:
    """Gives away what root in a namespace of its own could still do."""
    _syscall("capset", struct.pack("=Ii", 0x20080522, 0), bytes(24))


def leave_namespaces() -> None:
    """A network, a System V IPC and a host name of its own: none that anyone else uses."""
    own_user = 0 if os.geteuid() == 0 else _CLONE_NEWUSER
    _checked(
        _libc().unshare(ctypes.c_int(own_user | _CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWUTS))
    )


def landlock_abi() -> int:
    """The kernel's version of Landlock; raises OSError where there is none."""
    return _syscall("landlock_create_ruleset", None, 0, 1)


def landlock() -> None:
    """No file, no TCP port, no abstract socket, no signal to anybody outside."""
    abi = landlock_abi()
    files = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
    handled = struct.pack(
        "=QQQ",
        files.get(abi, (1 << 16) - 1),
        0b11 if abi >= 4 else 0,
        0b11 if abi >= 6 else 0,
    )
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    ruleset = _syscall("landlock_create_ruleset", handled, size, 0)
    try:
        no_new_privileges()
        _syscall("landlock_restrict_self", ruleset, 0)
    finally:
        os.close(ruleset)


def seccomp() -> None:
    """Only the system calls that computing needs."""
    program = _filter()
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    no_new_privileges()
    _checked(
        _libc().prctl(
            _PR_SET_SECCOMP, ctypes.c_ulong(2), header, ctypes.c_ulong(0), ctypes.c_ulong(0)
        )
    )


@cache
def _filter() -> bytes:
    """The classic BPF program: jumps count instructions to skip if equal, if not."""
    load, equal, at_least, bits, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
    prot_exec, third_argument = 4, 32
    code = [
        (load, 0, 0, 4),
        (equal, 1, 0, _AUDIT_ARCH.get(platform.machine(), 0)),
        (answer, 0, 0, kill),
        (load, 0, 0, 0),
        (at_least, 0, 1, 0x40000000),  # the x32 table of x86_64
        (answer, 0, 0, kill),
    ]
    for call in _ALLOWED:
        code += [(equal, 0, 1, _number(call)), (answer, 0, 0, allow)]
    for call in _DATA_ONLY:
        code += [
            (equal, 0, 4, _number(call)),
            (load, 0, 0, third_argument),
            (bits, 0, 1, prot_exec),
            (answer, 0, 0, refuse),
            (answer, 0, 0, allow),
        ]
    known = _NUMBERS[platform.machine()] | _SINCE_2011
    for call in _DEADLY:
        if call in known:  # aarch64 has neither fork nor vfork
            code += [(equal, 0, 1, known[call]), (answer, 0, 0, kill)]
    code.append((answer, 0, 0, refuse))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def die_with_parent(parent: int) -> None:
    """The kernel kills this process when `parent` dies."""
    if LINUX:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _attempt(raise_wall: Callable[[], None]) -> None:
    with suppress(AttributeError, KeyError, OSError, ValueError):
        raise_wall()


def seal_parent() -> None:
    """The walls that a parent and all its workers share."""
    _attempt(leave_namespaces)
    _attempt(become_nobody)
    _attempt(drop_capabilities)
    _attempt(landlock)
    _attempt(no_new_privileges)
    with suppress(OSError, KeyError):
        _filter()  # once, for all workers


def seal_worker(memory: int, cpu_seconds: int) -> None:
    """The walls that a worker raises around itself for good."""
    limit_resources(memory, cpu_seconds)
    _attempt(seccomp)


def _no_files_or_memory() -> str:
    limit_resources(1 << 28, 5)
    try:
        bytearray(1 << 30)
    except MemoryError:
        pass
    else:
        raise OSError("the limit on memory does not hold")
    _refused(lambda: os.open(os.devnull, os.O_RDONLY), errno.EMFILE)
    return "memory, CPU time, files"


def _no_rights() -> str:
    become_nobody()
    drop_capabilities()
    no_new_privileges()
    with open("/proc/self/status") as status:
        facts = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
    if int(facts["CapEff"], 16) or facts["NoNewPrivs"] != "1":
        raise OSError(f"capabilities {facts['CapEff']}, NoNewPrivs {facts['NoNewPrivs']}")
    return f"user {os.getuid()}, no capabilities, no new privileges"


def _no_network() -> str:
    import socket

    leave_namespaces()
    with socket.socket() as probe:
        _refused(lambda: probe.connect(("127.0.0.1", 9)), errno.ENETUNREACH)
    return "own network, IPC and UTS"


def _no_file_system() -> str:
    abi = landlock_abi()
    landlock()
    _refused(lambda: os.listdir("/"), errno.EACCES)
    return f"ABI {abi}"


def _few_system_calls() -> str:
    seccomp()
    _refused(lambda: os.stat("/"), errno.EPERM)
    return f"{len(_ALLOWED) + len(_DATA_ONLY)} system calls allowed"


def _refused(action: Callable[[], object], code: int) -> None:
    try:
        action()
    except OSError as error:
        if error.errno == code:
            return
        raise
    raise OSError("it was raised, but it does not hold")


_PROBES: dict[str, Callable[[], str]] = {
    "resource limits": _no_files_or_memory,
    "privileges": _no_rights,
    "namespaces": _no_network,
    "landlock": _no_file_system,
    "seccomp": _few_system_calls,
}


def _probe(name: str) -> Wall:
    """Raises one wall in a child of this process and runs into it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            wall = Wall(name, True, _PROBES[name]())
        except Exception as error:
            wall = Wall(name, False, f"{type(error).__name__}: {error}")
        os.write(writing, json.dumps(wall).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Wall(*json.loads(told)) if told else Wall(name, False, f"the probe died ({status})")


def walls() -> list[Wall]:
    """Measures each of the operating system's walls by running into it in a throw-away process."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", __file__], capture_output=True, text=True, timeout=30
    )
    if done.returncode:
        return [Wall(name, False, done.stderr.strip()[-200:]) for name in _PROBES]
    return [Wall(*row) for row in json.loads(done.stdout)]


if __name__ == "__main__":
    print(json.dumps([_probe(name) for name in _PROBES]))
