"""From a written candidate to components."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_core import Chain, StackSpec, Stage
from harness_core.contract import SourceContract
from harness_core.models.answers import Unusable
from harness_core.values import Action
from harness_rigger.designer.answers import Proposal
from harness_rigger.designer.building import build
from harness_rigger.search.contracts import EarlyEnd

TOY = StackSpec("toy24", "1-2-3-4")
RULE = "class C(Contract):\n    pass\n"


def built(*components: dict[str, Any], extensions: tuple[str, ...] = ()) -> tuple[object, ...]:
    return build(Proposal("as told", components), TOY, extensions)


def test_every_kind_of_component_is_built() -> None:
    """A stage of texts and tool calls, a contract with the env's helpers, a chain, and a
    registered one; in the order in which they are written."""
    call = {"tool": "combine", "arguments": {"left": 1, "operator": "+", "right": 2}}
    stage, contract, chain, early = built(
        {"kind": "stage", "actions": ["combine 3 * 4", call]},
        {"kind": "contract", "source": f"```python\n{RULE}```"},
        {"kind": "chain", "task": "1-1-1-8"},
        {"kind": "registered", "spec": {"type": "early-end", "steps": 7}},
        extensions=("1-1-1-8",),
    )
    assert stage == Stage(["combine 3 * 4", Action.of(call)])
    assert contract == SourceContract(RULE.rstrip("\n"), "toy24")
    assert chain == Chain(StackSpec("toy24", "1-1-1-8"))
    assert early == EarlyEnd(7)


def test_the_kind_may_be_left_out() -> None:
    """What a component holds says what it is."""
    assert built({"actions": ["combine 3 * 4"]}) == (Stage(["combine 3 * 4"]),)
    assert built({"type": "early-end", "steps": 7}) == (EarlyEnd(7),)


@pytest.mark.parametrize(
    ("component", "told"),
    [
        ({"kind": "stage"}, "at least one action"),
        ({"kind": "stage", "actions": "reset"}, "takes a list of actions"),
        ({"kind": "stage", "actions": [3]}, "is no action"),
        ({"kind": "contract"}, 'its Python text in "source"'),
        ({"kind": "contract", "source": "class C(Contract):\n  def f("}, "line 2: invalid Python"),
        ({"kind": "chain", "task": "1-1-1-8"}, "write no chain"),
        ({"kind": "registered", "spec": {"type": "early-end", "stops": 7}}, "early-end"),
        ({"kind": "reward", "source": ""}, "stage, contract, chain, registered"),
    ],
)
def test_what_cannot_be_built_is_told(component: dict[str, Any], told: str) -> None:
    """The message names the component and what to write instead."""
    with pytest.raises(Unusable, match=told):
        built(component)


def test_all_problems_are_told_at_once() -> None:
    """A designer repairs several components in one answer."""
    with pytest.raises(Unusable) as raised:
        built({"kind": "stage"}, {"kind": "contract", "source": "import os"})
    assert "Component 1 of 2" in str(raised.value)
    assert "Component 2 of 2" in str(raised.value)


@pytest.mark.parametrize(
    "extension",
    [
        {"env": "toy24", "task": "1-1-1-8"},
        {"env": "ladder", "task": "rung-1"},
        {"env": "toy24", "task": "1-2-3-4", "options": {"other": 1}},
    ],
)
def test_no_spec_leads_around_the_allowed_tasks(extension: dict[str, Any]) -> None:
    """A chain that is hidden in a registered component may not lead to other tasks either."""
    chain = {"type": "chain", "extension": [{**extension, "components": []}]}
    wrapped = {"type": "composition", "components": [chain]}
    for spec in (chain, wrapped):
        with pytest.raises(Unusable, match="A chain"):
            built({"kind": "registered", "spec": spec}, extensions=("1-2-3-4",))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
written = st.fixed_dictionaries(
    {"kind": st.sampled_from(["stage", "contract", "chain", "registered", ""]) | values},
    optional=dict.fromkeys(("actions", "source", "task", "spec", "type"), values),
)


@given(written)
def test_no_component_makes_the_builder_fail(component: dict[str, Any]) -> None:
    """Whatever a component holds, it is built or found unusable."""
    with suppress(Unusable):
        build(Proposal("as drawn", (component,)), TOY, ())
