import json

import pytest

from harness_core import Action, Chain, Contract, Layer, StackSpec, Stage, restore, snapshot
from harness_core.errors import SpecError
from harness_core.testing import CorridorEnv
from harness_core.testing.contracts import CountSteps, Handover, KeepWords
from harness_core.testing.walks import play, standing
from support.components import Remember, Through

SHORT = StackSpec("corridor", "length-2", (CountSteps(),))
NESTED = StackSpec("corridor", "length-2", (Chain(SHORT),))
WALK = [Action(word) for word in ["right", "switch"] * 3]

COUNT = """
class Count(Contract):
    def modify_transition(self, action, response, env_state):
        count = env_state.extras["count"] = env_state.extras.get("count", 0) + 1
        return response.replace(info={"count": count})
"""

STACKS = {
    "bare": StackSpec("corridor", "length-4", (), {"slip": 0.4}),
    "replayed": StackSpec("corridor", "length-4", (Through(),), {"slip": 0.4, "replay": True}),
    "layers": StackSpec("corridor", "length-4", (Stage(["switch"]), CountSteps(), KeepWords(3))),
    "source": StackSpec("corridor", "length-4", (Contract.from_source(COUNT), KeepWords(3))),
    "chain": StackSpec("corridor", "length-2", (CountSteps(), Chain(SHORT), Remember())),
    "route": StackSpec("corridor", "length-2", (Chain([SHORT, SHORT], Handover(2)), Remember())),
    "nested": StackSpec("corridor", "length-2", (Chain(NESTED), Through())),
}


def middle(spec, done):
    env = spec.build()
    env.reset(seed=0)
    play(env, WALK[:done])
    return env


@pytest.mark.parametrize("done", range(len(WALK) + 1))
@pytest.mark.parametrize("name", STACKS)
def test_a_stack_goes_on_from_its_snapshot(name, done):
    """At every point, of chains in every segment, the restored stack continues identically."""
    with middle(STACKS[name], done) as env:
        text = json.dumps(snapshot(env))
        with restore(json.loads(text)) as twin:
            assert standing(twin) == standing(env)
            assert play(twin, WALK[done:]) == play(env, WALK[done:])
            assert json.dumps(snapshot(twin)) == json.dumps(snapshot(env))


@pytest.mark.parametrize("name", STACKS)
def test_save_state_and_from_state_are_snapshot_and_restore(name):
    """A stack keeps the contract's own two methods."""
    with middle(STACKS[name], 3) as env, type(env).from_state(env.save_state()) as twin:
        assert standing(twin) == standing(env)


def test_a_restored_stack_resets_like_any_other():
    """After the restored episode, the next reset gives the same as on the original."""
    for spec in STACKS.values():
        with middle(spec, 3) as env, restore(snapshot(env)) as twin:
            assert twin.reset(seed=1) == env.reset(seed=1)
            assert play(twin, WALK) == play(env, WALK)


def test_a_snapshot_and_what_is_restored_from_it_share_nothing():
    """Without a detour through JSON: branches and the original go on independently, and the
    snapshot stays what it was."""
    spec = StackSpec("corridor", "length-4", (Stage([{"tool": "switch"}]), Remember()))
    env = middle(spec, 2)
    saved = snapshot(env)
    text = json.dumps(saved)
    one, other = restore(saved), restore(saved)
    env.step(Action("left"))
    one.step(Action("left"))
    assert other.step(Action("right")).observation.text == "right switch right"
    assert json.dumps(saved) == text
    saved["stack"]["components"][0]["actions"][0]["arguments"]["way"] = "left"
    assert spec.components[0] == Stage([{"tool": "switch"}])


def test_a_snapshot_in_the_second_part_keeps_the_first_verdict():
    """A chain restored after the hand-over still knows how its first part ended."""
    env = middle(StackSpec("corridor", "length-2", (Chain(SHORT),)), 3)
    twin = restore(snapshot(env))
    assert isinstance(twin, Layer)
    assert twin.get_env_state().data["segments"][0] == {"ended": True, "success": True}
    play(twin, WALK[3:])
    assert twin.evaluate().success


def test_an_env_built_by_hand_cannot_be_snapshotted_as_a_stack():
    """The error says to build it with make; the env's own save_state still works."""
    env = CorridorEnv()
    env.reset()
    with pytest.raises(SpecError, match="built by hand"):
        snapshot(env)
    assert CorridorEnv.from_state(env.save_state()).observe() == env.observe()


def damaged(**changes):
    return {**snapshot(middle(STACKS["layers"], 1)), **changes}


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({}, "no snapshot.*'schema'"),
        (None, "no snapshot"),
        (lambda: damaged(schema=2), "schema 2; this version reads 1"),
        (lambda: damaged(layers=[]), "damaged"),
        (lambda: damaged(layers=3), "damaged"),
        (lambda: damaged(stack={"env": 3}), "env"),
    ],
)
def test_what_is_no_snapshot_is_refused(state, told):
    """Missing parts, newer schemas and layers that do not match are named."""
    with pytest.raises(SpecError, match=told):
        restore(state() if callable(state) else state)
