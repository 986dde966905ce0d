"""What holds for every chain: its hand-overs, its depth, and whose verifier decides."""

import pytest

from harness_core import Action, Chain, Contract, Identity, StackSpec, make, restore, snapshot
from harness_core.errors import ChainError, InvalidAction
from support.components import Pair

SHORT = StackSpec("corridor", task="length-2")


def begun(chain, task="length-2"):
    env = chain(make("corridor", task=task))
    env.reset(seed=0)
    return env


def play(env, *words):
    return [env.step(Action(word)) for word in words]


class SayGoal(Contract):
    """Begins every observation with the goal."""

    def filter_observation(self, observation, env_state):
        return observation.replace(text=f"Light the last of 3 cells. {observation.text}")


class Away(Contract):
    """A route that always goes to the other of two parts, as long as that is open."""

    def modify_transition(self, action, response, env_state):
        other = 1 - env_state.data["active"]
        if not env_state.segments[other]["ended"]:
            env_state.switch_to(other)
        return response


class Leave(Contract):
    """A route that leaves the first part at once, for good."""

    def modify_transition(self, action, response, env_state):
        if not env_state.data["active"]:
            env_state.switch_to(1)
        return response


@pytest.mark.parametrize("tells", [False, True])
def test_the_handover_has_the_goal_exactly_once(tells):
    """The next part's goal is there, whether or not its first observation already says it."""
    extension = StackSpec("corridor", "length-3", (SayGoal(),) if tells else ())
    text = play(begun(Chain(extension)), "right", "switch")[-1].observation.text
    assert text.count("Light the last of 3 cells.") == 1


def test_a_resumed_part_does_not_tell_its_goal_again():
    """A part that was left midway goes on with what it shows."""
    env = begun(Chain(StackSpec("corridor", "length-6"), route=Away()), "length-6")
    first, second = play(env, "switch", "switch")
    assert "Light the last" in first.observation.text
    assert "Light the last" not in second.observation.text


def test_a_route_that_leaves_the_wrapped_env_unsolved_does_not_succeed():
    """Nothing but the wrapped env's own verifier decides about it, also if it never ended."""
    for required in ([0], [0, 1], None):
        env = begun(Chain(SHORT, route=Leave(), required=required))
        assert play(env, "right", "right", "switch")[-1].terminated
        assert not env.evaluate().success


def test_after_the_end_no_action_is_executed():
    """What was judged stays as it was judged, in the chain and in its snapshots."""
    env = begun(Chain(SHORT))
    play(env, "right", "switch", "stop")
    with pytest.raises(InvalidAction, match="The episode is over"):
        play(env, "right")


def nested(depth):
    spec = SHORT
    for _ in range(depth):
        spec = StackSpec("corridor", "length-2", (Chain(spec),))
    return spec


def test_chains_nest_32_deep_and_no_deeper():
    """The deepest chain can be written, read, compared, built and played; one more is refused."""
    spec = nested(32)
    assert StackSpec.from_json(spec.to_json()) == spec
    env = spec.build()
    env.reset(seed=0)
    play(env, *["right", "switch"] * 32)
    with restore(snapshot(env)) as twin:
        assert play(twin, "right", "switch")[-1].terminated
        assert twin.evaluate().success
    with pytest.raises(ChainError, match="nested 32 deep"):
        Chain(spec)
    for inside in (Identity() @ spec.components[0], Pair(spec.components[0])):
        with pytest.raises(ChainError, match="nested 32 deep"):
            Chain(StackSpec("corridor", components=(inside,)))
