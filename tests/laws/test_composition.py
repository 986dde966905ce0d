from hypothesis import given
from hypothesis import strategies as st

from harness_core import Action, Composition, Identity, StackSpec, Stage, compose, make, spec_of
from harness_core.testing import Tap
from harness_core.testing.contracts import Forbid, Swap
from harness_core.testing.strategies import components, env_specs
from support.draws import seeds, walks
from support.playing import Player

WORDS = st.sampled_from(["left", "right", "switch"])


def log(env, actions, seed):
    return Player(env, seed).play(actions)


@given(components(), components(), components(), env_specs(), walks, seeds)
def test_composition_is_associative(a, b, c, spec, actions, seed):
    """(a b) c and a (b c) are equal values and behave equally."""
    one, other = (a @ b) @ c, a @ (b @ c)
    assert one == other
    assert log(one(spec.build()), actions, seed) == log(other(spec.build()), actions, seed)


@given(components(), env_specs(), walks, seeds)
def test_identity_is_the_unit(w, spec, actions, seed):
    """Composing with Identity on either side gives the component itself, in value and deed."""
    assert w @ Identity() == Identity() @ w == w
    wrapped = log((w @ Identity())(spec.build()), actions, seed)
    assert wrapped == log(w(Identity()(spec.build())), actions, seed)
    assert wrapped == log(w(spec.build()), actions, seed)


@given(st.lists(components(), max_size=4), env_specs(), walks, seeds)
def test_stack_order_is_nesting_order(drawn, spec, actions, seed):
    """Calls, `@`, `compose` and a spec, innermost first, all build the same stack."""
    nested, product = spec.build(), Identity()
    for component in drawn:
        nested, product = component(nested), component @ product
    stacks = [
        nested,
        product(spec.build()),
        compose(spec.build(), *drawn),
        spec.wrapped(*drawn).build(),
    ]
    assert len({spec_of(stack).digest for stack in stacks}) == 1
    logs = [log(stack, actions, seed) for stack in stacks]
    assert logs.count(logs[0]) == len(logs)


@given(st.lists(components(), max_size=4))
def test_compositions_are_flat(drawn):
    """No composition holds another or an identity, however it was made."""
    product = Identity()
    for component in drawn:
        product = component @ product
    inside = product.components if isinstance(product, Composition) else [product]
    assert not any(isinstance(component, Composition) for component in inside)
    assert len(inside) == 1 or Identity() not in inside


def test_stage_and_contract_do_not_commute():
    """A witness: forbidding the switch after using it is possible, before is an error."""
    stage, contract = Stage(["switch"]), Forbid("switch")
    after = Player((contract @ stage)(make("corridor")))
    before = Player((stage @ contract)(make("corridor")))
    assert "The lamp is on." in after.log[0]
    assert before.log[0].startswith("StageError: Action 1 of 1, 'switch', had no effect.")


@given(st.lists(WORDS, max_size=4), WORDS, WORDS, seeds)
def test_the_exact_difference_of_their_orders_is_whether_the_replay_is_filtered(
    replay, word, instead, seed
):
    """Contract around Stage executes the replay as it is; Stage around Contract executes f_A of
    it, and so starts where Contract around Stage(f_A of it) does."""
    contract = Swap(word, instead)
    filtered = [instead if action == word else action for action in replay]

    def begin(w):
        tap = Tap(make("corridor", task="length-5"))
        player = Player(w(tap), seed)
        return player.log, tap.executed, player.started

    inside, executed_inside, started = begin(contract @ Stage(replay))
    if started:
        assert executed_inside == [Action(text) for text in replay]
    outside, executed_outside, started = begin(Stage(replay) @ contract)
    if started:
        assert executed_outside == [Action(text) for text in filtered]
        assert outside == begin(contract @ Stage(filtered))[0]
    if word not in replay:
        assert inside == outside


def test_two_stages_do_not_commute():
    """Order matters among components of one kind too."""
    lit, walked = Stage(["switch"]), Stage(["right", "right"])
    spec = StackSpec("corridor", "length-3")
    one = Player(spec.wrapped(lit, walked).build(), seed=0)
    other = Player(spec.wrapped(walked, lit).build(), seed=0)
    assert one.log != other.log
