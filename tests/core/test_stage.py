import pytest

from harness_core import Action, EnvState, Stage, StepResult, make
from harness_core.errors import InvalidAction, SpecError, StageError
from harness_core.testing import CorridorEnv
from harness_core.testing.contracts import Forbid

START_0 = 3
"""A seed under which `length-4` starts in the first cell."""


def corridor():
    env = CorridorEnv("length-4")
    env.reset(seed=START_0)
    assert env.get_env_state().data["position"] == 0
    return env


def refusal(stage, env=None):
    with pytest.raises(StageError) as caught:
        stage(env or corridor()).reset(seed=START_0)
    return str(caught.value)


def test_an_episode_starts_where_the_actions_lead_and_pays_for_none():
    """After the reset the world is changed, the observation shows it, and no step is spent."""
    env = Stage(["right", {"tool": "switch"}])(corridor())
    start = env.reset(seed=START_0)
    assert start.observation.text == "Cell 2 of 4. The lamp is on."
    assert env.get_env_state() == EnvState(
        "length-4", 0, {"position": 1, "lamp": True, "stopped": False}
    )
    env.step(Action("left"))
    assert env.get_env_state().steps == 1


def test_every_reset_replays():
    """The second episode starts at the same changed state as the first."""
    env = Stage(["right"])(corridor())
    first = env.reset(seed=START_0)
    env.step(Action("right"))
    assert env.reset(seed=START_0) == first


def test_a_live_env_is_staged_once(monkeypatch):
    """The same start and actions are replayed once a process: equal episodes, no further step."""
    stepped = []
    step = CorridorEnv.step
    monkeypatch.setattr(CorridorEnv, "step", lambda env, a: stepped.append(a) or step(env, a))

    def started(seed, actions, **options):
        stepped.clear()
        env = Stage(actions)(make("corridor", task="length-6", **options))
        start, replayed = env.reset(seed=seed), len(stepped)
        return replayed, [start, env.get_env_state(), env.step(Action("right")), env.evaluate()]

    replayed, first = started(3, ["switch", "right"])
    assert replayed == 2
    assert started(3, ["switch", "right"]) == (0, first)
    assert started(4, ["switch", "right"])[0] == 2
    assert started(3, ["switch"])[0] == 1
    assert started(3, ["switch", "right"], limit=9)[0] == 2


def test_an_action_without_effect_is_named_with_the_answer():
    """Walking into the wall is reported by position, action and what the env said."""
    told = refusal(Stage(["switch", "left"]))
    assert "Action 2 of 2, 'left', had no effect." in told
    assert "'Cell 1 of 4. The lamp is on.'" in told


def test_a_refused_action_is_named_with_the_answer():
    """An action outside the action space is reported with the env's own refusal."""
    told = refusal(Stage(["fly", "right"]))
    assert "Action 1 of 2, 'fly', was refused." in told
    assert "Write one of left, right, stop, switch" in told


def test_an_action_that_ends_the_episode_is_named_with_the_answer():
    """Neither stopping nor solving belongs into a replay."""
    assert "Action 1 of 1, 'stop', ended the episode." in refusal(Stage(["stop"]))
    solving = refusal(Stage(["switch", "right", "right", "right"]))
    assert "Action 4 of 4, 'right', ended the episode." in solving
    assert "'Cell 4 of 4. The lamp is on.'" in solving


def test_an_action_that_a_contract_blocks_is_named_with_the_reason():
    """A stage outside a contract replays through it, and hears why it was blocked."""
    told = refusal(Stage(["switch"]), Forbid("switch")(corridor()))
    assert "had no effect" in told
    assert "switch is forbidden." in told


def test_a_replay_that_already_solves_the_task_is_refused():
    """If the env does not end by itself, the verifier is asked whether anything is left to do."""

    class Patient(CorridorEnv):
        def step(self, action):
            return super().step(action).replace(terminated=False)

    env = Patient("length-2")
    with pytest.raises(StageError, match="After the 2 replayed actions the task is already solved"):
        Stage(["switch", "right"])(env).reset()


def test_an_expensive_verifier_is_not_asked_by_a_stage():
    """Asking once more than at the end could cost minutes, so a stage does not."""

    class Costly(CorridorEnv):
        verifier_cost = "expensive"

        def evaluate(self):
            raise AssertionError("asked")

        def step(self, action):
            self._lamp = not self._lamp
            return StepResult(self.observe())

    Stage(["switch"])(Costly()).reset()


def test_no_actions_change_nothing():
    """An empty stage starts where the env does."""
    assert Stage([])(corridor()).reset(seed=START_0) == corridor().reset(seed=START_0)


def test_one_text_is_not_a_list_of_actions():
    """The common slip, a bare text, is caught where it is made."""
    with pytest.raises(InvalidAction, match=r"\['switch'\]"):
        Stage("switch")


@pytest.mark.parametrize("values", [Action("switch"), {"tool": "switch"}, 3, None, [3], [None]])
def test_what_is_no_list_of_actions_is_refused(values):
    """One action, a dict or a number in place of a list is an error at once."""
    with pytest.raises(InvalidAction):
        Stage(values)


@pytest.mark.parametrize("value", [float("nan"), (1,), {1: 2}, object(), {1}, "\ud800", b"x"])
def test_actions_that_json_would_change_are_refused(value):
    """A stage holds only what a file can hold, at any depth of the arguments."""
    for arguments in ({"a": value}, {"a": [{"b": value}]}):
        with pytest.raises(SpecError, match="The actions of a Stage"):
            Stage([Action(tool="walk", arguments=arguments)])
    with pytest.raises((SpecError, InvalidAction)):
        Stage([Action(value)])


def test_a_stage_shares_nothing_with_its_caller():
    """Later changes of the arguments that it was made from do not reach it."""
    arguments = {"way": ["left"]}
    stage = Stage([Action(tool="walk", arguments=arguments)])
    arguments["way"].append("right")
    assert stage.actions[0].arguments == {"way": ["left"]}
