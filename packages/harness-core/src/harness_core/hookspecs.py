"""Every hook that a plugin may implement, built-ins included.

A plugin is a module named by an entry point in the group `harness`:

    [project.entry-points.harness]
    mybench = "mybench.plugin"

It implements hooks with `@hookimpl`. The hooks that register things return entries, which name
an object without importing it; the others observe runs. None is called in the step loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy
from attrs import frozen

if TYPE_CHECKING:
    from harness_core.episode import Episode
    from harness_core.spec import StackSpec

hookspec = pluggy.HookspecMarker("harness")
hookimpl = pluggy.HookimplMarker("harness")


@frozen
class Entry:
    """One registered thing.

    Args:
        id: what users write; unique among its kind.
        summary: one line for `harness list`.
        target: `"package.module:attribute"`, imported when the id is first used.
        extra: what `pip install` needs for it, such as `"mybench[server]"`; empty if nothing.
        helpers: for envs: a module of pure, self-contained functions that contracts may call.
    """

    id: str
    summary: str
    target: str
    extra: str = ""
    helpers: str = ""


@hookspec
def harness_envs() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Envs: subclasses of `ActionableEnv`, called as `cls(task=..., **options)`."""


@hookspec
def harness_components() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Components: frozen attrs subclasses of `Component`."""


@hookspec
def harness_adapters() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Adapters that turn one domain's observations into facts for the agent's harness state."""


@hookspec
def harness_strategies() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Rigger strategies: classes that write candidates and judge them."""


@hookspec
def harness_objectives() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Rigger objectives: classes that measure how near a batch of episodes is to a target."""


@hookspec
def harness_reward_terms() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Reward terms: functions of an episode, for training."""


@hookspec
def harness_policies() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Policies: classes called as `cls(**parameters)`, one instance per running episode."""


@hookspec
def harness_sources() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Sources of training envs: classes that yield the stacks a policy is to learn from."""


@hookspec
def harness_experiments() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Experiments of `nox -s reproduce`."""


@hookspec
def harness_commands() -> list[Entry]:  # type: ignore[empty-body]  # a spec
    """Subcommands of `harness`: functions or cyclopts apps."""


@hookspec
def harness_episode_started(spec: StackSpec, seed: int) -> None:
    """An episode begins in this process."""


@hookspec
def harness_episode_finished(episode: Episode) -> None:
    """An episode ended, well or not."""


@hookspec
def harness_run_finished(episodes: int, failed: int) -> None:
    """A pool has run all its units: how many episodes, how many of them with a failure."""


KINDS = {
    "env": "harness_envs",
    "component": "harness_components",
    "adapter": "harness_adapters",
    "strategy": "harness_strategies",
    "objective": "harness_objectives",
    "reward": "harness_reward_terms",
    "policy": "harness_policies",
    "source": "harness_sources",
    "experiment": "harness_experiments",
    "command": "harness_commands",
}
"""The kinds of things that can be registered, and the hook that names each."""
