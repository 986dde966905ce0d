"""Wall 3 alone: each of the operating system's walls, measured by running into it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from harness_core.sandbox import Wall, kernel, walls

NAMES = ["resource limits", "privileges", "namespaces", "landlock", "seccomp"]


def test_walls_reports_every_wall():
    """Every wall is reported once, with what was measured or why it is missing."""
    measured = walls()
    assert [wall.name for wall in measured] == NAMES
    assert all(wall.detail for wall in measured)
    assert all(isinstance(wall, Wall) for wall in measured)


def test_resource_limits_hold_everywhere():
    """The one wall of the operating system that no supported machine lacks is up."""
    assert walls()[0] == Wall("resource limits", True, "memory, CPU time, files")


def test_a_wall_that_does_not_hold_is_reported_missing(monkeypatch):
    """A probe believes nothing: a wall that was raised but lets through counts as missing."""
    monkeypatch.setattr(kernel, "seccomp", lambda: None)
    wall = kernel._probe("seccomp")
    assert not wall.active
    assert "does not hold" in wall.detail


def test_a_machine_without_a_wall_says_why(monkeypatch):
    """Where the system calls' numbers are unknown, the wall is missing and the reason is told."""
    monkeypatch.setattr(kernel.platform, "machine", lambda: "riscv64")
    wall = kernel._probe("seccomp")
    assert not wall.active
    assert "riscv64" in wall.detail


# What is tried inside one wall alone, and how it must end: an errno, or minus a signal.
ATTEMPTS = {
    "seccomp": {
        "open('/etc/passwd')": "EPERM",
        "os.mkdir('/tmp/x')": "EPERM",
        "os.pipe()": "EPERM",
        "socket.socket()": "SIGSYS",
        "os.fork()": "SIGSYS",
        "os.execv('/bin/true', ['true'])": "SIGSYS",
        "os.kill(os.getppid(), 0)": "SIGSYS",
    },
    "landlock": {
        "open('/etc/passwd')": "EACCES",
        "open('/proc/%d/environ' % os.getppid())": "EACCES",
        "os.listdir('/')": "EACCES",
        "open('/tmp/x', 'w')": "EACCES",
        "os.mkdir('/tmp/x')": "EACCES",
    },
    "namespaces": {
        "socket.create_connection(('127.0.0.1', 9))": "ENETUNREACH",
        "socket.create_connection(('1.1.1.1', 9))": "ENETUNREACH",
    },
}


@pytest.mark.parametrize(
    ("wall", "code"), [(wall, code) for wall in ATTEMPTS for code in ATTEMPTS[wall]]
)
def test_one_wall_alone(wall, code):
    """With this wall as the only one, the attempt fails as the kernel says it must."""
    active = {measured.name: measured for measured in walls()}[wall]
    if not active.active:
        pytest.skip(active.detail)
    raised = {"namespaces": "leave_namespaces"}.get(wall, wall)
    script = (
        "import errno, json, os, socket, sys\n"
        "from harness_core.sandbox import kernel\n"
        f"kernel.{raised}()\n"
        f"try:\n    {code}\n    told = 'nothing'\n"
        "except OSError as error:\n    told = errno.errorcode[error.errno]\n"
        "os.write(1, json.dumps(told).encode())\n"
        "os._exit(0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=20)
    told = f"-{-done.returncode}" if done.returncode else json.loads(done.stdout)
    assert told == {"SIGSYS": "-31"}.get(ATTEMPTS[wall][code], ATTEMPTS[wall][code])
