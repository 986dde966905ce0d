"""Model calls in a pool of workers: storms, limits, kills, and secrets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_core import StackSpec
from harness_core.errors import SpecError, SpendLimitReached
from harness_core.models import SpendLimit
from harness_core.policies import PolicySpec, Usage
from harness_core.rates import success_rate
from harness_core.registry import register
from harness_core.rollout import RolloutPool, Unit
from harness_core.store import RunStore
from harness_core.testing.model_server import ModelServer, Say, Seen

register("support.ladder_plugin")
register("support.asking")

Connect = Callable[..., Any]


def _units(count: int) -> list[Unit]:
    return [Unit(StackSpec("ladder", "rung-3"), "asking", seed, 12) for seed in range(count)]


def _up(seen: Seen) -> Say:
    return Say("up", usage=Usage(6, 4))


def test_a_session_builds_what_needs_a_model(connect: Connect) -> None:
    """A policy that needs a model gets the session; options that it does not take are refused."""
    with ModelServer(_up) as server:
        session = connect(server)
        with RolloutPool(2, models=session) as pool:
            episodes = pool.run([*_units(3), Unit(StackSpec("ladder", "rung-3"), "random")])
        assert [episode.failure for episode in episodes] == [None] * 4
        assert session.spend()[0].calls == sum(len(each.steps) for each in episodes[:3])
        with pytest.raises(SpecError, match="wrong"):
            session.build_policy(PolicySpec("asking", {"wrong": 1}))


def test_a_resolved_policy_names_its_model(connect: Connect) -> None:
    """The model that the settings choose becomes an option, once; other policies stay as is."""
    session = connect("http://127.0.0.1:9/v1", roles={"teacher": "openai/t"})
    assert session.resolved(PolicySpec("asking")).options == {"model": "openai/m"}
    teacher = session.resolved(PolicySpec("asking", {"role": "teacher"}))
    assert teacher.options == {"role": "teacher", "model": "openai/t"}
    assert session.resolved(teacher) == teacher
    assert session.resolved(PolicySpec("random")) == PolicySpec("random")


def test_a_bad_network_changes_no_episode(connect: Connect) -> None:
    """With every third reply spoilt, all episodes are those of an undisturbed run."""
    spoilt = [
        Say("slow down", status=429),
        Say(status=502),
        Say("up", truncate=True),
        Say(raw="<html>"),
        Say("up", delay=30.0),
    ]

    def say(seen: Seen) -> Say:
        return spoilt[seen.number // 3 % 5] if seen.number % 3 == 2 else _up(seen)

    with ModelServer(_up) as server, RolloutPool(4, models=connect(server)) as pool:
        undisturbed = pool.run(_units(12))
    with (
        ModelServer(say) as server,
        RolloutPool(4, models=connect(server, timeout=1.0)) as pool,
    ):
        assert pool.run(_units(12)) == undisturbed


@pytest.mark.parametrize("trouble", ["down", "limited", "hung"])
def test_a_dead_provider_is_no_lost_episode(connect: Connect, trouble: str) -> None:
    """A provider that dies half-way leaves episodes that count neither way, each with its cause."""

    def say(seen: Seen) -> Say:
        if seen.number < 30:
            return _up(seen)
        return {"down": Say(status=500), "limited": Say(status=429)}.get(
            trouble, Say("x", delay=30.0)
        )

    with ModelServer(say) as server:
        session = connect(server, attempts=2, timeout=0.5)
        with RolloutPool(4, models=session, retries=0) as pool:
            episodes = pool.run(_units(16))
    ended = [each for each in episodes if each.failure is None]
    failed = [each.failure for each in episodes if each.failure is not None]
    assert ended
    assert failed
    assert {failure.fault for failure in failed} == {"infrastructure"}
    assert {failure.error for failure in failed} == {
        "RateLimited" if trouble == "limited" else "ModelError"
    }
    assert success_rate(episodes).n == len(ended)


def test_a_budget_stops_a_run_that_can_go_on(connect: Connect, tmp_path: Path) -> None:
    """Tokens are passed by one call per worker at most; with more of them the run goes on, and
    pays for nothing twice."""
    with ModelServer(_up) as server, RolloutPool(1, models=connect(server)) as pool:
        undisturbed = pool.run(_units(12))
        calls = server.served["m"].calls
    with ModelServer(_up) as server, RunStore(tmp_path / "run.db") as store:
        small = connect(server, store=store, limit=SpendLimit(tokens=200))
        with (
            RolloutPool(3, store=store, models=small) as pool,
            pytest.raises(SpendLimitReached, match="200 tokens"),
        ):
            pool.run(_units(12))
        small.close()
        used = server.served["m"].usage
        assert 200 <= used.input_tokens + used.output_tokens <= 200 + 3 * 10
        large = connect(server, store=store, limit=SpendLimit(tokens=10**6))
        with RolloutPool(3, store=store, models=large) as pool:
            assert pool.run(_units(12)) == undisturbed
        assert server.served["m"].calls == calls
        (spend,) = large.spend()
        assert (spend.calls, spend.input_tokens) == (calls, 6 * calls)


RUN = """
import sys
from harness_core.models import Endpoint, ModelSession, ModelSettings
from harness_core.registry import register
from harness_core.rollout import RolloutPool, Unit
from harness_core.spec import StackSpec
from harness_core.store import RunStore

