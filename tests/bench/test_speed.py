"""Speed as ratios: every bound compares two things measured in the same run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import gymnasium
import pytest
from attrs import evolve
from pytest_benchmark.fixture import BenchmarkFixture

from harness_core import (
    Action,
    ActionableEnv,
    Contract,
    EnvState,
    Identity,
    Layer,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Verdict,
)
from harness_core.episode import Episode, Step
from harness_core.sandbox import ContractSession
from harness_core.store import RunStore

ANSWER = StepResult(Observation("You see nothing special."))
LOOK = Action("look")
DEPTH = 10
ROUNDS, CALLS = 15, 20_000


class Still(ActionableEnv):
    """The cheapest env there can be, so that layers are all that is measured."""

    def __init__(self, task: str | None = None) -> None:
        self.built = 0

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        return ResetResult(ANSWER.observation, Task("still"))

    def step(self, action: Action) -> StepResult:
        return ANSWER

    def observe(self) -> Observation:
        return ANSWER.observation

    def evaluate(self) -> Verdict:
        return Verdict(False)

    def get_env_state(self) -> EnvState:
        self.built += 1
        return EnvState("still")

    def save_state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Still:
        return cls()


class StillGym(gymnasium.Env[Any, Any]):
    """The same for Gymnasium."""

    def step(self, action: Any) -> Any:
        return ANSWER


class PassThrough(Layer):
    """Leaves steps alone."""


class ThreeHooks(Contract):
    """Three identity hooks, each written out."""

    def filter_action(self, action: Any, env_state: Any) -> Any:
        return action

    def modify_transition(self, action: Any, response: Any, env_state: Any) -> Any:
        return response

    def filter_observation(self, observation: Any, env_state: Any) -> Any:
        return observation


def nanoseconds(*steps: Callable[[Action], Any]) -> list[float]:
    """The least time of one call of each, measured in turns so that all meet the same machine."""
    best = [float("inf")] * len(steps)
    gc.disable()
    try:
        for _ in range(ROUNDS):
            for index, step in enumerate(steps):
                began = perf_counter()
                for _ in range(CALLS):
                    step(LOOK)
                best[index] = min(best[index], (perf_counter() - began) / CALLS * 1e9)
    finally:
        gc.enable()
    return best


def gym_stack() -> tuple[Any, Any]:
    """A Gymnasium env, and the same under ten wrappers."""
    env = wrapped = StillGym()
    for _ in range(DEPTH):
        wrapped = gymnasium.Wrapper(wrapped)
    return env, wrapped


def test_a_pass_through_layer_costs_no_more_than_a_gymnasium_wrapper(
    benchmark: BenchmarkFixture,
) -> None:
    """Ten layers that leave steps alone cost at most what ten Gymnasium wrappers cost."""
    env = stack = Still()
    for _ in range(DEPTH):
        stack = PassThrough(stack, Identity())
    gym, wrapped = gym_stack()
    bare, layered, gym_bare, gym_layered = nanoseconds(env.step, stack.step, gym.step, wrapped.step)
    layer, wrapper = (layered - bare) / DEPTH, (gym_layered - gym_bare) / DEPTH
    benchmark(stack.step, LOOK)
    print(f"\nper layer: ours {layer:.0f} ns, Gymnasium {wrapper:.0f} ns")
    assert layer <= wrapper


def test_three_identity_hooks_cost_at_most_ten_wrappers(benchmark: BenchmarkFixture) -> None:
    """A Python contract with three identity hooks costs at most ten Gymnasium wrappers."""
    env = Still()
    contract = ThreeHooks()(env)
    contract.reset()
    gym, wrapped = gym_stack()
    bare, hooked, gym_bare, gym_layered = nanoseconds(
        env.step, contract.step, gym.step, wrapped.step
    )
    hooks, wrapper = hooked - bare, (gym_layered - gym_bare) / DEPTH
    benchmark(contract.step, LOOK)
    print(f"\nthree hooks {hooks:.0f} ns = {hooks / wrapper:.1f} wrappers of {wrapper:.0f} ns")
    assert hooks <= 10 * wrapper
    assert env.built == 0, "no hook read the state, so none may be built"


SOURCE = """
class Counts(Contract):
    def filter_action(self, action, env_state):
        env_state.extras["seen"] = env_state.extras.get("seen", 0) + 1
        return action

    def filter_observation(self, observation, env_state):
        return observation.replace(text=observation.text + "!")
"""


@pytest.fixture
def kitchen() -> StepResult:
    """An answer as large as a kitchen's: 2 kB of text and 30 admissible commands."""
    commands = [f"go to cabinet {number} and look inside it" for number in range(30)]
    return StepResult(Observation("You see a mug. " * 50, {"admissible": commands}))


def best_median(call: Callable[[], object], rounds: int, batches: int = 5) -> float:
    """Seconds: the least of several medians, so that a noisy neighbour spoils one batch only."""
    medians = []
    for _ in range(batches):
        times = []
        for _ in range(rounds):
            began = perf_counter()
            call()
            times.append(perf_counter() - began)
        medians.append(median(times))
    return min(medians)


def test_a_sandboxed_step_takes_at_most_200_microseconds(
    benchmark: BenchmarkFixture, kitchen: StepResult
) -> None:
    """A contract's source text that rewrites every observation adds at most 200 us to a step."""
    session = ContractSession(SOURCE)
    state = EnvState("kitchen")

    def step() -> None:
        session.filter_action(LOOK, lambda: state)
        session.after(LOOK, kitchen, lambda: state)

    taken = best_median(step, rounds=1000)
    benchmark.pedantic(step, rounds=1000)
    session.close()
    print(f"\nsandboxed step {taken * 1e6:.0f} us")
    assert taken <= 200e-6


def test_a_sandbox_starts_within_10_milliseconds(benchmark: BenchmarkFixture) -> None:
    """A contract's worker is ready within 10 ms once the warm parent runs."""
    ContractSession(SOURCE).close()
    opened: list[ContractSession] = []
    taken = best_median(lambda: opened.append(ContractSession(SOURCE)), rounds=10)
    benchmark.pedantic(lambda: opened.append(ContractSession(SOURCE)), rounds=10)
    for session in opened:
        session.close()
    print(f"\nsandbox start {taken * 1e3:.1f} ms")
    assert taken <= 10e-3


def test_the_run_store_keeps_500_episodes_a_second(
    benchmark: BenchmarkFixture, tmp_path: Path, kitchen: StepResult
) -> None:
    """Thirty-step episodes of kitchen size are committed at 500 a second or more."""
    steps = tuple(Step(LOOK, kitchen.observation, LOOK) for _ in range(30))
    episode = Episode(Task("kitchen"), 0, kitchen.observation, steps, "budget", Verdict(False))
    numbers = count()
    with RunStore(tmp_path / "run.db") as store:

        def put() -> None:
            number = next(numbers)
            unit = {"policy": {"id": "bench"}, "seed": number}
            store.put_episode(f"{number:064}", unit, evolve(episode, seed=number))

        taken = best_median(put, rounds=100)
        benchmark.pedantic(put, rounds=100)
    print(f"\n{1 / taken:.0f} episodes a second")
    assert taken <= 1 / 500
