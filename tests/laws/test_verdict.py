from hypothesis import event, given, settings
from hypothesis import strategies as st

from harness_core import Chain, Verdict, compose
from harness_core.chain import ChainLayer
from harness_core.testing import Tap
from harness_core.testing.strategies import chains, components, env_specs, stack_specs
from support.draws import seeds, walks
from support.playing import Player


def replayed(spec, tap):
    """A new env of `spec` after the actions that `tap` saw executed."""
    alone, ended = spec.build(), False
    alone.reset(seed=tap.seed)
    for action in tap.executed:
        ended = alone.step(action).ended
    return alone, ended


@given(env_specs(), st.lists(components(chain=False), max_size=4), walks, seeds)
@settings(max_examples=200)
def test_the_verdict_is_the_base_envs_under_the_actions_executed(spec, drawn, actions, seed):
    """At every point of any episode in any stack: verdict and signal are what the bare env gives
    after the base actions actually executed, the replayed ones included."""
    tap = Tap(spec.build())
    stack = compose(tap, *drawn)
    player = Player(stack, seed)
    for action in [None, *actions]:
        if action is not None:
            player.act(action)
        alone, _ = replayed(spec, tap)
        assert stack.evaluate() == alone.evaluate()
        assert stack.step_signal() == alone.step_signal()
    event(f"solved: {stack.evaluate().success}")


@given(env_specs(), st.lists(components(chain=False, source=True), max_size=2), walks, seeds)
@settings(max_examples=25)
def test_the_same_holds_for_source_contracts(spec, drawn, actions, seed):
    """Generated code in the sandbox is no exception."""
    tap = Tap(spec.build())
    with compose(tap, *drawn) as stack:
        Player(stack, seed).play(actions)
        assert stack.evaluate() == replayed(spec, tap)[0].evaluate()


@given(stack_specs(max_size=1, chain=False), chains(), walks, seeds)
@settings(max_examples=200)
def test_a_chains_verdict_is_the_conjunction_of_its_required_parts(spec, chain, actions, seed):
    """Each required part counts with its own verdict if it ended and as failed if it did not."""
    assert isinstance(chain, Chain)
    specs, layer = (spec, *chain.extension), chain(Tap(spec.build()))
    assert isinstance(layer, ChainLayer)
    for segment in layer._segments[1:]:
        segment.env = Tap(segment.env)
    player = Player(layer, seed)
    player.play(actions)
    if not player.started:
        return
    parts = []
    for index in range(len(specs)) if chain.required is None else chain.required:
        part, ended = layer._segments[index], False
        if part.started:
            alone, ended = replayed(specs[index], part.env)
        parts.append(alone.evaluate() if ended else Verdict(False, metrics={"ended": False}))
    expected = parts[0] if len(parts) == 1 else Verdict.conjunction(tuple(parts))
    assert layer.evaluate() == expected
    assert layer.evaluate().success == all(part.success for part in parts)
    event(f"parts ended: {sum('ended' not in part.metrics for part in parts)} of {len(parts)}")