register("support.ladder_plugin")
register("support.asking")
path, url, direct = sys.argv[1:]
place = Endpoint(url, "TEST_MODEL_KEY", direct=direct == "True")
units = [Unit(StackSpec("ladder", "rung-3"), "asking", seed, 12) for seed in range(6)]
with (
    RunStore(path) as store,
    ModelSession(store, settings=ModelSettings("openai/m", endpoints=(place,))) as session,
    RolloutPool(1, store=store, models=session) as pool,
):
    pool.run(units)
"""


def _started(path: Path, url: str, direct: bool) -> subprocess.Popen[bytes]:
    code = [sys.executable, "-c", RUN, str(path), url, str(direct)]
    return subprocess.Popen(code, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE)


def test_a_killed_run_pays_for_nothing_twice(direct: bool, tmp_path: Path) -> None:
    """Killed in the middle of a call, and run again: the calls of an undisturbed run, the same
    episodes, and one that was aborted."""
    with ModelServer(_up) as server:
        assert _started(tmp_path / "undisturbed.db", server.url, direct).wait(120) == 0
        calls = server.served["m"].calls
    running: list[subprocess.Popen[bytes]] = []

    def say(seen: Seen) -> Say:
        if seen.number != calls // 2:
            return _up(seen)
        running[0].send_signal(signal.SIGKILL)
        return Say("up", delay=0.5)

    with ModelServer(say) as server:
        running.append(_started(tmp_path / "run.db", server.url, direct))
        assert running[0].wait(120) == -signal.SIGKILL
        assert _started(tmp_path / "run.db", server.url, direct).wait(120) == 0
        assert (server.served["m"].calls, server.aborted) == (calls, 1)
    with (
        RunStore(tmp_path / "run.db") as run,
        RunStore(tmp_path / "undisturbed.db") as undisturbed,
    ):
        assert list(run.episodes()) == list(undisturbed.episodes())


def test_leaving_a_run_does_not_wait_for_models(connect: Connect) -> None:
    """An interrupted run ends at once, though a model is thinking."""
    asked = threading.Event()
    left: list[float] = []

    def say(seen: Seen) -> Say:
        asked.set()
        return Say("up", delay=30.0)

    def interrupted(pool: RolloutPool) -> None:
        for _ in pool.stream([Unit(StackSpec("ladder"), "random"), *_units(2)]):
            assert asked.wait(60)
            left.append(time.monotonic())
            raise KeyboardInterrupt

    with ModelServer(say) as server:
        session = connect(server, timeout=60.0, grace=0.1)
        with RolloutPool(3, models=session) as pool:
            with pytest.raises(KeyboardInterrupt):
                interrupted(pool)
            session.close()
        assert time.monotonic() - left[0] < 10


def test_workers_never_see_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of an env has no variable that holds a key, whatever its name, and all others."""
    planted = {
        "OPENAI_API_KEY": "sk-a-planted-secret",
        "SOME_TOKEN": "planted-token-12345",
        "SOME_SECRET": "planted-secret-1234",
        "MY_ENDPOINT": "planted-by-odd-name",
    }
    for name, value in planted.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HARNESS_ENDPOINTS", "http://127.0.0.1:9/v1 key=MY_ENDPOINT")
    monkeypatch.setenv("HARMLESS", "kept")
    with RolloutPool(1) as pool, pool.borrow(StackSpec("ladder")):
        (process,) = pool._busy
        environ = Path(f"/proc/{process._process.pid}/environ").read_bytes()
    assert b"HARMLESS=kept" in environ
    assert not [value for value in planted.values() if value.encode() in environ]


def test_a_key_is_in_no_file_that_a_run_writes(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    """An endpoint that echoes keys and headers in replies and errors brings none into the store,
    the episodes, a message, a trace or the output."""
    planted = [os.environ["TEST_MODEL_KEY"], "planted-elsewhere-123"]
    monkeypatch.setenv("OTHER_API_KEY", planted[1])

    def say(seen: Seen) -> Say:
        leak = f"your key is {seen.key} and {planted[1]}"
        if seen.number % 4 == 1:
            return Say(leak, status=500, headers={"X-Echo": leak})
        if seen.number > 20:
            return Say(leak, status=(400, 429, 500)[seen.number % 3])
        return Say("up" if seen.number % 4 else leak, reasoning=leak, tool_calls=[("t", leak)])

    with ModelServer(say) as server, RunStore(tmp_path / "run.db") as store:
        session = connect(server, store=store, attempts=2)
        with RolloutPool(2, store=store, models=session, retries=0) as pool:
            failures = []
            for unit in _units(12):
                try:
                    failures += [each.failure for each in pool.run([unit])]
                except Exception as error:
                    failures.append(error)
        assert any(failures)
        assert any(seen.key == planted[0] for seen in server.seen)
        kept = [json.dumps(call.body) for call in store.calls()]
        kept += [json.dumps(unit) + repr(episode) for unit, episode in store.episodes()]
        kept += list(map(repr, failures))
    out = capfd.readouterr()
    kept += [out.out, out.err]
    assert any("[secret]" in text for text in kept)
    for secret in planted:
        assert not [text for text in kept if secret in text]
        assert not [file for file in tmp_path.iterdir() if secret.encode() in file.read_bytes()]
