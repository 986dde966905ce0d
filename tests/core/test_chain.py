import pytest

from harness_core import Action, Chain, Contract, StackSpec, Stage, Verdict, make
from harness_core.chain import ChainLayer
from harness_core.errors import ChainError, InvalidAction
from harness_core.testing import CorridorEnv
from harness_core.testing.contracts import Forbid, Handover, KeepWords, Swap

SHORT = StackSpec("corridor", task="length-2")
"""One cell to walk: solved by `right`, `switch`, in any order."""


def begun(chain, task="length-2"):
    env = chain(make("corridor", task=task))
    env.reset(seed=0)
    return env


def play(env, *words):
    return [env.step(Action(word)) for word in words]


class Route(Contract):
    """A route that asks a function for the next segment."""

    def __init__(self, choose):
        object.__setattr__(self, "choose", choose)

    def modify_transition(self, action, response, env_state):
        target = self.choose(action, response, env_state)
        if target is not None:
            env_state.switch_to(target)
        return response


def test_in_sequence_the_second_follows_the_first():
    """The end of the first is masked, the second's end is the end, and both must succeed."""
    env = begun(Chain(SHORT))
    answers = play(env, "right", "switch", "right", "switch")
    assert [answer.ended for answer in answers] == [False, False, False, True]
    verdict = env.evaluate()
    assert verdict.success
    assert [part.success for part in verdict.parts] == [True, True]


def test_the_handover_tells_where_one_stands_and_what_was_last_said():
    """Its text has the part, the end of the last observation and the next one's start."""
    env = begun(Chain(SHORT))
    handover = play(env, "right", "switch")[-1]
    assert handover.observation.text == (
        "[Part 2 of 2. The previous part's last words:]\n"
        "Cell 2 of 2. The lamp is on.\n\n"
        "Light the last of 2 cells.\n\n"
        "Cell 1 of 2. The lamp is off."
    )
    assert handover.info == {"segment": 1}
    assert handover.observation.data == env.observe().data


def test_a_long_last_observation_is_cut_in_the_handover():
    """Only the last 1500 characters of the part before are repeated."""

    class Long(Contract):
        def filter_observation(self, observation, env_state):
            return observation.replace(text="x" * 5000 + observation.text)

    env = Chain(SHORT)(Long()(make("corridor", task="length-2")))
    env.reset()
    text = play(env, "right", "switch")[-1].observation.text
    assert 1450 < text.count("x") < 1500


def test_one_failed_part_fails_the_chain():
    """Stopping in the first part goes on to the second, but the conjunction is lost."""
    env = begun(Chain(SHORT))
    answers = play(env, "stop", "right", "switch")
    assert answers[-1].terminated
    verdict = env.evaluate()
    assert not verdict.success
    assert [part.success for part in verdict.parts] == [False, True]
    assert verdict.score == 0.0


def test_a_required_part_that_never_ended_counts_as_failed():
    """Before the end of its last part a chain is not solved, however good its first."""
    env = begun(Chain(SHORT))
    play(env, "right", "switch", "right")
    assert env.evaluate().parts[1] == Verdict(False, metrics={"ended": False})
    assert not env.evaluate().success


def test_an_ended_part_keeps_its_verdict():
    """Its verifier is asked once, when it ends."""
    asked = []

    class Counting(CorridorEnv):
        def evaluate(self):
            asked.append(self._position)
            return super().evaluate()

        def step(self, action):
            answer = super().step(action)
            asked.clear()
            return answer

    env = Chain(SHORT)(Counting("length-2"))
    env.reset()
    play(env, "stop")
    assert len(asked) == 1
    env.evaluate()
    env.evaluate()
    assert len(asked) == 1


def test_the_extension_is_reset_when_it_is_reached():
    """Nothing of the extension has started before; its stage runs at the hand-over."""
    lit = StackSpec("corridor", "length-3", (Stage(["switch"]),))
    env = begun(Chain(lit))
    play(env, "right")
    with pytest.raises(Exception, match="reset"):
        env._segments[1].env.observe()
    handover = play(env, "switch")[-1]
    assert handover.observation.text.endswith("of 3. The lamp is on.")


def test_three_envs_in_a_row():
    """Several extensions follow each other, and all count."""
    env = begun(Chain([SHORT, SHORT]))
    answers = play(env, *["right", "switch"] * 3)
    assert [answer.ended for answer in answers] == [False] * 5 + [True]
    assert len(env.evaluate().parts) == 3
    assert env.evaluate().success


