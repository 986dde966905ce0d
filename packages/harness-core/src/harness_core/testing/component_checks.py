"""`check_component`: does a component keep the promises of `Component`?"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import attrs

from harness_core.component import Component
from harness_core.env import ActionableEnv
from harness_core.layer import Layer
from harness_core.serial import component_of, digest_of, to_data
from harness_core.testing.case import Case
from harness_core.testing.env_checks import checks_of
from harness_core.testing.report import Check, run_checks
from harness_core.testing.tap import Tap
from harness_core.testing.walks import play
from harness_core.values import Action, Verdict


def check_component(
    component: Component,
    factory: Callable[[], ActionableEnv],
    *,
    steps: int = 12,
    actions: Sequence[Action | str | Mapping[str, Any]] = (),
) -> list[str]:
    """Checks that `component` is a component, and what it makes of an env still an env.

    Args:
        component: with arguments under which the env can be played.
        factory: makes the env to wrap, by `make`, so that snapshots can be built again.
        steps: length of the random walks that the checks play.
        actions: what to choose from where `observation.data` lists no `"admissible"` actions.

    Returns:
        The names of the checks done.

    Raises:
        ConformanceError: listing every broken promise.
    """
    fallback = tuple(Action.of(action) for action in actions)
    case = Case(lambda: _wrapped(component, factory), steps, fallback, base=False)
    checks: dict[str, Check] = {
        "frozen": lambda: _frozen(component),
        "equality": lambda: _equality(component),
        "spec": lambda: _spec(component),
        "layer": lambda: _layer(component, factory),
        "verdict": lambda: _verdict(component, factory, case),
    }
    return run_checks(type(component).__name__, checks | checks_of(case))


def _wrapped(component: Component, factory: Callable[[], ActionableEnv]) -> ActionableEnv:
    return component(factory())


def _frozen(component: Component) -> Iterator[str]:
    kind = type(component)
    if "__attrs_attrs__" not in vars(kind):
        yield f"{kind.__name__} is no attrs class of its own; decorate it with attrs.frozen."
        return
    for name in [attribute.name for attribute in attrs.fields(kind)]:
        try:
            setattr(component, name, getattr(component, name))
        except attrs.exceptions.FrozenInstanceError:
            continue
        yield f"{name} can be assigned; decorate the class with attrs.frozen."


def _equality(component: Component) -> Iterator[str]:
    if "__eq__" not in vars(type(component)):
        yield "the class does not compare its arguments; decorate it with attrs.frozen."
    if copy.deepcopy(component) != component:
        yield "a deep copy is not equal; fields must compare by content."
    for attribute in attrs.fields(type(component)):
        if not attribute.eq:
            yield f"field {attribute.name} does not count for equality; every argument must."
        if not attribute.init:
            yield f"field {attribute.name} is no constructor argument, so a spec would lose it."


def _spec(component: Component) -> Iterator[str]:
    data = to_data(component)
    text = json.dumps(data)
    read = component_of(json.loads(text))
    for name in [attribute.name for attribute in attrs.fields(type(component))]:
        given, came_back = getattr(component, name), getattr(read, name, None)
        if name not in data:
            yield f"argument {name} is missing in the spec {text}."
        elif came_back != given:
            yield (
                f"argument {name} comes back from JSON as {came_back!r}, not {given!r}. Annotate "
                "it with its exact type."
            )
    if read != component:
        yield "what is read back from JSON is not equal."
    if digest_of(to_data(read)) != digest_of(data):
        yield "what is read back from JSON has another digest."


def _layer(component: Component, factory: Callable[[], ActionableEnv]) -> Iterator[str]:
    with closing(factory()) as env, closing(component(env)) as wrapped:
        inner = wrapped
        while inner is not env and isinstance(inner, Layer):
            if inner.component != component:
                yield f"the layer's component is {inner.component!r}, not the one that made it."
            inner = inner.inner
        if inner is not env:
            yield (
                f"the env is not inside what the component returned, a {type(wrapped).__name__}. "
                "Return a Layer around the env that was given."
            )


def _verdict(
    component: Component, factory: Callable[[], ActionableEnv], case: Case
) -> Iterator[str]:
    actions = case.walk(0)
    with case.env() as env:
        free = env.verifier_cost == "free"
    for length in range(0 if free else len(actions), len(actions) + 1):
        tap = Tap(factory())
        with closing(component(tap)) as wrapped, closing(factory()) as alone:
            wrapped.reset(seed=0)
            play(wrapped, actions[:length])
            alone.reset(seed=0)
            for action in tap.executed:
                alone.step(action)
            expected = alone.evaluate()
            if isinstance(wrapped, Layer) and list(wrapped.judged()) != [wrapped.inner]:
                parts = tuple(child.evaluate() for child in wrapped.judged())
                expected = Verdict.conjunction(parts) if len(parts) > 1 else parts[0]
            if wrapped.evaluate() != expected:
                yield (
                    f"after {length} actions the verdict is {wrapped.evaluate()}, but the "
                    f"benchmark's own verifier says {expected}. A component never decides success."
                )
                return
