import json

import attrs
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from harness_core import (
    Action,
    Chain,
    Component,
    Composition,
    Contract,
    Identity,
    StackSpec,
    Stage,
    restore,
    snapshot,
)
from harness_core.registry import Registry, load
from harness_core.serial import canonical, digest_of, from_data, to_data
from harness_core.testing.contracts import CountSteps, Forbid, Handover, KeepWords, Swap
from harness_core.testing.strategies import SOURCES, json_values, stack_specs
from support.components import Pair
from support.draws import seeds, walks
from support.playing import Player

TEXTS = st.text(max_size=12)
OBJECTS = st.dictionaries(TEXTS, json_values, max_size=3)
ACTIONS = st.builds(Action, TEXTS, TEXTS, OBJECTS)
SPECS = st.builds(StackSpec, TEXTS, st.none() | TEXTS, options=OBJECTS)

ROUTES = st.builds(KeepWords, st.integers())
EXTENSIONS = st.lists(SPECS, min_size=3, max_size=4).map(tuple)
REQUIRED = st.none() | st.lists(st.integers(0, 3)).map(lambda drawn: (0, *drawn))
NAMES = st.sampled_from(["", "toy24", "corridor"])

BY_ID = {
    "identity": st.just(Identity()),
    "composition": st.lists(st.builds(KeepWords, st.integers()), max_size=3).map(Composition),
    "stage": st.lists(ACTIONS, max_size=4).map(Stage),
    "contract": st.builds(load("component", "contract"), st.sampled_from(SOURCES), NAMES),
    "chain": st.builds(Chain, EXTENSIONS, st.none() | ROUTES, REQUIRED),
    "test-keep-words": st.builds(KeepWords, st.integers()),
    "test-forbid": st.builds(Forbid, TEXTS),
    "test-swap": st.builds(Swap, TEXTS, TEXTS),
    "test-count-steps": st.builds(CountSteps, st.integers()),
    "test-handover": st.builds(Handover, st.integers()),
    "support-pair": st.builds(Pair, st.lists(ACTIONS).map(Stage), st.none() | ROUTES),
}
"""Every component of the core and of its tests, with arguments of every kind."""


def through_json(value):
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("id", BY_ID)
@given(data=st.data())
@settings(max_examples=60)
def test_every_component_comes_back_from_json(id, data):
    """Any arguments survive the text, with an equal value and digest, written under its id."""
    component = data.draw(BY_ID[id])
    written = to_data(component)
    again = from_data(through_json(written), Component)
    assert written["type"] == id
    assert again == component
    assert type(again) is type(component)
    assert digest_of(to_data(again)) == digest_of(written)


@pytest.mark.parametrize("id", BY_ID)
@given(data=st.data())
@settings(max_examples=60)
def test_every_argument_counts(id, data):
    """Components are equal exactly if all arguments are, and digests tell the same."""
    one, other = data.draw(BY_ID[id]), data.draw(BY_ID[id])
    names = [attribute.name for attribute in attrs.fields(type(one))]
    for name in names:
        changed = attrs.evolve(one, **{name: getattr(other, name)})
        same = canonical(to_data(changed)) == canonical(to_data(one))
        assert same == (digest_of(to_data(changed)) == digest_of(to_data(one)))
        assert (changed == one) == same
        assert not same or hash(changed) == hash(one)


def test_no_component_of_the_core_is_left_out():
    """A component that core registers needs a strategy here."""
    built_in = Registry(frozenset()).entries("component")
    core = {id for id, claims in built_in.items() if claims[0][0] == "core"}
    assert core <= set(BY_ID)


@given(stack_specs(max_size=4, source=True))
def test_every_stack_comes_back_from_json(spec):
    """Specs of drawn stacks survive their text, and what is built from them says so."""
    again = StackSpec.from_json(spec.to_json())
    assert again == spec
    assert again.digest == spec.digest
    assert again.to_json() == spec.to_json()


@given(SPECS)
def test_any_env_task_and_options_come_back_from_json(spec):
    """Whatever the texts and JSON values are."""
    assert StackSpec.from_json(spec.to_json()) == spec
    assert StackSpec.from_json(spec.to_json(indent=1)).digest == spec.digest


NUMBERS = st.sampled_from([0, 0.0, False, 1, 1.0, True, "1", None])
ALIKE = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=2) | st.fixed_dictionaries({"a": inner})
)
"""JSON values that Python may call equal where JSON does not."""


@given(ALIKE, ALIKE)
def test_equal_stacks_have_equal_digests_and_no_others(one, other):
    """Equality, hash and digest agree, also where Python's numbers are equal across types."""
    for build in (
        lambda value: StackSpec("t", options={"x": value}),
        lambda value: StackSpec("t", components=(Stage([Action("", "x", {"x": value})]),)),
    ):
        left, right = build(one), build(other)
        assert (left == right) == (left.digest == right.digest)
        assert left != right or hash(left) == hash(right)


@given(stack_specs(), walks, st.integers(0, 12), seeds)
@settings(max_examples=200)
def test_every_stack_goes_on_from_its_snapshot(spec, actions, done, seed):
    """At any point of any episode, the stack restored from JSON answers as the original does."""
    player = Player(spec.build(), seed)
    player.play(actions[:done])
    if not player.started or player.over:
        return
    saved = snapshot(player.env)
    twin = Player.__new__(Player)
    twin.env, twin.log, twin.over = restore(through_json(saved)), [], False
    player.log.clear()
    assert twin.play(actions[done:]) == player.play(actions[done:])
    event("went on" if player.log else "nothing left to play")


@given(st.sampled_from(SOURCES), walks, st.integers(0, 6), seeds)
@settings(max_examples=20)
def test_source_contracts_go_on_from_their_snapshot(source, actions, done, seed):
    """The memory of generated code crosses the snapshot too."""
    spec = StackSpec("corridor", "length-5", (Contract.from_source(source),))
    with spec.build() as env:
        player = Player(env, seed)
        player.play(actions[:done])
        if player.over:
            return
        with restore(through_json(snapshot(env))) as again:
            twin = Player.__new__(Player)
            twin.env, twin.log, twin.over = again, [], False
            player.log.clear()
            assert twin.play(actions[done:]) == player.play(actions[done:])
