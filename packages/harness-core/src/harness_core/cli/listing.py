"""`harness list`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from harness_core.cli.console import say, say_json, table
from harness_core.cli.extras import missing_packages
from harness_core.cli.parsing import parse_options
from harness_core.errors import HarnessError, UnknownIdError
from harness_core.hookspecs import KINDS
from harness_core.registry import registry
from harness_core.values import JsonDict


def show_list(
    kind: str | None = None,
    env: str | None = None,
    /,
    *,
    option: list[str] | None = None,
    as_json: Annotated[bool, Parameter("--json")] = False,
) -> None:
    """Shows what is registered, or the tasks of an env.

    For example::

        harness list
        harness list policy
        harness list tasks ENV --option split=unseen

    Args:
        kind: env, component, policy, strategy, objective, ...; or tasks.
        env: whose tasks to list.
        option: name=value for the env's constructor; JSON or text; may be repeated.
        as_json: print one JSON document.
    """
    if kind == "tasks":
        if env is None:
            raise HarnessError("Whose tasks? Name an env: `harness list tasks ENV`.")
        _list_tasks(env, parse_options(option), as_json)
        return
    if kind is not None and kind not in KINDS:
        raise UnknownIdError("kind", kind, [*KINDS, "tasks"])
    if env is not None or option:
        raise HarnessError("Only `harness list tasks ENV` takes an env and its options.")
    _list_entries(list(KINDS) if kind is None else [kind], as_json)


def _list_tasks(env: str, options: JsonDict, as_json: bool) -> None:
    from harness_core.serial import to_data
    from harness_core.spec import make

    with make(env, **options) as made:
        tasks = made.list_tasks()
    if as_json:
        say_json({"env": env, "tasks": [to_data(task) for task in tasks]})
    else:
        rows = [(task.id, task.family, task.split, task.goal) for task in tasks]
        table(["task", "family", "split", "goal"], rows)


def _list_entries(kinds: list[str], as_json: bool) -> None:
    found: list[JsonDict] = [
        {
            "kind": kind,
            "id": entry.id,
            "summary": entry.summary,
            "plugin": plugin,
            "extra": entry.extra,
            "missing": missing_packages(entry.extra) if entry.extra else [],
        }
        for kind in kinds
        for claims in registry().entries(kind).values()
        for plugin, entry in claims
    ]
    broken = registry().broken
    if as_json:
        say_json({"entries": found, "broken": broken})
        return
    table(["kind", "id", "summary", "plugin", "needs"], [_cells(entry) for entry in found])
    for name, why in broken.items():
        say(f"Plugin {name} is broken: {why}")


def _cells(entry: JsonDict) -> list[str]:
    needs = f"pip install '{entry['extra']}'" if entry["missing"] else ""
    return [entry["kind"], entry["id"], entry["summary"], entry["plugin"], needs]
