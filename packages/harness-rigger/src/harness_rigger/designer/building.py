"""Turns what a designer wrote into components, and says exactly what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from attrs import evolve, fields, has

from harness_core.chain import Chain
from harness_core.component import Component
from harness_core.contract import Contract
from harness_core.errors import HarnessError
from harness_core.models.answers import Unusable
from harness_core.registry import registry
from harness_core.serial import component_of
from harness_core.spec import StackSpec
from harness_core.stage import Stage
from harness_core.values import JsonDict
from harness_rigger.designer.answers import Proposal

_KINDS = {"actions": "stage", "source": "contract", "task": "chain", "spec": "registered"}
_FENCED = re.compile(r"^\s*```[\w+-]*\n(.*?)\n?```\s*$", re.DOTALL)


def build(
    proposal: Proposal, stack: StackSpec, extensions: Collection[str]
) -> tuple[Component, ...]:
    """The components of a proposal.

    Args:
        proposal: as it was read.
        stack: the env as it is.
        extensions: ids of the tasks of the same env that a chain may lead to.

    Raises:
        Unusable: every problem of every component.
    """
    built: list[Component] = []
    problems = []
    for number, written in enumerate(proposal.components, start=1):
        try:
            component = _one(written, stack, extensions)
            _check_tasks(component, stack, extensions)
            built.append(component)
        except (HarnessError, Unusable) as error:
            problems.append(f"Component {number} of {len(proposal.components)}: {error}")
    if problems:
        raise Unusable("\n".join(problems))
    return tuple(built)


def helpers_of(stack: StackSpec) -> str:
    """The id of the env, if it lends helper functions to contracts; else empty."""
    return stack.env if registry().entry("env", stack.env).helpers else ""


def _one(written: JsonDict, stack: StackSpec, extensions: Collection[str]) -> Component:
    kind = str(written.get("kind", "")).strip().lower()
    if kind not in _KINDS.values():
        named = [_KINDS[field] for field in _KINDS if written.get(field)]
        kind = named[0] if named else "registered" if "type" in written else kind
    if kind == "stage":
        actions = written.get("actions")
        if not actions:
            raise Unusable('A stage has a list of at least one action in "actions".')
        return Stage(actions)
    if kind == "contract":
        return Contract.from_source(_source(written), helpers=helpers_of(stack))
    if kind == "chain":
        task = str(written.get("task", ""))
        _check_task(task, extensions)
        return Chain(evolve(stack, task=task, components=()))
    if kind == "registered":
        spec = written.get("spec") or {k: v for k, v in written.items() if k != "kind"}
        return component_of(spec)
    raise Unusable(f'"kind" is {", ".join(_KINDS.values())}; got {kind!r:.60}.')


def _source(written: JsonDict) -> str:
    source = written.get("source")
    if not isinstance(source, str) or not source.strip():
        raise Unusable('A contract has its Python text in "source".')
    fenced = _FENCED.match(source)
    return fenced.group(1) if fenced else source


def _check_tasks(component: Component, stack: StackSpec, extensions: Collection[str]) -> None:
    """Whatever way a task is named, it is one of those that may be."""
    for spec in _specs(component):
        if spec.env != stack.env or spec.options != stack.options:
            raise Unusable(f"A chain leads to tasks of {stack.env!r} as it is set up here alone.")
        _check_task(spec.task or "", extensions)


def _check_task(task: str, extensions: Collection[str]) -> None:
    if task not in extensions:
        known = ", ".join(extensions) if extensions else "none: write no chain"
        raise Unusable(f"A chain may not lead to task {task!r:.80}. It may lead to {known}.")


def _specs(value: Any) -> Iterator[StackSpec]:
    """All stacks inside a value."""
    if isinstance(value, StackSpec):
        yield value
    if isinstance(value, tuple | list):
        for each in value:
            yield from _specs(each)
    elif isinstance(value, Component | StackSpec) and has(type(value)):
        for each in fields(type(value)):
            yield from _specs(getattr(value, each.name))
