"""Hypothesis strategies for envs, actions, components and stacks.

Everything drawn is small, deterministic and fast, and needs no benchmark: the env is
`CorridorEnv`, registered as `"corridor"` by importing this module.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harness_core.chain import Chain
from harness_core.component import Component, Identity
from harness_core.contract import Contract
from harness_core.env import ActionableEnv
from harness_core.registry import register
from harness_core.spec import StackSpec
from harness_core.stage import Stage
from harness_core.testing.contracts import CountSteps, Forbid, Handover, KeepWords, Swap
from harness_core.testing.corridor import TASKS, WORDS
from harness_core.values import Action, JsonDict, Tool

register("harness_core.testing.plugin")

_UPPER = """
class Upper(Contract):
    def filter_observation(self, observation, env_state):
        return observation.replace(text=observation.text.upper())
"""

_NO_LEFT = """
class NoLeft(Contract):
    def filter_action(self, action, env_state):
        return Blocked("not left") if action.text == "left" else action
"""

_COUNT = """
class Count(Contract):
    def modify_transition(self, action, response, env_state):
        count = env_state.extras["count"] = env_state.extras.get("count", 0) + 1
        return response.replace(info={**response.info, "count": count})
"""

SOURCES = (_UPPER, _NO_LEFT, _COUNT)
"""Texts of contracts, as a designer might write them."""

JUNK = st.text(max_size=8)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | JUNK,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(JUNK, inner, max_size=3),
    max_leaves=6,
)
"""JSON values."""


def actions(env: ActionableEnv) -> st.SearchStrategy[Action]:
    """Actions for a running `env`: mostly what it lists or offers as tools, some junk.

    Args:
        env: after its reset; read now, so draw anew after a step.
    """
    listed = [Action(text) for text in env.observe().data.get("admissible", ())]
    calls = [_calls(tool) for tool in env.tools()]
    junk = JUNK.map(Action) | st.builds(Action, tool=JUNK, arguments=st.just({}))
    sensible = [st.sampled_from(listed)] * 4 if listed else []
    return st.one_of(*sensible, *calls, junk)


def _calls(tool: Tool) -> st.SearchStrategy[Action]:
    properties: JsonDict = tool.parameters.get("properties", {})
    arguments = {name: _arguments(schema) for name, schema in properties.items()}
    return st.fixed_dictionaries(arguments).map(tool.call)


def _arguments(schema: JsonDict) -> st.SearchStrategy[Any]:
    """Values for one argument: of its enum, else JSON of any kind."""
    return st.sampled_from(schema["enum"]) if "enum" in schema else json_values


def env_specs() -> st.SearchStrategy[StackSpec]:
    """Bare envs, as specs: any task, with and without chance, a limit, either kind of snapshot."""
    options = st.fixed_dictionaries(
        {},
        optional={
            "slip": st.sampled_from([0.0, 0.3]),
            "limit": st.sampled_from([0, 5]),
            "replay": st.booleans(),
        },
    )
    tasks = st.sampled_from([None, *TASKS])
    return st.builds(StackSpec, st.just("corridor"), tasks, options=options)


def envs() -> st.SearchStrategy[ActionableEnv]:
    """Bare envs, not yet reset."""
    return env_specs().map(StackSpec.build)


def components(*, chain: bool = True, source: bool = False) -> st.SearchStrategy[Component]:
    """Components of every kind.

    Args:
        chain: with `Chain` among them.
        source: with source contracts among them, each episode of which starts a process.
    """
    kinds: list[st.SearchStrategy[Component]] = [stages(), contracts(), st.just(Identity())]
    if source:
        kinds.append(st.sampled_from(SOURCES).map(Contract.from_source))
    if chain:
        kinds.append(chains())
    return st.one_of(kinds)


def stages() -> st.SearchStrategy[Component]:
    """Stages that, on a bare `CorridorEnv`, replay without an error."""
    return st.sampled_from([(), ("switch",), ("switch", "switch")]).map(Stage)


def contracts() -> st.SearchStrategy[Component]:
    """Contracts as Python classes."""
    words = st.sampled_from(WORDS)
    return st.one_of(
        st.builds(KeepWords, st.integers(0, 6)),
        st.builds(Forbid, words),
        st.builds(Swap, words, words),
        st.builds(CountSteps, st.integers(0, 4)),
    )


@st.composite
def chains(draw: st.DrawFn) -> Component:
    """Chains of two or three segments, with and without a route or a choice of the required."""
    extension = tuple(draw(st.lists(stack_specs(max_size=1, chain=False), min_size=1, max_size=2)))
    count = len(extension) + 1
    route = draw(st.none() | st.builds(Handover, st.integers(1, count - 1)))
    segments = st.sets(st.integers(0, count - 1)).map(lambda drawn: tuple(sorted({0, *drawn})))
    return Chain(extension, route, draw(st.none() | segments))


def stack_specs(
    *, max_size: int = 3, chain: bool = True, source: bool = False
) -> st.SearchStrategy[StackSpec]:
    """Stacks as data.

    Args:
        max_size: at most so many components.
        chain: see `components`.
        source: see `components`.
    """
    layers = st.lists(components(chain=chain, source=source), max_size=max_size)
    return st.builds(lambda spec, drawn: spec.wrapped(*drawn), env_specs(), layers)


def stacks(
    *, max_size: int = 3, chain: bool = True, source: bool = False
) -> st.SearchStrategy[ActionableEnv]:
    """Stacks, not yet reset. A stage inside may meet a contract that refuses its actions, so
    `reset` may raise `StageError`."""
    return stack_specs(max_size=max_size, chain=chain, source=source).map(StackSpec.build)
