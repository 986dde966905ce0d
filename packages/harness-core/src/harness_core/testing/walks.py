"""Plays actions and writes down, as JSON text, everything that comes back."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from harness_core.env import ActionableEnv
from harness_core.errors import InvalidAction
from harness_core.serial import canonical, to_data
from harness_core.values import Action, Observation, StepResult

Probe = Callable[[ActionableEnv], object]
"""Something done to the env between two steps."""

TRIES = 4


def explore(
    env: ActionableEnv, seed: int, steps: int, fallback: Sequence[Action]
) -> tuple[Action, ...]:
    """Plays at random, and returns the actions of the longest of a few short episodes.

    Args:
        env: reset here.
        seed: of the env, and of the choices.
        steps: at most so many.
        fallback: what to choose from where observations list no admissible actions.
    """
    longest: tuple[Action, ...] = ()
    for attempt in range(TRIES):
        luck = random.Random(f"{seed}:{attempt}")
        observation, played, ended = env.reset(seed=seed).observation, list[Action](), False
        while len(played) < steps and not ended:
            choices = options(observation, fallback)
            if not choices:
                break
            action = luck.choice(choices)
            played.append(action)
            answer = _step(env, action)
            ended = answer is not None and answer.ended
            observation = env.observe() if answer is None else answer.observation
        longest = max(longest, tuple(played), key=len)
        if len(longest) == steps:
            break
    return longest


def options(observation: Observation, fallback: Sequence[Action]) -> Sequence[Action]:
    """The actions to choose from."""
    admissible = observation.data.get("admissible")
    return [Action(text) for text in admissible] if admissible else fallback


def trace(
    env: ActionableEnv, actions: Iterable[Action], seed: int | None = 0, probe: Probe | None = None
) -> list[str]:
    """Resets, plays, and ends with state and verdict."""
    return [canonical(to_data(env.reset(seed=seed))), *play(env, actions, probe)]


def play(env: ActionableEnv, actions: Iterable[Action], probe: Probe | None = None) -> list[str]:
    """Plays on from here until the episode ends, and ends with state and verdict."""
    told: list[str] = []
    for action in actions:
        if probe:
            probe(env)
        event, ended = act(env, action)
        told.append(event)
        if ended:
            break
    return [*told, *standing(env)]


def act(env: ActionableEnv, action: Action) -> tuple[str, bool]:
    """One step: what came back, and whether the episode ended."""
    answer = _step(env, action)
    if answer is None:
        return "InvalidAction", False
    return canonical(to_data(answer)), answer.ended


def standing(env: ActionableEnv) -> list[str]:
    """All that can be read without a step."""
    readings = (env.observe(), env.get_env_state(), env.evaluate(), env.step_signal())
    return [canonical(to_data(reading)) for reading in readings]


def difference(one: Sequence[str], other: Sequence[str]) -> str:
    """Where two traces part; empty if they do not."""
    for position, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return f"at event {position}: {_cut(left)} against {_cut(right)}"
    return "" if len(one) == len(other) else f"one ends after {len(one)} events, not {len(other)}"


def _step(env: ActionableEnv, action: Action) -> StepResult | None:
    try:
        return env.step(action)
    except InvalidAction:
        return None


def _cut(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:297]}..."
