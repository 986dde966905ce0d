"""Wall 2 alone: an empty process per episode, and nothing left of it afterwards."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.sandbox.hostile import escaped, hook
from harness_core.errors import HarnessError, InfrastructureError, SandboxTimeout
from harness_core.sandbox import ContractSession, SandboxLimits, Source
from harness_core.sandbox.nursery import nursery
from harness_core.values import Action, EnvState

ACTION = Action("look")
QUIET = hook("pass")
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def state() -> EnvState:
    return EnvState()


def children(pid: int) -> list[int]:
    """The live and dead children of a process."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def parent_pid() -> int:
    process = nursery()._process
    assert process is not None
    return process.pid


def gone(pid: int) -> bool:
    """Whether a process ends soon."""
    for _ in range(100):
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def session():
    session = ContractSession(QUIET)
    yield session
    session.close()


@linux
def test_nothing_is_inherited(session):
    """A worker has the three null streams and its channel, no variables, and a nameless folder."""
    os.environ["HARNESS_SECRET"] = "x"
    pid = session._worker.pid
    links = {int(p.name): os.readlink(p) for p in Path(f"/proc/{pid}/fd").iterdir()}
    assert [links.get(i) for i in range(3)] == ["/dev/null"] * 3
    assert links.keys() == {0, 1, 2, 3}
    assert links[3].startswith("socket:")
    assert Path(f"/proc/{pid}/environ").read_bytes() == b"PYTHONHASHSEED=0\0"
    assert os.readlink(f"/proc/{pid}/cwd").endswith("(deleted)")
    del os.environ["HARNESS_SECRET"]


def test_no_variables_in_the_worker():
    """Even code with the real builtins finds no environment variable."""
    text = escaped("assert not os.environ\nreturn Action(str(len(os.environ)))")
    session = ContractSession(Source(text, "C", frozenset({"filter_action"})))
    assert session.filter_action(ACTION, state) == Action("0")
    session.close()


