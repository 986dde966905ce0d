"""`Case`: what the checks of one env share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from attrs import field, frozen

from harness_core.env import ActionableEnv
from harness_core.testing.walks import explore, trace
from harness_core.values import Action


@frozen
class Case:
    """What the checks of one env share.

    Args:
        factory: makes the env.
        steps: length of walks.
        fallback: actions to choose from where an observation lists none.
        base: whether it is an env itself; a layer may refuse actions that are listed, does not
            pay for those that it blocks, and may fit one task alone.
    """

    factory: Callable[[], ActionableEnv]
    steps: int
    fallback: tuple[Action, ...]
    base: bool = True
    _walks: dict[int, tuple[Action, ...]] = field(factory=dict, init=False, eq=False)

    def walk(self, seed: int) -> tuple[Action, ...]:
        """The actions that the checks play under `seed`."""
        if seed not in self._walks:
            with self.env() as env:
                self._walks[seed] = explore(env, seed, self.steps, self.fallback)
        return self._walks[seed]

    @contextmanager
    def env(self) -> Iterator[ActionableEnv]:
        """A new env, closed at the end; whether close works is a check of its own."""
        env = self.factory()
        try:
            yield env
        finally:
            with suppress(Exception):
                env.close()

    def fresh_trace(self, seed: int = 0) -> list[str]:
        """What a new env answers to the walk of `seed`."""
        with self.env() as env:
            return trace(env, self.walk(seed), seed)
