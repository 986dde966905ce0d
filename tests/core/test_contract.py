import pytest

from harness_core import Action, Blocked, Contract, EnvState, Observation, StepResult
from harness_core.errors import ContractError, InvalidAction
from harness_core.testing import CorridorEnv, Tap
from harness_core.testing.contracts import CountSteps, Forbid, KeepWords, Swap
from support.components import Same

LENGTH = "length-4"


def begun(*contracts, env=None):
    stack = env or CorridorEnv(LENGTH)
    for contract in contracts:
        stack = contract(stack)
    stack.reset(seed=3)
    return stack


def reset_and_step(env):
    env.reset()
    env.step(Action("right"))


def test_a_blocked_action_never_reaches_the_env():
    """The env executes nothing and pays nothing; the agent sees the reason and the world."""
    tap = Tap(CorridorEnv(LENGTH))
    env = begun(Forbid("right"), env=tap)
    answer = env.step(Action("right"))
    assert tap.executed == []
    assert env.get_env_state().steps == 0
    assert answer.observation.text == "right is forbidden.\n\nCell 1 of 4. The lamp is off."
    assert answer.info == {"blocked": "right is forbidden."}
    assert not answer.ended


def test_a_blocked_action_is_told_with_the_filtered_observation():
    """f_O of the same contract hides in the refusal what it hides elsewhere; the reason stays."""

    class Dark(Contract):
        def filter_action(self, action, env_state):
            return Blocked("Too dark.")

        def filter_observation(self, observation, env_state):
            return observation.replace(text="", data={})

    answer = begun(Dark()).step(Action("right"))
    assert answer.observation == Observation("Too dark.")


def test_a_rewritten_action_is_what_the_env_executes():
    """f_A may execute another action than the agent's, and f_T hears of the executed one."""
    heard = []

    class Listen(Swap):
        def modify_transition(self, action, response, env_state):
            heard.append(action)
            return response

    tap = Tap(CorridorEnv(LENGTH))
    begun(Listen("left", "switch"), env=tap).step(Action("left"))
    assert tap.executed == heard == [Action("switch")]


def test_observations_of_reset_step_observe_and_blocked_are_filtered():
    """f_O sees all that the agent sees."""
    stack = Forbid("left")(CorridorEnv(LENGTH))
    stack = KeepWords(1)(stack)
    assert stack.reset(seed=3).observation.text == "Cell"
    assert stack.step(Action("right")).observation.text == "Cell"
    assert stack.observe().text == "Cell"
    assert stack.step(Action("left")).observation.text == "left"


def test_f_t_comes_before_f_o():
    """What f_T writes into the observation, f_O of the same contract can still cut."""

    class Both(Contract):
        def modify_transition(self, action, response, env_state):
            return response.replace(observation=response.observation.replace(text="a b c"))

        def filter_observation(self, observation, env_state):
            return observation.replace(text=observation.text[:1])

    assert begun(Both()).step(Action("right")).observation.text == "a"


def test_f_a_reads_the_state_before_and_the_others_the_state_after():
    """The three hooks see the position before the step, after it, and after it."""
    positions = []

    class Look(Contract):
        def filter_action(self, action, env_state):
            positions.append(env_state.data["position"])
            return action

        def modify_transition(self, action, response, env_state):
            positions.append(env_state.data["position"])
            return response

        def filter_observation(self, observation, env_state):
            positions.append((env_state.data["position"], env_state.steps, env_state.task))
            return observation

    env = begun(Look())
    env.step(Action("right"))
    env.step(Action("right"))
    assert positions == [(0, 0, LENGTH), 0, 1, (1, 1, LENGTH), 1, 2, (2, 2, LENGTH)]


def test_the_state_is_built_only_if_a_hook_reads_it():
    """Hooks that do not read the state cost none; one that reads it three times costs one."""
    built = []

    class Counted(CorridorEnv):
        def get_env_state(self):
            built.append(1)
            return super().get_env_state()

    class Reader(Contract):
        def modify_transition(self, action, response, env_state):
            assert env_state.data
            assert env_state.task
            assert env_state.steps
            return response

        def filter_observation(self, observation, env_state):
            assert env_state.data is not None
            return observation

    env = begun(Same(), env=Counted(LENGTH))
    env.step(Action("right"))
    assert built == []
    env = begun(Reader(), env=Counted(LENGTH))
    built.clear()
    env.step(Action("right"))
    assert built == [1]


def test_extras_are_the_memory_of_one_episode():
    """What a hook remembers is there at the next step and gone after a reset."""
    env = begun(CountSteps())
    for count in (1, 2):
        assert env.step(Action("right")).observation.text.startswith(f"[{count},")
    env.reset(seed=3)
    assert env.step(Action("right")).observation.text.startswith("[1,")


def test_two_layers_of_one_contract_do_not_share_extras():
    """Memory belongs to the layer, not to the component."""
    contract = CountSteps()
    one, other = begun(contract), begun(contract)
    one.step(Action("right"))
    assert other.step(Action("right")).observation.text.startswith("[1,")


def test_a_contract_may_end_an_episode_early():
    """f_T can say that it is over; the verdict is the env's all the same."""
    env = begun(CountSteps(limit=1))
    assert env.step(Action("switch")).terminated
    assert not env.evaluate().success


class Undo(Contract):
    def modify_transition(self, action, response, env_state):
        return response.replace(terminated=False, truncated=False)


def test_a_final_ending_cannot_be_undone():
    """Where endings are not reversible, undoing one is an error that says what to do instead."""
    env = begun(Undo())
    with pytest.raises(ContractError, match=r"endings are final.*Refuse the action in filter_act"):
        env.step(Action("stop"))


