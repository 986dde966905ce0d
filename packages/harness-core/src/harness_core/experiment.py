"""Experiments: what `harness reproduce` runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from harness_core.values import JsonDict


@frozen
class Setup:
    """How an experiment is run.

    Args:
        scale: one of the experiment's `scales`.
        seed: draws the tasks and the rollouts; another seed is another sample of both.
        folder: exists, and gets the results; a second run with the same setup goes on there.
        workers: episodes at a time.
        tell: called with a line of text at every stage.
        options: the experiment's own, by name.
    """

    scale: str
    seed: int
    folder: Path
    workers: int
    tell: Callable[[str], None]
    options: JsonDict = field(factory=dict)


class Experiment(Protocol):
    """What an entry of the kind `experiment` is: something that runs at a scale."""

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales; `"default"` is among them."""

    def run(self, setup: Setup) -> str:
        """Runs, writes its results into `setup.folder`, and returns its report as Markdown.

        Raises:
            HarnessError: it cannot be run so; what was done is kept.
        """
