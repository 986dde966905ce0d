"""Plays the baseline's own actions in a candidate: no policy is asked, so no rollout is paid."""

from __future__ import annotations

from collections.abc import Sequence

from harness_core.env import ActionableEnv
from harness_core.episode import Episode
from harness_core.errors import InvalidAction

ALWAYS = 2
"""Episodes that are played to their end even when the candidate has shown an effect."""


def changes(env: ActionableEnv, episodes: Sequence[Episode]) -> bool:
    """Whether `env`, a candidate, answers any recorded episode differently.

    Args:
        env: the env with the candidate around it.
        episodes: of the env as it is, those to be played first, first.

    Raises:
        HarnessError: a component failed at an action that the policy is known to take.
    """
    changed = False
    for number, episode in enumerate(episodes):
        if changed and number >= ALWAYS:
            break
        changed = _differs(env, episode) or changed
    return changed


def _differs(env: ActionableEnv, episode: Episode) -> bool:
    differs = env.reset(seed=episode.seed).observation != episode.start
    for step in episode.steps:
        try:
            answer = env.step(step.action)
        except InvalidAction:
            differs = differs or not step.invalid
            continue
        differs = differs or answer.observation != step.shown
        if answer.ended:
            return differs or step is not episode.steps[-1]
    return differs or episode.ending in ("terminated", "truncated")