def test_a_reversible_ending_may_be_undone():
    """An env that can go on after `stop` is left running by a contract that refuses it."""

    class Reversible(CorridorEnv):
        reversible_endings = True

    env = begun(Undo(), env=Reversible(LENGTH))
    assert not env.step(Action("stop")).ended


def test_a_truncation_is_final_even_if_endings_are_reversible():
    """The env's own limit is no hook's to lift."""

    class Reversible(CorridorEnv):
        reversible_endings = True

    env = begun(Undo(), env=Reversible(LENGTH, limit=1))
    with pytest.raises(ContractError, match="limit is final"):
        env.step(Action("right"))


@pytest.mark.parametrize("junk", [None, "text", 3, Observation, ("a", "b"), EnvState()])
@pytest.mark.parametrize(
    ("hook", "wanted"),
    [
        ("filter_action", "an Action or Blocked"),
        ("modify_transition", "a StepResult"),
        ("filter_observation", "an Observation"),
    ],
)
def test_a_hook_that_returns_junk_is_named(hook, wanted, junk):
    """The error names class, hook, what it must return and what it returned."""
    junky = type("Junky", (Contract,), {hook: lambda self, *_: junk})
    told = rf"Junky.{hook} must return {wanted}, not {type(junk).__name__}"
    env = junky()(CorridorEnv(LENGTH))
    with pytest.raises(ContractError, match=told):
        reset_and_step(env)


@pytest.mark.parametrize("hook", ["filter_action", "modify_transition", "filter_observation"])
def test_a_hook_that_raises_is_named(hook):
    """The error names class, hook and exception, and keeps the cause for debugging."""

    def fail(self, *_):
        raise KeyError("mug")

    env = type("Failing", (Contract,), {hook: fail})()(CorridorEnv(LENGTH))
    with pytest.raises(ContractError, match=rf"Failing.{hook} raised KeyError: 'mug'") as caught:
        reset_and_step(env)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_invalid_action_passes_through():
    """A contract does not turn the env's refusal into something else."""
    env = begun(Same())
    with pytest.raises(InvalidAction, match="fly"):
        env.step(Action("fly"))


def test_hooks_cannot_reach_the_world_through_what_they_get():
    """Spoiling every value in place leaves the world, later answers and the verdict as they are."""

    class Spoil(Contract):
        def modify_transition(self, action, response, env_state):
            env_state.data["position"] = 99
            env_state.data.clear()
            response.info.clear()
            response.observation.data.clear()
            return response

    spoilt, clean = begun(Spoil()), begun()
    for word in ("right", "switch", "right"):
        spoilt.step(Action(word))
        clean.step(Action(word))
    assert spoilt.observe() == clean.observe()
    assert spoilt.get_env_state() == clean.get_env_state()
    assert spoilt.evaluate() == clean.evaluate()


def test_a_subclass_of_step_result_is_a_step_result():
    """Hooks may return values of their own subclass."""

    class Own(StepResult):
        pass

    class Returns(Contract):
        def modify_transition(self, action, response, env_state):
            return Own(response.observation)

    assert isinstance(begun(Returns()).step(Action("right")), Own)


def test_without_a_reset_the_error_says_so():
    """Stepping a contract that has no episode asks for a reset."""
    env = Same()(CorridorEnv())
    for call in (lambda: env.step(Action("left")), env.observe, env.save_layer):
        with pytest.raises(ContractError, match=r"call reset\(\) first"):
            call()


SHOUT = """
class Shout(Contract):
    def filter_action(self, action, env_state):
        if env_state.data["lamp"] and action.text == "switch":
            return Blocked("Leave it on.")
        return action

    def modify_transition(self, action, response, env_state):
        count = env_state.extras["count"] = env_state.extras.get("count", 0) + 1
        return response.replace(info={"count": count})

    def filter_observation(self, observation, env_state):
        return observation.replace(text=observation.text.upper())
"""


def test_source_text_behaves_like_a_class():
    """All three hooks of a source contract work on reset, step, block and observe."""
    with Contract.from_source(SHOUT)(CorridorEnv(LENGTH)) as env:
        assert env.reset(seed=3).observation.text == "CELL 1 OF 4. THE LAMP IS OFF."
        assert env.step(Action("switch")).info == {"count": 1}
        blocked = env.step(Action("switch"))
        assert blocked.observation.text == "Leave it on.\n\nCELL 1 OF 4. THE LAMP IS ON."
        assert env.step(Action("right")).info == {"count": 2}
        assert env.observe().text == "CELL 2 OF 4. THE LAMP IS ON."
        assert env.last_transition().observation.text == "Cell 2 of 4. The lamp is on."


def test_source_text_that_lies_about_an_ending_is_refused():
    """The rule of endings holds for source text as for classes."""
    source = """
class Undo(Contract):
    def modify_transition(self, action, response, env_state):
        return response.replace(terminated=False)
"""
    with Contract.from_source(source)(CorridorEnv(LENGTH)) as env:
        env.reset()
        with pytest.raises(ContractError, match="endings are final"):
            env.step(Action("stop"))


@pytest.mark.parametrize(
    "name", ["filter_actions", "filter_obs", "modify_transitions", "modify_observation"]
)
def test_a_misspelt_hook_is_refused_when_the_class_is_made(name):
    """A method that would never run is an error that lists the hooks; other names are free."""
    with pytest.raises(TypeError, match=rf"Typo.{name} is no hook.*filter_observation"):
        type("Typo", (Contract,), {name: lambda self, *_: None})
    type("Fine", (Contract,), {"helper": lambda self: None, "filter_action": lambda self, a, s: a})
