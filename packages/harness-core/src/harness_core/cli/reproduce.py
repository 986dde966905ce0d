"""`harness reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from harness_core.cli.console import note, say, table
from harness_core.cli.doctor import cores
from harness_core.cli.parsing import parse_options
from harness_core.errors import HarnessError, UnknownIdError
from harness_core.experiment import Experiment, Setup
from harness_core.registry import load, registry
from harness_core.serial import digest_of


def reproduce(
    name: str = "target-band",
    /,
    *,
    show_list: Annotated[bool, Parameter("--list")] = False,
    scale: str = "default",
    seed: int = 1,
    option: list[str] | None = None,
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
        harness reproduce skills --scale smoke --option env=toy24

    Args:
        name: id of the experiment.
        show_list: list the experiments instead.
        scale: how much is run; each experiment has at least `default`.
        seed: draws the tasks and the rollouts that measure them.
        option: name=value for the experiment; JSON or text; may be repeated.
        out: folder of the results; by default results/NAME-SCALE-SEED, with a digest of the
            options if there are any.
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
    at_work = cores() if workers is None else workers
    if at_work < 1:
        raise HarnessError(f"--workers is a whole number from 1; got {at_work}.")
    options = parse_options(option)
    chosen = f"-{digest_of(options)[:8]}" if options else ""
    folder = out or Path("results") / f"{name}-{scale}-{seed}{chosen}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessError(f"Cannot make {folder}: {error}. Choose another --out.") from error
    try:
        report = experiment.run(Setup(scale, seed, folder, at_work, note, options))
    except KeyboardInterrupt:
        note(f"Stopped. What was done is in {folder}; the same command goes on from there.")
        raise
    say(report)
    say(f"Written to {folder}.")
    return 0
