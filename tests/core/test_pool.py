from __future__ import annotations

import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness_core import Action, Observation, Task, Tool
from harness_core.episode import Episode, policy_seed
from harness_core.errors import EnvError, HarnessError, MissingExtraError, UnknownTaskError
from harness_core.hookspecs import hookimpl
from harness_core.policies import Decision, Policy, PolicySpec
from harness_core.registry import register, registry
from harness_core.rollout import Limits, RolloutPool, Unit
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from support.cli import descendants, running

register("support.ladder_plugin")
register("support.odd_env")


@pytest.fixture(autouse=True)
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every test leaves no process, no thread, no open file and no temporary folder behind."""
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp))
    before = (descendants(os.getpid()), threading.active_count(), _open_files())
    yield tmp
    assert not running(descendants(os.getpid()) - before[0])
    assert threading.active_count() == before[1]
    assert _open_files() == before[2]
    assert list(tmp.iterdir()) == []


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _units(count: int, task: str = "rung-4", **options: object) -> list[Unit]:
    stack = StackSpec("ladder", task, options=options)
    return [Unit(stack, PolicySpec("random"), seed, 15) for seed in range(count)]


def test_same_episodes_at_any_worker_count() -> None:
    """One, two and four workers give equal episodes in the order of the units."""
    units = _units(8)
    runs = []
    for workers in (1, 2, 4):
        with RolloutPool(workers) as pool:
            runs.append(pool.run(units))
    assert runs[0] == runs[1] == runs[2]
    assert [episode.seed for episode in runs[0]] == list(range(8))
    assert {episode.success for episode in runs[0]} == {True, False}


def test_stored_units_are_not_run_again(tmp_path: Path) -> None:
    """A pool with a store runs what is missing, and gives what is there first."""
    played: list[int] = []

    class Noted:
        def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
            played.append(seed)

        def act(self, observation: Observation) -> Decision | None:
            return None

    def build(spec: PolicySpec) -> Policy:
        return Noted()

    with RunStore(tmp_path / "run.db") as store:
        with RolloutPool(1, store=store, build_policy=build) as pool:
            first = pool.run(_units(2))
        with RolloutPool(1, store=store, build_policy=build) as pool:
            again = pool.run(_units(4))
    assert played == [policy_seed("rung-4", seed) for seed in range(4)]
    assert again[:2] == first


def test_process_that_dies_is_replaced() -> None:
    """A worker that dies costs its episode alone: infrastructure's failure, after all retries."""
    with RolloutPool(1, retries=1) as pool:
        (dead,) = pool.run(_units(1, trouble="die"))
        (fine,) = pool.run(_units(1))
    assert dead.failure is not None
    assert dead.failure.fault == "infrastructure"
    assert "exit code 7" in dead.failure.message
    assert fine.failure is None


@pytest.mark.parametrize("build", [None, PolicySpec.build], ids=["beside", "apart"])
@pytest.mark.parametrize("limits", [Limits(step=0.3), Limits(episode=1.5)], ids=["step", "episode"])
def test_hanging_step_is_killed(
    limits: Limits, build: Callable[[PolicySpec], Policy] | None
) -> None:
    """A step that hangs is killed at the step's limit, or at the episode's."""
    began = time.monotonic()
    with RolloutPool(1, limits=limits, retries=0, build_policy=build) as pool:
        (episode,) = pool.run(_units(1, trouble="hang"))
    assert episode.failure is not None
    assert episode.failure.error == "EnvTimeout"
    assert time.monotonic() - began < 10


def test_an_env_that_litters_its_temporary_folder_ends_nothing() -> None:
    """Files that an env cuts in its TMPDIR do not reach the memory that limits live in."""
    with RolloutPool(1, retries=0) as pool:
        assert pool.run(_units(1, trouble="litter"))[0].failure is None


def test_exception_in_the_env_is_told() -> None:
    """What the env raises in its process arrives with its message and its traceback."""
    with RolloutPool(1, retries=0) as pool:
        (episode,) = pool.run(_units(1, trouble="raise"))
    assert episode.failure is not None
    assert "the ladder broke" in episode.failure.message
    assert "_go_wrong" in episode.failure.trace


def test_what_json_cannot_hold_fails_its_episode_alone(tmp_path: Path) -> None:
    """An env that answers with NaN fails its own episode in the store; the others are kept."""
    units = [*_units(1, trouble="nan"), *_units(1)]
    with RunStore(tmp_path / "run.db") as store, RolloutPool(1, store=store) as pool:
        odd, fine = pool.run(units)
    assert odd.failure is not None
    assert odd.failure.fault == "infrastructure"
    assert fine.failure is None


@pytest.mark.parametrize("missing", ["task", "extra"])
def test_wrong_request_is_raised(missing: str) -> None:
    """A unit that nobody can run is the caller's error, raised with its own class."""

    def build(spec: PolicySpec) -> Policy:
        raise MissingExtraError("install it")

    if missing == "task":
        with RolloutPool(2) as pool, pytest.raises(UnknownTaskError, match="rung-9"):
            pool.run(_units(3, task="rung-99"))
    else:
        with RolloutPool(2, build_policy=build) as pool, pytest.raises(MissingExtraError):
            pool.run(_units(3))


