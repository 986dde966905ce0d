"""`harness show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from harness_core.cli.console import say, say_json, table
from harness_core.cli.models import print_spend, stored_spend
from harness_core.cli.parsing import existing_run
from harness_core.cli.rigging import print_riggings, riggings
from harness_core.cli.summary import print_summary, summarise
from harness_core.episode import Episode, Step
from harness_core.errors import UnknownIdError
from harness_core.serial import digest_of, to_data
from harness_core.store import RunStore
from harness_core.values import JsonDict

KEY = 10
"""Digits of a key in a list; enough to name an episode of any run."""


def show(
    path: Path,
    prefix: str | None = None,
    /,
    *,
    every: Annotated[bool, Parameter("--episodes")] = False,
    rigged: Annotated[bool, Parameter("--candidates")] = False,
    as_json: Annotated[bool, Parameter("--json")] = False,
) -> None:
    """Shows a run as a table, or one of its episodes step by step.

    For example::

        harness show runs/ENV-random-1a2b3c4d
        harness show runs/ENV-random-1a2b3c4d --episodes
        harness show runs/ENV-random-1a2b3c4d 90d1f3

    Args:
        path: folder or .db file of the run.
        prefix: the first digits of an episode's key.
        every: list every episode with its key.
        rigged: list what a rigging diagnosed, tried and decided.
        as_json: print one JSON document.
    """
    with RunStore(existing_run(path)) as store:
        found = {digest_of(unit): (unit, episode) for unit, episode in store.episodes()}
        tried = riggings(store)
        spend = stored_spend(store)
        command, units = store.meta("command"), int(store.meta("units", "0"))
    if prefix is not None:
        key = _find(prefix, list(found))
        _show_episode(key, *found[key], as_json)
        return
    episodes = [episode for _, episode in found.values()]
    lines = [_line(key, episode) for key, (_, episode) in found.items()]
    if as_json:
        rows = [row.to_dict() for row in summarise(episodes)]
        shown = {"command": command, "units": units, "families": rows, "episodes": lines}
        shown["spend"] = to_data(spend)
        say_json({**shown, **({"riggings": tried} if rigged else {})})
        return
    if rigged:
        print_riggings(tried)
    if every:
        table(list(lines[0]) if lines else [], [_cells(line) for line in lines])
        say()
    candidates = sum(len(rigging["trials"]) for rigging in tried)
    if candidates:
        episodes = [e for unit, e in found.values() if not unit["stack"]["components"]]
        say(
            f"A rigging with {candidates} candidates; its corpus.jsonl has their figures."
            " `--candidates` lists them."
        )
        say("The env as it is:")
    print_summary(episodes)
    print_spend(spend)
    if len(found) < units:
        say(f"{len(found)} of {units} episodes. Go on with: {command}")


def _find(prefix: str, keys: list[str]) -> str:
    near = [key for key in keys if key.startswith(prefix.lower())]
    if len(near) == 1:
        return near[0]
    hint = "`harness show RUN --episodes` lists all."
    raise UnknownIdError("one episode", prefix, [key[:KEY] for key in near or keys], hint)


def _line(key: str, episode: Episode) -> JsonDict:
    return {
        "key": key,
        "task": episode.task.id,
        "seed": episode.seed,
        "outcome": _outcome(episode),
        "ending": episode.ending,
        "steps": len(episode.steps),
    }


def _outcome(episode: Episode) -> str:
    if episode.failure is not None:
        return f"failed ({episode.failure.fault})"
    return "solved" if episode.success else "not solved"


def _cells(line: JsonDict) -> list[str]:
    return [str(value)[:KEY] if name == "key" else str(value) for name, value in line.items()]


def _show_episode(key: str, unit: JsonDict, episode: Episode, as_json: bool) -> None:
    if as_json:
        say_json({"key": key, "unit": unit, "episode": to_data(episode)})
        return
    say(f"Episode {key}")
    say(f"Task {episode.task.id}, seed {episode.seed}, policy {unit['policy']['id']}")
    say(f"Goal: {episode.task.goal}\n\n{episode.start.text}")
    for number, step in enumerate(episode.steps, start=1):
        _show_step(number, step)
    say(f"\n{_outcome(episode)}, {episode.ending} after {len(episode.steps)} steps")
    if episode.failure is not None:
        say(f"{episode.failure.error}: {episode.failure.message}\n{episode.failure.trace}")
    elif episode.verdict is not None:
        say(f"Score {episode.verdict.score:g}, metrics {episode.verdict.metrics}")


def _show_step(number: int, step: Step) -> None:
    say(f"\n[{number}] > {step.action}")
    if step.text and step.text != str(step.action):
        say(f"    policy said: {step.text}")
    if step.info.get("reasoning"):
        say(f"    reasoning: {step.info['reasoning']}")
    if step.blocked:
        say(f"    blocked: {step.blocked}")
    elif step.invalid:
        say(f"    invalid: {step.invalid}")
    elif step.executed is not None and step.executed != step.action:
        say(f"    executed: {step.executed}")
    say(step.shown.text)
    if step.raw is not None:
        say(f"    the env said: {step.raw.text}")