@linux
def test_nothing_is_left_after_close():
    """Fifty sessions, some of them failed, leave no process, zombie, descriptor or folder."""
    ContractSession(QUIET).close()
    parent = parent_pid()
    before = (len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{parent}/fd")))
    folders = sorted(os.listdir("/tmp"))
    for index in range(50):
        session = ContractSession(hook("1 / 0") if index % 5 == 0 else QUIET)
        if index % 5 == 0:
            with pytest.raises(HarnessError):
                session.filter_action(ACTION, state)
        session.close()
    assert children(parent) == []
    assert (len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{parent}/fd"))) == before
    assert [f for f in os.listdir("/tmp") if f not in folders and f.startswith("tmp")] == []


def test_sessions_are_apart():
    """Interleaved sessions share one parent and nothing else."""
    source = hook("env_state.extras['n'] = env_state.extras.get('n', 0) + 1")
    sessions = [ContractSession(source) for _ in range(5)]
    parent = parent_pid()
    for turn in range(5):
        for session in sessions[turn:]:
            session.filter_action(ACTION, state)
    assert [s.save_extras() for s in sessions] == [{"n": n} for n in (1, 2, 3, 4, 5)]
    assert len({s._worker.pid for s in sessions}) == 5
    assert parent_pid() == parent
    for session in sessions:
        session.close()


def test_threads_may_open_sessions_at_once():
    """Eight threads that open, use and close sessions get the right answers."""
    answers = []

    def work(number):
        for _ in range(5):
            session = ContractSession(hook(f"action = Action('{number}')"))
            answers.append((number, session.filter_action(ACTION, state).text))
            session.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 40
    assert all(str(number) == text for number, text in answers)


def test_a_session_outlives_the_thread_that_opened_it():
    """The parent belongs to the process: it does not die with the thread that started it."""
    nursery().close()
    sessions = []
    thread = threading.Thread(target=lambda: sessions.append(ContractSession(QUIET)))
    thread.start()
    thread.join()
    assert sessions[0].filter_action(ACTION, state) is ACTION
    sessions[0].close()


@linux
def test_a_dead_parent_is_replaced(session):
    """If the parent is killed, its workers die with it and the next session has a new one."""
    old, worker = parent_pid(), session._worker.pid
    os.kill(old, signal.SIGKILL)
    assert gone(worker)
    other, fresh = ContractSession(QUIET), ContractSession(QUIET)
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="warm process died"):
            session.filter_action(ACTION, state)
    assert fresh.filter_action(ACTION, state) is ACTION
    assert other.filter_action(ACTION, state) is ACTION
    assert parent_pid() != old
    fresh.close()
    other.close()


@linux
def test_a_parent_that_dies_in_mid_call_is_nobodys_fault():
    """If the parent is killed while a hook runs, that is infrastructure's failure."""
    session = ContractSession(hook("while True: pass"))
    killer = threading.Timer(0.2, os.kill, (parent_pid(), signal.SIGKILL))
    killer.start()
    with pytest.raises(InfrastructureError, match="warm process died"):
        session.filter_action(ACTION, state)
    killer.join()


@linux
def test_dropped_sessions_leave_nothing():
    """Sessions that nobody closes leave no worker, no zombie and no descriptor."""
    ContractSession(QUIET).close()
    parent, files = parent_pid(), len(os.listdir("/proc/self/fd"))
    sessions = [ContractSession(QUIET) for _ in range(20)]
    assert len(children(parent)) == 20
    sessions.clear()
    gc.collect()
    assert children(parent) == []
    assert len(os.listdir("/proc/self/fd")) == files


@linux
def test_sessions_dropped_at_a_bad_moment_are_buried_later():
    """A session collected while the nursery is busy waits for the next one, and blocks nothing."""
    session = ContractSession(QUIET)
    parent = parent_pid()
    with nursery()._lock:
        del session
        gc.collect()
        assert len(children(parent)) == 1
    ContractSession(QUIET).close()
    assert children(parent) == []


def test_threads_take_turns_in_one_session():
    """Two threads in one session get the answers to their own questions."""
    session = ContractSession(hook("action = Action(action.text + '!')"))
    wrong = []

    def work(name):
        for number in range(200):
            text = session.filter_action(Action(f"{name}-{number}"), state).text
            if text != f"{name}-{number}!":
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    session.close()


@linux
def test_a_forked_child_has_a_parent_of_its_own(session):
    """A child opens sessions of its own; it may not use the host's, and ends none of them."""
    mine = parent_pid()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            refused = False
            try:
                session.filter_action(ACTION, state)
            except HarnessError as error:
                refused = "open another session" in str(error) and error.fault == "caller"
            session.close()
            own = ContractSession(QUIET)
            answer = own.filter_action(ACTION, state) is ACTION and parent_pid() != mine and refused
            own.close()
            nursery().close()
            os.write(writing, b"good" if answer else b"bad")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"good"
    os.waitpid(child, 0)
    assert session.filter_action(ACTION, state) is ACTION


HOST = f"""
import sys, time
from harness_core.sandbox import ContractSession
from harness_core.sandbox.nursery import nursery
session = ContractSession({QUIET!r})
print(nursery()._process.pid, session._worker.pid, flush=True)
if sys.argv[1] == "wait":
    time.sleep(60)
"""


@linux
@pytest.mark.parametrize("how", ["exit", "kill", "terminate"])
def test_all_die_with_the_host(how):
    """Parent and workers end with the host: at its exit, on SIGTERM, and on kill -9."""
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, "wait" if how != "exit" else "exit"],
        stdout=subprocess.PIPE,
        text=True,
    )
    with host:
        assert host.stdout is not None
        parent, worker = map(int, host.stdout.readline().split())
        if how == "kill":
            host.kill()
        elif how == "terminate":
            host.terminate()
        host.wait()
        assert gone(worker)
        assert gone(parent)


@linux
def test_a_host_that_dies_in_the_middle_of_a_hang():
    """A worker in a loop without end dies with a killed host too."""
    loop = HOST.replace(repr(QUIET), repr(hook("while True: pass"))) + (
        "from harness_core.values import Action\nsession.filter_action(Action('x'), None)\n"
    )
    host = subprocess.Popen([sys.executable, "-c", loop, "go"], stdout=subprocess.PIPE, text=True)
    with host:
        assert host.stdout is not None
        parent, worker = map(int, host.stdout.readline().split())
        time.sleep(0.2)
        host.kill()
        host.wait()
        assert gone(worker)
        assert gone(parent)


def test_cpu_time_is_limited_for_the_episode():
    """CPU time is counted over all calls of an episode; what is over it is a timeout."""
    session = ContractSession(
        hook("while True: pass"), limits=SandboxLimits(call_seconds=20, cpu_seconds=1)
    )
    with pytest.raises(SandboxTimeout, match="1 s of CPU time"):
        session.filter_action(ACTION, state)
    session.close()