def test_policy_that_raises_fails_its_episode() -> None:
    """An exception of the policy, in this process, is the policy's failure."""

    class Lost:
        def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
            pass

        def act(self, observation: Observation) -> Decision | None:
            raise LookupError("where am I?")

    with RolloutPool(1, build_policy=lambda spec: Lost()) as pool:
        (episode,) = pool.run(_units(1))
    assert episode.failure is not None
    assert episode.failure.fault == "policy"
    assert episode.success is False


@pytest.mark.parametrize("close", ["stream", "pool"])
def test_leaving_early_ends_what_runs(close: str) -> None:
    """A stream left in the middle, or a pool closed under it, ends busy workers at once."""
    began, before = time.monotonic(), descendants(os.getpid())
    threads = threading.active_count()
    with RolloutPool(3) as pool:
        stream = pool.stream([*_units(1), *_units(8, task="rung-6", pause=2.0)])
        next(stream)
        if close == "stream":
            stream.close()  # type: ignore[attr-defined]  # it is a generator
    assert not running(descendants(os.getpid()) - before)
    assert threading.active_count() == threads
    del stream
    assert time.monotonic() - began < 8


def test_interruption_ends_what_runs() -> None:
    """An exception in the loop over a stream, such as Ctrl-C, leaves nothing running."""

    def interrupted() -> None:
        with RolloutPool(3) as pool:
            for _ in pool.stream([*_units(1), *_units(8, task="rung-6", pause=2.0)]):
                raise KeyboardInterrupt

    before = descendants(os.getpid())
    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    assert not running(descendants(os.getpid()) - before)
    assert caught.traceback  # it keeps the stream alive, which must not matter


def test_pool_goes_on_after_a_stream_that_was_left() -> None:
    """A pool can be used again after a stream was left in the middle."""
    with RolloutPool(2) as pool:
        for _ in pool.stream(_units(6, pause=0.05)):
            break
        assert [episode.failure for episode in pool.run(_units(3))] == [None] * 3


def test_workers_are_reused() -> None:
    """One worker process serves many episodes, and many runs."""
    with RolloutPool(1) as pool:
        before = descendants(os.getpid())
        pool.run(_units(1))
        workers = descendants(os.getpid()) - before
        pool.run(_units(3))
        assert descendants(os.getpid()) - before == workers
        assert len(workers) == 1


def test_borrowed_env(tmp: Path) -> None:
    """A borrowed stack is live in a worker, with the worker's own temporary folder."""
    with RolloutPool(1) as pool, pool.borrow(StackSpec("ladder", "rung-2")) as env:
        env.reset(seed=2)
        env.step(Action("up"))
        assert env.get_env_state().data == {"height": 1}
        assert len(list(tmp.iterdir())) == 1


