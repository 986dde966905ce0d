import json

import pytest

from harness_core import Chain, Contract, Identity, StackSpec, Stage, compose, make, spec_of
from harness_core.component import Component
from harness_core.errors import (
    ChainError,
    SourceRejected,
    SpecError,
    UnknownIdError,
    UnknownTaskError,
)
from harness_core.serial import canonical, from_data, to_data
from harness_core.testing import CorridorEnv
from harness_core.testing.contracts import Forbid, KeepWords
from support.components import Pair

TREE = StackSpec(
    "corridor",
    "length-4",
    (
        Stage(["switch", {"tool": "walk", "arguments": {"way": "right"}}]),
        KeepWords(2),
        Chain(StackSpec("corridor", components=(Forbid("left"),)), required=[0]),
    ),
    {"slip": 0.5},
)


def read(**changes):
    data = {"schema": 1, "env": "corridor", **changes}
    return StackSpec.from_json(json.dumps(data))


def test_a_tree_comes_back_from_json():
    """Env, task, components, chained specs and options survive the text, and so does the digest."""
    again = StackSpec.from_json(TREE.to_json(indent=2))
    assert again == TREE
    assert again.digest == TREE.digest
    assert canonical(again.to_dict()) == canonical(TREE.to_dict())


def test_components_are_written_by_id():
    """The JSON names registered ids, never modules, so that code can move."""
    types = [component["type"] for component in TREE.to_dict()["components"]]
    assert types == ["stage", "test-keep-words", "chain"]
    assert "harness_core" not in TREE.to_json()


def test_the_digest_is_the_same_everywhere():
    """A digest that is stored today names the same stack tomorrow."""
    assert StackSpec("corridor", "length-4", (Stage(["switch"]),)).digest == (
        "cce0de2ece07427794c8e39115fb589f58b050631c02ce4c15b5cc86e23683c2"
    )


def test_the_digest_tells_stacks_apart():
    """Any change of env, task, component, order or option changes it."""
    a, b = KeepWords(1), Forbid("left")
    specs = [
        StackSpec("corridor"),
        StackSpec("other"),
        StackSpec("corridor", "length-2"),
        StackSpec("corridor", components=(a, b)),
        StackSpec("corridor", components=(b, a)),
        StackSpec("corridor", options={"limit": 1}),
    ]
    assert len({spec.digest for spec in specs}) == len(specs)


def test_spec_of_is_the_inverse_of_build():
    """What was built from a spec describes itself as that spec, identities left out."""
    assert spec_of(TREE.build()) == TREE
    env = compose(make("corridor", task="length-3", limit=2), Identity(), KeepWords(1))
    assert spec_of(env) == StackSpec("corridor", "length-3", (KeepWords(1),), {"limit": 2})


def test_components_with_components_as_arguments_come_back():
    """A third-party component may hold others, also none."""
    for pair in (Pair(KeepWords(1)), Pair(KeepWords(1), Stage(["switch"]))):
        assert from_data(json.loads(json.dumps(to_data(pair))), Component) == pair


def test_wrapped_adds_outside():
    """`wrapped` puts more components around, and leaves the old spec as it is."""
    spec = StackSpec("corridor", components=(KeepWords(1),))
    assert spec.wrapped(Forbid("left")).components == (KeepWords(1), Forbid("left"))
    assert spec.components == (KeepWords(1),)


def test_an_env_built_by_hand_has_no_spec():
    """The error says how to build it so that it has one."""
    with pytest.raises(SpecError, match=r"CorridorEnv was built by hand.*make\(id, ...\)"):
        spec_of(KeepWords(1)(CorridorEnv()))


def test_a_component_that_is_not_registered_cannot_be_written():
    """The error shows the very entry that registers it."""

    class Local(Contract):
        pass

    with pytest.raises(SpecError, match=r"Entry\(id, summary, .*Local'\) from harness_components"):
        StackSpec("corridor", components=(Local(),)).to_json()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("nul", "not JSON"),
        ("[]", "A stack is a JSON object, not list"),
        ("3", "A stack is a JSON object, not int"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", '"schema", a whole number from 1; got None'),
        ('{"schema": "1", "env": "corridor"}', "got '1'"),
        ('{"schema": true, "env": "corridor"}', "got True"),
        ('{"schema": 0, "env": "corridor"}', "got 0"),
        ('{"schema": 1}', "env"),
    ],
)
def test_malformed_text_is_told_apart(text, told):
    """Whatever is not a stack in JSON is a SpecError that says what is wrong."""
    with pytest.raises(SpecError, match=told.replace("(", r"\(")):
        StackSpec.from_json(text)


def test_a_newer_schema_is_refused_with_the_way_out():
    """A stack written by a later version asks for an upgrade instead of being misread."""
    with pytest.raises(SpecError, match=r"schema 2; this version reads up to 1. Upgrade"):
        read(schema=2)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"env": 5}, "env"),
        ({"task": 3}, "task"),
        ({"tasks": "x"}, "tasks"),
        ({"options": [1]}, "options"),
        ({"components": "stage"}, "components"),
        ({"components": {"type": "stage"}}, "components"),
        ({"components": [3]}, r'written as \{"type": id, ...\}, not 3'),
        ({"components": [{"actions": []}]}, "written as"),
        ({"components": [{"type": "stage"}]}, "component 'stage'.*actions"),
        ({"components": [{"type": "stage", "actions": "switch"}]}, "component 'stage'.*actions"),
        ({"components": [{"type": "stage", "actions": [3]}]}, "3 is no action"),
        ({"components": [{"type": "stage", "actions": [], "act": 1}]}, "'stage'.*act"),
        ({"components": [{"type": "test-keep-words", "count": "3"}]}, "keep-words'.*int.*count"),
        ({"components": [{"type": "test-keep-words", "count": 2.5}]}, "keep-words'.*int.*count"),
        ({"components": [{"type": "test-keep-words", "count": True}]}, "keep-words'.*int.*count"),
        ({"components": [{"type": "test-forbid", "word": 3}]}, "'test-forbid'.*str.*word"),
        ({"components": [{"type": "chain", "extension": [{"env": 3}]}]}, "'chain'.*extension.*env"),
        (
            {"components": [{"type": "chain", "extension": [{"env": "e"}], "required": "0"}]},
            "'chain'.*required",
        ),
    ],
)
def test_a_field_that_does_not_fit_is_named(changes, told):
    """Wrong types, missing and unknown fields are named with their place; nothing is converted."""
    with pytest.raises(SpecError, match=told):
        read(**changes)


