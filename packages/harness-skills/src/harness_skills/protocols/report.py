"""A protocol's results as Markdown, in the layout of the paper's tables."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from harness_core.values import JsonDict

_MARKUP = re.compile(r"([|`\[\]!])")

SIMULATED = (
    "The policy is *simulated*: a scripted agent whose flaws go away when it reads the right "
    "words. What it scores says something about this machinery, and nothing about any model."
)


def markdown(results: JsonDict) -> str:
    """All tables."""
    parts = [f"# {results['title']}", _about(results)]
    if "simulated" in results["policy"]["id"]:
        parts.append(SIMULATED)
    if not any(row["skills"] for row in results["rows"]):
        parts.append("**No arm learned a skill, so the rows below compare nothing.**")
    parts.append(_main(results))
    if results["rounds"]:
        parts += ["## What was learned in which env", _rounds(results["rounds"])]
    parts += ["## Cost", _cost(results)]
    if results["problems"]:
        parts += [
            "## Problems",
            *(f"- {_cell(problem)}" for problem in dict.fromkeys(results["problems"])),
        ]
    return "\n\n".join(parts) + "\n"


def _about(results: JsonDict) -> str:
    scale, policy = results["scale"], results["policy"]
    model = policy["options"].get("model")
    return (
        f"Env `{results['env']}`, policy `{policy['id']}`{f' with `{model}`' if model else ''}, "
        f"seed {results['seed']}. Up to {scale['envs']} training envs with {scale['rollouts']} "
        f"rollouts each; {scale['test']} held-out tasks, each played once in every one of "
        f"{scale['runs']} runs, within {scale['max_steps']} steps. Rates are means over the runs "
        "with their standard deviation; n counts episodes. Differences are paired by task, with "
        "the 95 % bootstrap interval. Episodes that infrastructure ended are lost, not counted."
    )


def _main(results: JsonDict) -> str:
    rows = results["rows"]
    others = list(dict.fromkeys(name for row in rows for name in row["against"]))
    published = results["published"]
    head = ["source of skills", "envs", "skills", "success", "n", "steps"]
    head += [f"against {name}" for name in others]
    head += ["lost"] + (["published"] if published else [])
    cells = [
        [
            row["arm"],
            str(row["envs"]),
            str(row["skills"]),
            _score(row["score"]),
            str(row["score"]["n"]),
            "-" if row["steps"] is None else f"{row['steps']:.1f}",
            *(_difference(row["against"].get(name)) for name in others),
            str(row["lost"]),
            *([_published(published, row["arm"])] if published else []),
        ]
        for row in rows
    ]
    note = (
        f"\n\nPublished: {results['note']}, of large models; not comparable." if published else ""
    )
    return _table(head, cells) + note


def _score(score: JsonDict) -> str:
    return f"{score['mean']:.1%} ± {score['deviation']:.1%}" if score["n"] else "nothing counts"


def _difference(difference: JsonDict | None) -> str:
    if difference is None:
        return ""
    mean, low, high = (100 * difference[name] for name in ("mean", "low", "high"))
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"


def _published(published: JsonDict, arm: str) -> str:
    figure = published.get(arm, "")
    return figure if isinstance(figure, str) else f"{figure:g} %"


def _rounds(rounds: Sequence[JsonDict]) -> str:
    head = ["arm", "round", "task", "weakness", "components", "change", "solved", "skills"]
    return _table(
        head,
        [
            [
                row["arm"],
                str(row["round"]),
                row["task"],
                row["weakness"],
                ", ".join(row["components"]),
                row["change"],
                f"{row['solved']} of {row['played']}",
                "; ".join(row["skills"]),
            ]
            for row in rounds
        ],
    )


def _cost(results: JsonDict) -> str:
    roles = _table(
        ["role", "calls", "input tokens", "output tokens", "US dollars"],
        [
            [
                row["role"],
                str(row["calls"]),
                f"{row['input_tokens']:,}",
                f"{row['output_tokens']:,}",
                f"{row['cost']:.4f}",
            ]
            for row in results["spend"]
        ],
    )
    arms = _table(
        ["arm", "envs", "tokens in training rollouts", "tokens in the evaluation"],
        [
            [row["arm"], str(row["envs"]), _tokens(row["learning"]), _tokens(row["evaluation"])]
            for row in results["rows"]
        ],
    )
    return f"By role, every call of this run:\n\n{roles}\n\nOf the policy, by arm:\n\n{arms}"


def _tokens(usage: JsonDict) -> str:
    return f"{usage['input_tokens'] + usage['output_tokens']:,}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str) -> str:
    """What a model wrote, fit for one cell: no markup of its own."""
    plain = html.escape(" ".join(text.split())[:300], quote=False)
    return _MARKUP.sub(r"\\\1", plain)
