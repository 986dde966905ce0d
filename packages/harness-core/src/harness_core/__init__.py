"""Harness: reshape what an agent meets without touching the benchmark underneath."""

from typing import TYPE_CHECKING, Any

from harness_core.chain import Chain
from harness_core.component import Component, Composition, Identity, compose
from harness_core.contract import Contract, SourceContract
from harness_core.env import ActionableEnv
from harness_core.errors import HarnessError
from harness_core.hookspecs import Entry, hookimpl
from harness_core.layer import Layer
from harness_core.replay_env import ReplayEnv
from harness_core.snapshots import restore, snapshot
from harness_core.spec import StackSpec, make, spec_of
from harness_core.stage import Stage
from harness_core.values import (
    Action,
    Blocked,
    EnvState,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Verdict,
)

if TYPE_CHECKING:
    from harness_core.episode import run_episode
    from harness_core.rollout import RolloutPool

_LATE = {"run_episode": "harness_core.episode", "RolloutPool": "harness_core.rollout"}


def __getattr__(name: str) -> Any:
    """Names that bring processes and files with them are imported when they are first used."""
    if name not in _LATE:
        raise AttributeError(f"module 'harness_core' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)


__all__ = [
    "Action",
    "ActionableEnv",
    "Blocked",
    "Chain",
    "Component",
    "Composition",
    "Contract",
    "Entry",
    "EnvState",
    "HarnessError",
    "Identity",
    "Layer",
    "Observation",
    "ReplayEnv",
    "ResetResult",
    "RolloutPool",
    "SourceContract",
    "StackSpec",
    "Stage",
    "StepResult",
    "Task",
    "Tool",
    "Verdict",
    "compose",
    "hookimpl",
    "make",
    "restore",
    "run_episode",
    "snapshot",
    "spec_of",
]
