"""`harness reproduce`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Protocol

from cyclopts import Parameter

from harness_core.cli.console import note, say, table
from harness_core.errors import HarnessError, UnknownIdError
from harness_core.registry import load, registry


class Experiment(Protocol):
    """What an entry of the kind `experiment` is: something that runs at a scale.

    Args:
        scales: their names; `"default"` is among them.
    """

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales."""

    def run(
        self, scale: str, seed: int, folder: Path, workers: int, tell: Callable[[str], None]
    ) -> str:
        """Runs, writes its report into `folder`, and returns it as Markdown.

        Args:
            scale: one of `scales`.
            seed: draws the tasks and the rollouts; another seed is another sample of both.
            folder: exists; a second run with the same arguments goes on there.
            workers: episodes at a time.
            tell: called with a line of text at every stage.
        """


def reproduce(
    name: str = "target-band",
    /,
    *,
    show_list: Annotated[bool, Parameter("--list")] = False,
    scale: str = "default",
    seed: int = 1,
    out: Path | None = None,
    workers: int | None = None,
) -> int:
    """Runs an experiment and reports it beside the published figures.

    The same command run again goes on where the last one stopped.

    For example::

        harness reproduce --list
        harness reproduce target-band
        harness reproduce target-band --scale small
        harness reproduce target-band --seed 2

    Args:
        name: id of the experiment.
        show_list: list the experiments instead.
        scale: how much is run; each experiment has at least `default`.
        seed: draws the tasks and the rollouts that measure them.
        out: folder of the results; by default results/NAME-SCALE-SEED.
        workers: episodes at a time; by default one per core.
    """
    if show_list:
        entries = registry().entries("experiment")
        rows = [[id, claims[0][1].summary] for id, claims in entries.items()]
        table(["experiment", "what it shows"], rows)
        return 0
    experiment: Experiment = load("experiment", name)
    if scale not in experiment.scales:
        raise UnknownIdError("scale", scale, experiment.scales)
    folder = out or Path("results") / f"{name}-{scale}-{seed}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessError(f"Cannot make {folder}: {error}. Choose another --out.") from error
    try:
        report = experiment.run(scale, seed, folder, workers or os.cpu_count() or 1, note)
    except KeyboardInterrupt:
        note(f"Stopped. What was done is in {folder}; the same command goes on from there.")
        raise
    say(report)
    say(f"Written to {folder}/results.md, results.html and results.json.")
    return 0