def test_an_unknown_component_is_answered_with_the_nearest():
    """Also deep inside a chained spec."""
    inner = {"env": "corridor", "components": [{"type": "stge"}]}
    for components in ([{"type": "stge"}], [{"type": "chain", "extension": [inner]}]):
        with pytest.raises(UnknownIdError, match=r"no component 'stge'. Did you mean 'stage'"):
            read(components=components)


def test_a_components_own_checks_hold_when_it_is_read():
    """Rejected source text and senseless chains say what they say in Python."""
    with pytest.raises(SourceRejected, match="import os"):
        read(components=[{"type": "contract", "source": "import os"}])
    with pytest.raises(ChainError, match="at least one extension"):
        read(components=[{"type": "chain", "extension": []}])


@pytest.mark.parametrize(
    "options",
    [
        {"x": float("nan")},
        {"x": {1}},
        {"x": object()},
        {"x": (1, 2)},
        {1: 2},
        {"x": ["\ud800"]},
        {"\ud800": 1},
    ],
)
def test_options_that_json_would_change_are_refused(options):
    """A spec holds only what its text can hold, so that equal stacks stay equal."""
    with pytest.raises(SpecError, match=r"options of env 'corridor'"):
        StackSpec("corridor", options=options)


def test_make_names_what_it_cannot_do():
    """Unknown env, unknown task and unknown option are three different errors with the way out."""
    with pytest.raises(UnknownIdError, match=r"no env 'coridor'. Did you mean 'corridor'"):
        make("coridor")
    with pytest.raises(UnknownTaskError, match=r"no task 'length-9'. Did you mean"):
        make("corridor", task="length-9")
    with pytest.raises(SpecError, match=r"'corridor' does not take these options.*'wind'"):
        make("corridor", wind=1)


def test_reading_needs_no_env():
    """A spec of an env that is not installed here can be read and compared, not built."""
    spec = StackSpec.from_json('{"schema": 1, "env": "elsewhere"}')
    with pytest.raises(UnknownIdError, match="elsewhere"):
        spec.build()


@pytest.mark.parametrize("name", ["task", "env"])
def test_reserved_names_are_no_options(name):
    """The task is no option, wherever the spec comes from; the error says where it belongs."""
    with pytest.raises(SpecError, match=rf"'{name}', which is no option: write StackSpec\({name}="):
        StackSpec("corridor", options={name: "length-2"})
    with pytest.raises(SpecError, match="no option"):
        read(options={name: "length-2"})


HALF = "\ud800"
HALVES = [
    lambda: StackSpec(HALF),
    lambda: StackSpec("corridor", HALF),
    lambda: StackSpec("corridor", options={"x": HALF}),
    lambda: StackSpec("corridor", components=(Stage([HALF]),)),
    lambda: StackSpec("corridor", components=(Forbid(HALF),)).digest,
    lambda: StackSpec("corridor", components=(Forbid(HALF),)).to_json(),
    lambda: canonical(HALF),
    lambda: canonical({HALF: 1}),
]


@pytest.mark.parametrize("write", HALVES)
def test_half_a_character_is_refused(write):
    """A lone surrogate cannot be written to a file, and is a SpecError wherever it stands."""
    with pytest.raises(SpecError, match="surrogates not allowed"):
        write()


@pytest.mark.parametrize("depth", [64, 100, 500])
def test_stacks_that_are_nested_too_deeply_are_refused(depth):
    """Nesting beyond what is supported is told in plain words."""
    data = {"env": "corridor"}
    for _ in range(depth):
        data = {"env": "corridor", "components": [{"type": "chain", "extension": [data]}]}
    with pytest.raises((SpecError, ChainError), match=r"nested .* deep"):
        StackSpec.from_dict({"schema": 1, **data})


NUMBERS = [1, 1.0, True, 0, 0.0, -0.0, False, "1", None]


@pytest.mark.parametrize("one", NUMBERS)
@pytest.mark.parametrize("other", NUMBERS)
def test_specs_are_equal_exactly_if_their_digests_are(one, other):
    """Values that Python calls equal and JSON writes differently make different stacks."""

    def specs(value):
        yield StackSpec("t", options={"a": value})
        yield StackSpec("t", options={"a": [{"b": value}]})
        yield StackSpec("t", components=(Stage([{"tool": "x", "arguments": {"a": value}}]),))
        yield StackSpec("t", components=(KeepWords(value),))
        yield StackSpec("t", components=(Pair(KeepWords(value)),))
        yield StackSpec("t", components=(Chain(StackSpec("u", options={"a": value})),))

    for left, right in zip(specs(one), specs(other), strict=True):
        assert (left == right) == (left.digest == right.digest)
        assert left != right or hash(left) == hash(right)
