import pytest
from hypothesis import given, settings

from harness_core import Contract, Identity, Stage, make
from harness_core.serial import canonical, to_data
from harness_core.testing.strategies import env_specs
from support.components import Equal, Same, Through
from support.draws import seeds, walks
from support.playing import Player

NO_HOOK = """
class Nothing(Contract):
    pass
"""

SAME_HOOKS = """
class Same(Contract):
    def filter_action(self, action, env_state):
        return action

    def modify_transition(self, action, response, env_state):
        return response

    def filter_observation(self, observation, env_state):
        return observation
"""

EQUAL_HOOKS = """
class Equal(Contract):
    def filter_action(self, action, env_state):
        assert isinstance(env_state.steps, int)
        return Action(action.text, action.tool, dict(action.arguments))

    def modify_transition(self, action, response, env_state):
        assert env_state.data
        seen = response.observation
        again = Observation(seen.text, dict(seen.data), seen.images)
        return StepResult(again, response.terminated, response.truncated, dict(response.info))

    def filter_observation(self, observation, env_state):
        assert env_state.task
        return observation.replace(data=dict(observation.data))
"""


def everything(env, actions, seed):
    """All that an agent, a runner or a designer can see of an episode, as text."""
    log = Player(env, seed).play(actions)
    facts = (env.tools(), env.state_schema(), list(env.list_tasks()))
    kind = (env.snapshots, env.verifier_cost, env.reversible_endings)
    return [*log, *(canonical(to_data(fact)) for fact in facts), canonical(kind)]


@pytest.mark.parametrize(
    "component", [Identity(), Through(), Contract(), Same(), Equal(), Stage([])], ids=repr
)
@given(spec=env_specs(), actions=walks, seed=seeds)
@settings(max_examples=60)
def test_identity_hooks_change_nothing_to_the_byte(component, spec, actions, seed):
    """Any episode through hooks that return what they got, or an equal copy, is the bare one."""
    bare = everything(spec.build(), actions, seed)
    assert everything(component(spec.build()), actions, seed) == bare


@pytest.mark.parametrize("source", [NO_HOOK, SAME_HOOKS, EQUAL_HOOKS])
@given(spec=env_specs(), actions=walks, seed=seeds)
@settings(max_examples=30)
def test_identity_hooks_in_source_text_change_nothing_to_the_byte(source, spec, actions, seed):
    """The same through the sandbox and its wire."""
    bare = everything(spec.build(), actions, seed)
    with Contract.from_source(source)(spec.build()) as env:
        assert everything(env, actions, seed) == bare


@given(actions=walks, seed=seeds)
@settings(max_examples=25)
def test_many_identities_change_nothing(actions, seed):
    """Twenty layers deep is as good as one."""
    deep = make("corridor", task="length-4", slip=0.3)
    for component in (Same(), Through(), Equal(), Contract()) * 5:
        deep = component(deep)
    bare = make("corridor", task="length-4", slip=0.3)
    assert everything(deep, actions, seed) == everything(bare, actions, seed)
