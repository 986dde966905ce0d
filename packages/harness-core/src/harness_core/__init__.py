"""Harness: reshape what an agent meets without touching the benchmark underneath."""

from harness_core.chain import Chain
from harness_core.component import Component, Composition, Identity, compose
from harness_core.contract import Contract, SourceContract
from harness_core.env import ActionableEnv
from harness_core.errors import HarnessError
from harness_core.layer import Layer
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

__all__ = [
    "Action",
    "ActionableEnv",
    "Blocked",
    "Chain",
    "Component",
    "Composition",
    "Contract",
    "EnvState",
    "HarnessError",
    "Identity",
    "Layer",
    "Observation",
    "ResetResult",
    "SourceContract",
    "StackSpec",
    "Stage",
    "StepResult",
    "Task",
    "Tool",
    "Verdict",
    "compose",
    "make",
    "restore",
    "snapshot",
    "spec_of",
]
