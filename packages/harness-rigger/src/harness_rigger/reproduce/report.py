"""Results as JSON, Markdown, and an HTML page with plots."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

from harness_core.errors import StoreError
from harness_core.registry import import_extra
from harness_core.values import JsonDict

CAVEAT = (
    "The policy is a scripted household agent and the games are generated; the published "
    "figures are of an LLM policy on the benchmark's own games. The two stand side by side for "
    "orientation and are not comparable."
)


FEW = "by the first 10 rollouts, as many as published"


def write_report(folder: Path, results: Sequence[JsonDict]) -> str:
    """Writes `results.json`, `results.md` and `results.html`, and returns the Markdown.

    Raises:
        StoreError: a file cannot be written.
        MissingExtraError: what draws the report is not installed.
    """
    import_extra("markdown_it", "harness-rigger[report]")
    text = markdown(results)
    pages = {
        "results.json": json.dumps(list(results), indent=2),
        "results.md": text,
        "results.html": _page(results),
    }
    for name, content in pages.items():
        try:
            (folder / name).write_text(content, encoding="utf-8")
        except OSError as error:
            raise StoreError(f"Cannot write {folder / name}: {error}.") from error
    return text


def markdown(results: Sequence[JsonDict]) -> str:
    """The tables: shares of tasks in band, then every task."""
    lines = ["# Target bands", "", CAVEAT, ""]
    lines += _table(
        ["objective", "tasks", "original in band", "reshaped in band", FEW, "published"],
        [
            [
                result["objective"],
                str(result["original"]["n"]),
                _share(result["original"]),
                _share(result["reshaped"]),
                _share(result["few"]),
                f"{result['published']['original']:.1%} -> {result['published']['reshaped']:.1%}",
            ]
            for result in results
        ],
    )
    for result in results:
        lines += ["", f"## {result['objective']}", "", _setup(result), ""]
        lines += _table(
            ["task", "outcome", "original", "reshaped", "in band", "rollouts", "change", "why not"],
            [_task_row(task) for task in result["tasks"]],
        )
    return "\n".join(lines) + "\n"


def _setup(result: JsonDict) -> str:
    scale, policy = result["scale"], result["policy"]
    return (
        f"Policy `{policy['id']}` with {json.dumps(policy['options'])}, {scale['tasks']} generated "
        f"ALFWorld games (seed {result['seed']}, {scale['receptacles'] or 'as many'} receptacles"
        f"{'' if scale['receptacles'] else ' as the benchmark'}), budget 50 steps. Every task was "
        f"measured with {scale['rollouts']} fresh rollouts before and after; accepted stacks from "
        "their JSON alone in a fresh process. Shares with Wilson's 95 % interval."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _share(share: JsonDict) -> str:
    return f"{share['share']:.1%} [{share['low']:.1%}, {share['high']:.1%}]"


def _task_row(task: JsonDict) -> list[str]:
    return [
        task["task"].rsplit("/", 1)[0].split("/")[-1],
        task["outcome"],
        _value(task, "original"),
        _value(task, "reshaped"),
        "yes" if task["in_band"] else "no",
        str(task["rollouts"]),
        task["change"],
        task["why"],
    ]


def _value(task: JsonDict, which: str) -> str:
    value, figures = task[f"{which}_value"], task[which]
    if value is None:
        return f"no success of {figures['n']}"
    if value > 1:
        return f"{value:.1f} steps (of {figures['successes']} successes)"
    low, high = figures["interval"]
    return f"{value:.0%} [{low:.0%}, {high:.0%}] (n = {figures['n']})"


def _page(results: Sequence[JsonDict]) -> str:
    plots = "\n".join(_plot(result) for result in results)
    from markdown_it import MarkdownIt

    body = MarkdownIt().enable("table").render(markdown(results))
    return (
        "<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>Target bands</title>\n"
        "<style>body{font-family:sans-serif;max-width:70em;margin:2em auto}"
        "td,th{padding:.2em .6em;text-align:left}tr:nth-child(even){background:#f6f6f6}</style>\n"
        f"{plots}\n{body}</html>"
    )


def _plot(result: JsonDict) -> str:
    """Every task's value before and after, with the band, as an SVG picture."""
    import_extra("matplotlib", "harness-rigger[report]")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 3.2))
    for which, marker in (("original", "o"), ("reshaped", "s")):
        points = [
            (number, task[f"{which}_value"])
            for number, task in enumerate(result["tasks"], start=1)
            if task[f"{which}_value"] is not None
        ]
        axes.scatter(*zip(*points, strict=True) if points else ([], []), marker=marker, label=which)
    low, high = result["band"]
    axes.axhspan(low, high, alpha=0.15, label="band")
    axes.set_xlabel("task")
    axes.set_title(result["objective"])
    axes.legend(loc="best")
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", bbox_inches="tight")
    pyplot.close(figure)
    return drawn.getvalue()[drawn.getvalue().index("<svg") :]
