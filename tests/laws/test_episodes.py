from hypothesis import given, settings
from hypothesis import strategies as st

from harness_core.testing.strategies import stack_specs
from support.draws import seeds, walks
from support.playing import Player

EPISODES = st.lists(st.tuples(stack_specs(), walks, seeds), min_size=2, max_size=4)


@given(EPISODES, st.lists(st.integers(0, 3), max_size=40))
def test_interleaved_episodes_equal_separate_ones(episodes, schedule):
    """Whatever the order in which several stacks get their next action."""
    separate = [Player(spec.build(), seed).play(actions) for spec, actions, seed in episodes]
    players = [Player(spec.build(), seed) for spec, _, seed in episodes]
    pending = [list(actions) for _, actions, _ in episodes]
    for turn in schedule:
        which = turn % len(players)
        if pending[which]:
            players[which].act(pending[which].pop(0))
    for player, rest in zip(players, pending, strict=True):
        player.play(rest)
    assert [player.log for player in players] == separate


@given(stack_specs(), walks, seeds, walks, seeds)
def test_the_second_reset_equals_the_first(spec, actions, seed, others, other_seed):
    """The same seed and actions give the same episode after any other, broken off or not."""
    env = spec.build()
    first = Player(env, seed).play(actions)
    Player(env, other_seed).play(others)
    assert Player(env, seed).play(actions) == first
    assert Player(spec.build(), seed).play(actions) == first


@given(st.lists(st.tuples(walks, seeds), min_size=2, max_size=3), stack_specs(source=True))
@settings(max_examples=20)
def test_the_same_holds_with_source_contracts(episodes, spec):
    """Episodes of one stack, each with its worker, neither see nor outlive each other."""
    alone = []
    for actions, seed in episodes:
        with spec.build() as env:
            alone.append(Player(env, seed).play(actions))
    with spec.build() as env:
        again = [list(Player(env, seed).play(actions)) for actions, seed in episodes]
    assert again == alone