def test_a_route_branches_on_the_first_verdict():
    """After success the hard env follows, after failure the remedial one; the other is unused."""
    hard, remedial = StackSpec("corridor", task="length-6"), SHORT

    def choose(action, response, state):
        first, second, third = state.segments
        if first["ended"] and not (second["ended"] or third["ended"]):
            return 1 if first["success"] else 2
        return None

    def chain():
        return Chain([hard, remedial], route=Route(choose), required=[0])

    env = begun(chain())
    play(env, "right", "switch")
    assert env.get_env_state().task == "length-6"
    assert play(env, "stop")[0].terminated
    assert env.evaluate().success

    env = begun(chain())
    play(env, "stop")
    assert env.get_env_state().task == "length-2"
    assert play(env, "right", "switch")[-1].terminated
    assert not env.evaluate().success


def test_a_route_switches_midway():
    """A switch before the end takes effect at once, and the open first part can be resumed."""

    def choose(action, response, state):
        if action.text == "switch" and state.data["active"] == 0:
            return 1
        return 0 if state.segments[1]["ended"] and not state.segments[0]["ended"] else None

    env = begun(Chain(StackSpec("corridor", task="length-3"), route=Route(choose)), "length-2")
    answers = play(env, "switch", "stop")
    assert [answer.info.get("segment") for answer in answers] == [1, 0]
    assert answers[1].observation.text.endswith("Cell 1 of 2. The lamp is on.")
    assert play(env, "right")[0].terminated
    assert [part.success for part in env.evaluate().parts] == [True, False]


def test_a_route_interleaves():
    """Each step goes to the other part, as long as both are open."""

    def choose(action, response, state):
        other = 1 - state.data["active"]
        return None if state.segments[other]["ended"] else other

    env = begun(Chain(SHORT, route=Route(choose)))
    answers = play(env, "right", "right", "switch", "switch")
    assert [answer.info.get("segment") for answer in answers[:3]] == [1, 0, 1]
    assert [answer.ended for answer in answers] == [False, False, False, True]
    assert env.evaluate().success
    assert env.get_env_state().steps == 4


def test_last_transition_is_that_of_the_part_that_answered():
    """When parts take turns, the record of a step never shows the other part's last one."""

    def choose(action, response, state):
        return 1 - state.data["active"]

    chain = Chain(StackSpec("corridor", "length-6", (Forbid("right"),)), route=Route(choose))
    env = chain(Swap("left", "right")(make("corridor", task="length-6")))
    env.reset()
    play(env, "left")
    assert env.last_transition().action == Action("right")
    play(env, "right")
    assert env.last_transition().blocked == "right is forbidden."
    play(env, "switch")
    assert env.last_transition().action == Action("switch")


def test_only_required_parts_count():
    """With `required=(0,)` the extension may fail, and the wrapped env may not."""
    env = begun(Chain(SHORT, required=[0]))
    play(env, "right", "switch", "stop")
    assert env.evaluate().success
    env = begun(Chain(SHORT, required=[0]))
    play(env, "stop", "right", "switch")
    assert not env.evaluate().success


@pytest.mark.parametrize("target", [2, -1, 0, "1", 1.0, True, None, [1]])
def test_switching_to_a_part_that_is_not_open_is_an_error(target):
    """The error names the target and the open parts; only an open part's number is accepted."""

    def choose(action, response, state):
        state.switch_to(target)

    env = begun(Chain(SHORT, route=Route(choose)))
    if target is None:
        assert play(env, "stop")[0].terminated
        return
    with pytest.raises(ChainError, match=r"switched to segment .* Open segments: \[1\]"):
        play(env, "stop")


def test_switching_to_the_active_part_changes_nothing():
    """An open part that goes on needs no hand-over."""
    stay = Route(lambda action, response, state: state.data["active"])
    env, bare = begun(Chain(SHORT, route=stay)), make("corridor", task="length-2")
    bare.reset(seed=0)
    assert play(env, "right") == play(bare, "right")


@pytest.mark.parametrize("seed", range(6))
def test_the_extension_gets_the_seed_of_the_episode(seed):
    """The second part starts as its env does under the same seed."""
    longer = StackSpec("corridor", "length-6")
    env, bare = Chain(longer)(make("corridor")), longer.build()
    env.reset(seed=seed)
    handover = play(env, "stop")[0]
    assert handover.observation.data == bare.reset(seed=seed).observation.data


def test_a_route_cannot_hide_or_invent_an_ending():
    """Whether the chain is over is decided by its parts and switches alone."""

    class Liar(Contract):
        def modify_transition(self, action, response, env_state):
            return response.replace(terminated=not response.terminated, truncated=True)

    env = begun(Chain(SHORT, route=Liar()))
    assert not play(env, "right")[0].ended
    answer = play(env, "stop")[0]
    assert (answer.terminated, answer.truncated) == (True, False)


