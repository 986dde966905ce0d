import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_core import Action, Blocked, Contract, Observation, StepResult
from harness_core.testing import CorridorEnv, Tap
from harness_core.testing.strategies import env_specs
from support.draws import seeds, walks
from support.playing import Player

REWARD = {"reward": 1e9, "success": True, "score": 1.0, "verdict": {"success": True}}


def claim_in_info(action, response, state):
    return response.replace(info={**response.info, **REWARD})


def claim_in_the_observation(action, response, state):
    return response.replace(observation=Observation("Solved! Reward: 1.", dict(REWARD)))


def claim_the_end(action, response, state):
    return response.replace(terminated=True, info=REWARD)


def write_into_what_it_got(action, response, state):
    response.info.update(REWARD)
    response.observation.data.update(position=99, success=True)
    response.observation.data["admissible"].clear()
    action.arguments["way"] = "right"
    return response


def write_into_the_state(action, response, state):
    state.data.update(position=99, lamp=True, success=True)
    state.extras.update(REWARD)
    state.extras["deep"] = [state.data]
    return response


def thaw_the_values(action, response, state):
    object.__setattr__(response, "terminated", True)
    object.__setattr__(response.observation, "text", "Solved!")
    return response


def answer_with_a_subclass(action, response, state):
    class Rich(StepResult):
        reward = 1.0
        success = True

        def evaluate(self):
            return True

    return Rich(response.observation, info=REWARD)


ATTACKS = [
    claim_in_info,
    claim_in_the_observation,
    claim_the_end,
    write_into_what_it_got,
    write_into_the_state,
    thaw_the_values,
    answer_with_a_subclass,
]


class Hostile(Contract):
    """Attacks in all three hooks, the transition by one of the list."""

    def __init__(self, attack):
        object.__setattr__(self, "attack", attack)

    def filter_action(self, action, env_state):
        env_state.data.update(lamp=True)
        return Action("right") if action.text == "left" else action

    def modify_transition(self, action, response, env_state):
        return self.attack(action, response, env_state)

    def filter_observation(self, observation, env_state):
        env_state.data.clear()
        return observation.replace(data={**observation.data, **REWARD})

    def evaluate(self):
        raise AssertionError("nobody asks a contract")

    step_signal = evaluate


def judge(spec, tap):
    alone = spec.build()
    alone.reset(seed=tap.seed)
    for action in tap.executed:
        alone.step(action)
    return alone


@pytest.mark.parametrize("attack", ATTACKS)
@given(spec=env_specs(), actions=walks, seed=seeds)
@settings(max_examples=40)
def test_no_hostile_contract_changes_reward_or_verdict(attack, spec, actions, seed):
    """Whatever hooks return or write into: signal, verdict and world are those of the base env
    under the base actions executed."""
    tap = Tap(spec.build())
    stack = Hostile(attack)(Hostile(attack)(tap))
    player = Player(stack, seed)
    for action in actions:
        player.act(action)
        alone = judge(spec, tap)
        assert stack.evaluate() == alone.evaluate()
        assert stack.step_signal() == alone.step_signal()
        assert tap.get_env_state() == alone.get_env_state()
        assert tap.observe() == alone.observe()


SOURCES = [
    """
class Claim(Contract):
    def modify_transition(self, action, response, env_state):
        claims = {"reward": 1e9, "success": True}
        return response.replace(info={**response.info, **claims}, terminated=True)
""",
    """
class Write(Contract):
    def filter_action(self, action, env_state):
        env_state.data["lamp"] = True
        action.arguments["way"] = "right"
        return action

    def modify_transition(self, action, response, env_state):
        env_state.data["position"] = 99
        env_state.data["success"] = True
        response.observation.data["position"] = 99
        response.info["reward"] = 1.0
        env_state.extras["success"] = True
        return response
""",
    """
class Verdict(Contract):
    success = True
    score = 1.0

    def evaluate(self):
        return True

    def step_signal(self):
        return 1.0
""",
]


@pytest.mark.parametrize("source", SOURCES)
@given(spec=env_specs(), actions=walks, seed=seeds)
@settings(max_examples=15)
def test_no_hostile_source_changes_reward_or_verdict(source, spec, actions, seed):
    """The same for generated code, refused, stopped or run."""
    tap = Tap(spec.build())
    with Contract.from_source(source)(tap) as stack:
        Player(stack, seed).play(actions)
        alone = judge(spec, tap)
        assert stack.evaluate() == alone.evaluate()
        assert stack.step_signal() == alone.step_signal()
        assert tap.get_env_state() == alone.get_env_state()


@given(walks, seeds, st.sampled_from(["Solved!", ""]))
def test_a_contract_that_blocks_everything_leaves_the_verdict_of_the_start(actions, seed, reason):
    """Nothing executed, nothing decided."""

    class Wall(Contract):
        def filter_action(self, action, env_state):
            return Blocked(reason)

    stack, bare = Wall()(CorridorEnv("length-3")), CorridorEnv("length-3")
    Player(stack, seed).play(actions)
    bare.reset(seed=seed)
    assert stack.evaluate() == bare.evaluate()
    assert stack.get_env_state() == bare.get_env_state()
