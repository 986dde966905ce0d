"""Registers the ladder, and logs the episodes begun where `LADDER_LOG` names a file."""

from __future__ import annotations

import os
from pathlib import Path

from harness_core.hookspecs import Entry, hookimpl
from harness_core.spec import StackSpec


@hookimpl
def harness_envs() -> list[Entry]:
    return [Entry("ladder", "climb to the top", "support.ladder:Ladder")]


@hookimpl
def harness_episode_started(spec: StackSpec, seed: int) -> None:
    if "LADDER_LOG" in os.environ:
        with Path(os.environ["LADDER_LOG"]).open("a") as log:
            log.write(f"{spec.task} {seed}\n")