def _odd(trouble: str, seed: int = 0) -> Unit:
    script = PolicySpec("scripted", {"actions": ["up"] * 3})
    return Unit(StackSpec("odd-ladder", "rung-6", options={"trouble": trouble}), script, seed)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        *((name, f"step raised {name}") for name in ("KeyboardInterrupt", "SystemExit")),
        *((name, f"step raised {name}") for name in ("GeneratorExit", "BaseException")),
        ("Unprintable", "step raised Unprintable"),
        ("unicode", "half a character"),
        ("unpicklable", "JSON|step raised"),
        ("bomb", "JSON|ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("build", [None, PolicySpec.build], ids=["beside", "apart"])
def test_whatever_an_env_does_is_told(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    trouble: str,
    told: str,
    build: Callable[[PolicySpec], Policy] | None,
) -> None:
    """Whatever an env raises or answers fails its episode alone, and nothing is printed.

    The policy plays in the env's process, or apart from it.
    """
    store = RunStore(tmp_path / "run.db")
    with store, RolloutPool(1, retries=0, store=store, build_policy=build) as pool:
        odd, fine = pool.run([_odd(trouble), _odd("")])
        kept = {episode.failure is None: episode for _, episode in store.episodes()}
    assert odd.failure is not None
    assert (odd.failure.error, odd.success) == ("EnvError", None)
    assert re.search(told, odd.failure.message)
    assert fine.failure is None
    assert kept == {True: fine, False: odd}
    assert capfd.readouterr().err == ""


def test_a_thread_that_an_env_left_does_not_hold_up_the_end() -> None:
    """A worker ends at once, though a thread of its env runs on."""
    with RolloutPool(1) as pool:
        (episode,) = pool.run([_odd("thread")])
        began = time.monotonic()
    assert episode.failure is None
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("how", ["run", "stream"])
def test_closing_from_another_thread_ends_the_wait(tmp_path: Path, how: str) -> None:
    """Who waits for a pool that somebody else closes gets an error, and keeps what was finished."""
    units = [*_units(1), *_units(4, task="rung-6", pause=30.0)]
    with RunStore(tmp_path / "run.db") as store:
        pool = RolloutPool(2, store=store)
        closer = threading.Timer(2.0, pool.close)
        closer.start()
        with pytest.raises(EnvError, match="closed while it ran"):
            pool.run(units) if how == "run" else list(pool.stream(units))
        closer.join()
        assert len(list(store.episodes())) == 1
        with pytest.raises(HarnessError, match="closed: make another"):
            pool.run(units)


def test_runs_of_two_threads_leave_each_other_alone() -> None:
    """A run that ends early, or fails, does not end another one of the same pool."""
    episodes = []
    with RolloutPool(2) as pool, pool.borrow(StackSpec("ladder", "rung-2")) as env:
        slow = _units(3, task="rung-6", pause=0.1)
        thread = threading.Thread(target=lambda: episodes.extend(pool.run(slow)))
        thread.start()
        for _ in range(3):
            pool.run(_units(1))
        with pytest.raises(UnknownTaskError):
            pool.run(_units(1, task="rung-99"))
        thread.join()
        env.reset(seed=0)
    assert [episode.failure for episode in episodes] == [None] * 3


@pytest.mark.parametrize("where", ["build", "started", "finished"])
def test_plain_exceptions_around_an_episode_fail_it_alone(where: str) -> None:
    """An exception in building the policy or in a plugin's hook is its episode's failure."""

    class Plugin:
        @hookimpl
        def harness_episode_started(self, spec: StackSpec, seed: int) -> None:
            assert where != "started" or seed, "broken plugin"

        @hookimpl
        def harness_episode_finished(self, episode: Episode) -> None:
            assert where != "finished" or episode.seed, "broken plugin"

    def build(spec: PolicySpec) -> Policy:
        built.append(spec)
        assert where != "build" or len(built) > 1, "broken policy"
        return spec.build()

    built: list[PolicySpec] = []
    plugin = Plugin()
    registry().manager.register(plugin)
    try:
        with RolloutPool(1, retries=0, build_policy=build) as pool:
            broken, fine = pool.run(_units(2))
    finally:
        registry().manager.unregister(plugin)
    assert broken.failure is not None
    assert (broken.failure.error, broken.success) == ("EnvError", None)
    assert "AssertionError: broken" in broken.failure.message
    assert fine.failure is None


def test_an_odd_decision_is_the_policys_failure_with_and_without_a_store(tmp_path: Path) -> None:
    """What cannot be kept or sent fails its policy once, untried again, and comes back equal."""

    class Odd:
        def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
            played.append(seed)

        def act(self, observation: Observation) -> Decision | None:
            return Decision(Action(tool="t", arguments={"x": lambda: None}))

    played: list[int] = []
    with RunStore(tmp_path / "run.db") as store:
        with RolloutPool(1, store=store, build_policy=lambda spec: Odd()) as pool:
            (episode,) = pool.run(_units(1))
        assert store.episode(_units(1)[0].key) == episode
    assert episode.failure is not None
    assert (episode.failure.fault, episode.success) == ("policy", False)
    assert len(played) == 1


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1, 10**30, 1.0, "1", True, None])
def test_seeds_outside_64_bits_are_refused(seed: Any) -> None:
    """A seed that no store can hold is refused when the unit is made; the outermost are kept."""
    with pytest.raises(HarnessError, match="64 bits"):
        Unit(StackSpec("ladder"), "random", seed)


@pytest.mark.parametrize("seed", [2**63 - 1, -(2**63)])
def test_outermost_seeds_are_kept(tmp_path: Path, seed: int) -> None:
    """The largest and the smallest seed are played and kept like all others."""
    unit = Unit(StackSpec("ladder", "rung-2"), "random", seed)
    with RunStore(tmp_path / "run.db") as store, RolloutPool(1, store=store) as pool:
        (episode,) = pool.run([unit])
        assert store.episode(unit.key) == episode
    assert episode.failure is None


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"workers": -1}, {"retries": -1}])
def test_impossible_pools_are_refused(wrong: dict[str, int]) -> None:
    """A pool without workers, or with fewer than no retries, is refused."""
    with pytest.raises(HarnessError, match="at least 1 worker and 0 retries"):
        RolloutPool(**wrong)


def _thinking(**options: object) -> Unit:
    return Unit(StackSpec("ladder", "rung-4"), PolicySpec("odd", options), 0, 15)


def test_a_slow_policy_is_not_a_hanging_env() -> None:
    """Beside its env too, a policy may think longer than a step may take."""
    with RolloutPool(1, limits=Limits(step=0.5), retries=0) as pool:
        (episode,) = pool.run([_thinking(seconds=1.0)])
    assert (episode.failure, episode.success) == (None, True)


def test_a_policy_that_hangs_or_exits_is_at_fault() -> None:
    """Beside its env too, it fails its own episode, which counts as lost."""
    with RolloutPool(1, limits=Limits(episode=3.0), retries=0) as pool:
        ended = pool.run([_thinking(trouble="SystemExit"), _thinking(seconds=60.0)])
    assert [episode.failure.fault for episode in ended if episode.failure] == ["policy", "policy"]
    assert [episode.success for episode in ended] == [False, False]