def test_a_truncated_part_hands_over():
    """A part that gives up by its own limit has ended, and failed."""
    env = Chain(SHORT)(make("corridor", task="length-6", limit=1))
    env.reset()
    assert not play(env, "right")[0].ended
    assert play(env, "right", "switch")[-1].terminated
    assert not env.evaluate().success


def test_the_tools_are_the_union():
    """Tools of all parts are offered throughout; a name means what the active part means by it."""
    chain = Chain(SHORT)
    env = begun(chain)
    assert [tool.name for tool in env.tools()] == ["walk", "switch", "stop"]


def test_the_state_tells_about_the_parts():
    """The active part's state, with the parts' endings and the steps of all of them."""
    env = begun(Chain(SHORT))
    play(env, "right", "switch", "right")
    state = env.get_env_state()
    assert state.steps == 3
    assert state.data["active"] == 1
    assert state.data["segments"] == [
        {"ended": True, "success": True},
        {"ended": False, "success": None},
    ]


def test_an_invalid_action_leaves_the_chain_as_it_is():
    """The active part refuses; nothing is switched or ended."""
    env = begun(Chain(SHORT, route=Handover(1)))
    before = env.get_env_state()
    with pytest.raises(InvalidAction):
        play(env, "fly")
    assert env.get_env_state() == before


def test_a_reset_starts_over():
    """After an episode through both parts, the next one starts in the first with no verdicts."""
    env = begun(Chain(SHORT))
    play(env, "right", "switch", "right", "switch")
    env.reset(seed=0)
    assert env.get_env_state().data["active"] == 0
    assert not env.evaluate().success
    play(env, "right", "switch", "right", "switch")
    assert env.evaluate().success


def test_a_stage_may_replay_into_the_second_part():
    """A stage around a chain pays for the first part; the agent's budget starts in the second."""
    env = begun(Stage(["right", "switch", "right"]) @ Chain(SHORT))
    assert env.get_env_state().steps == 0
    assert env.get_env_state().data["active"] == 1
    assert play(env, "switch")[0].terminated
    assert env.evaluate().success


def test_chains_nest():
    """A chain in a chain is judged by the conjunction of all its parts."""
    env = begun(Chain(StackSpec("corridor", "length-2", (Chain(SHORT),))))
    answers = play(env, *["right", "switch"] * 3)
    assert [answer.ended for answer in answers] == [False] * 5 + [True]
    assert env.evaluate().success
    assert [len(part.parts) for part in env.evaluate().parts] == [0, 2]


def test_components_around_a_chain_hold_in_every_part():
    """A contract outside the chain filters the first part, the hand-over and the second."""
    env = begun(KeepWords(2) @ Chain(SHORT))
    answers = play(env, "right", "switch", "right")
    assert [answer.observation.text for answer in answers] == ["Cell 2", "[Part 2", "Cell 2"]


def test_closing_closes_every_part():
    """Close reaches the first part and all extensions, also those that never started."""
    closed = []

    class Closable(CorridorEnv):
        def close(self):
            closed.append(self._task)

    layer = Chain([SHORT, SHORT])(Closable("length-3"))
    assert isinstance(layer, ChainLayer)
    for number, segment in enumerate(layer._segments[1:], start=1):
        segment.env = Closable(f"length-{3 + number}")
    layer.close()
    assert sorted(closed) == ["length-3", "length-4", "length-5"]


ROUTE = """
class Twice(Contract):
    def modify_transition(self, action, response, env_state):
        first, second = env_state.segments
        if first["ended"] and not second["ended"]:
            env_state.switch_to(1)
        return response
"""


def test_a_route_in_source_text_switches_by_message():
    """Generated route code reads the segments and switches from inside the sandbox."""
    with begun(Chain(SHORT, route=Contract.from_source(ROUTE))) as env:
        answers = play(env, "right", "switch", "right", "switch")
        assert [answer.ended for answer in answers] == [False, False, False, True]
        assert env.evaluate().success


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"extension": []}, "at least one extension"),
        ({"extension": ["corridor"]}, "An extension is a StackSpec, not 'corridor'"),
        ({"extension": SHORT, "required": [2]}, "Required segment 2 is none of 0 to 1"),
        ({"extension": SHORT, "required": []}, r"segment 0, the wrapped env.*required=\(0,\)"),
        ({"extension": SHORT, "required": [1]}, r"required=\(0, 1\)"),
        ({"extension": SHORT, "required": [False]}, "Required segment False is none of"),
        ({"extension": SHORT, "required": [0, 1.0]}, "Required segment 1.0 is none of"),
        ({"extension": SHORT, "route": Stage([])}, "A route is a Contract, not Stage"),
    ],
)
def test_a_chain_that_makes_no_sense_is_refused(arguments, told):
    """Each wrong argument is named when the component is made."""
    with pytest.raises(ChainError, match=told):
        Chain(**arguments)
