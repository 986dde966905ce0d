import json

import pytest

from harness_core import Action, Chain, Contract, Layer, StackSpec, Stage, restore, snapshot
from harness_core.chain import ChainLayer
from harness_core.errors import HarnessError, SpecError
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
        (lambda: damaged(layers=[{}, None, {}]), "layer 1, CountSteps.*None"),
        (lambda: damaged(layers=[{}, {}, {"extras": {}}]), "layer 1, CountSteps.*'extras'"),
        (lambda: damaged(layers=[{}, {"extras": 5}, {"extras": {}}]), "layer 1, CountSteps"),
        (lambda: damaged(base=None), "env 'corridor'"),
        (lambda: damaged(base={}), "env 'corridor'.*'task'"),
        (lambda: damaged(stack={"env": 3}), "env"),
    ],
)
def test_what_is_no_snapshot_is_refused(state, told):
    """Missing parts, newer schemas and layers that do not match are named."""
    with pytest.raises(SpecError, match=told):
        restore(state() if callable(state) else state)


def altered(data, path, value):
    """`data` with one place changed."""
    data = json.loads(json.dumps(data))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return data


CHAIN_DAMAGE = [
    ("active", 99),
    ("active", -1),
    ("active", "x"),
    ("active", True),
    ("active", None),
    ("seed", "x"),
    ("extras", None),
    ("extras", [1]),
    ("ended", []),
    ("ended", [True, True, True]),
    ("ended", [True, 1]),
    ("ended", "tf"),
    ("extensions", []),
    ("extensions", [None]),
    ("extensions", [3]),
    ("extensions", [{}]),
    ("verdicts", [{"success": True}] * 2),
]


@pytest.mark.parametrize(("name", "value"), CHAIN_DAMAGE)
def test_a_damaged_chain_is_named(name, value):
    """Whatever does not fit a chain's own state is a SpecError that says which layer it is."""
    saved = snapshot(middle(StackSpec("corridor", "length-2", (Chain(SHORT),)), 3))
    with pytest.raises(SpecError, match=r"damaged at layer 0, Chain"):
        restore(altered(saved, ("layers", 0, name), value))


def test_a_segment_cannot_end_before_it_starts():
    """A chain in its first part has no other that ended or is active."""
    saved = snapshot(middle(StackSpec("corridor", "length-2", (Chain(SHORT),)), 1))
    for name, value in (("ended", [False, True]), ("active", 1)):
        with pytest.raises(SpecError, match=r"layer 0, Chain.*started"):
            restore(altered(saved, ("layers", 0, name), value))


@pytest.mark.parametrize("done", range(5))
def test_no_claim_in_a_snapshot_decides_success(done):
    """Whatever a chain's saved state says of endings, an unsolved part fails: the verifiers of the
    restored envs are asked again."""
    spec = StackSpec("corridor", "length-2", (Chain(SHORT),))
    env = spec.build()
    env.reset(seed=0)
    play(env, [Action(word) for word in ("right", "stop", "right", "switch")[:done]])
    saved = snapshot(env)
    for ended in ([True, True], [True, False], [False, True], [False, False]):
        try:
            twin = restore(altered(saved, ("layers", 0, "ended"), ended))
        except SpecError:
            continue
        assert not twin.evaluate().success


def places(data, path=()):
    """The paths of all values in JSON data."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


@pytest.mark.parametrize("name", ["layers", "chain", "route", "nested"])
@pytest.mark.parametrize("junk", [None, -1, 99, "x", [], {}, [None], {"x": 1}])
def test_no_damage_raises_anything_raw(name, junk):
    """A snapshot with junk in any one place is restored, or refused with an error of our own."""
    saved = snapshot(middle(STACKS[name], 3))
    refused = 0
    for path in places(saved):
        try:
            restore(altered(saved, path, junk)).close()
        except HarnessError:
            refused += 1
    assert refused


def test_a_failed_restore_closes_what_it_built(monkeypatch):
    """The env and the layers that were already there are closed when a later one is damaged."""
    closed = []
    monkeypatch.setattr(CorridorEnv, "close", lambda self: closed.append(self))
    saved = snapshot(middle(STACKS["layers"], 1))
    with pytest.raises(SpecError):
        restore(altered(saved, ("layers", 2), None))
    assert len(closed) == 1


def test_a_restored_chain_closes_the_envs_that_it_replaces(monkeypatch):
    """Each extension that was built anew and then replaced is closed at once."""
    closed = []
    monkeypatch.setattr(CorridorEnv, "close", lambda self: closed.append(self))
    twin = restore(snapshot(middle(StackSpec("corridor", "length-2", (Chain(SHORT),)), 3)))
    assert len(closed) == 1
    assert isinstance(twin, ChainLayer)
    twin.close()
    assert len(closed) == 3


def test_an_expensive_verifier_is_asked_again_only_when_needed(monkeypatch):
    """Restoring asks none; the first reader of the verdict does, once per ended part."""
    asked = []
    evaluate = CorridorEnv.evaluate
    saved = snapshot(middle(StackSpec("corridor", "length-2", (Chain(SHORT),)), 3))

    def counted(self):
        asked.append(self)
        return evaluate(self)

    monkeypatch.setattr(CorridorEnv, "evaluate", counted)
    twin = restore(saved)
    assert asked == []
    assert twin.evaluate() == twin.evaluate()
    assert len(asked) == 1
