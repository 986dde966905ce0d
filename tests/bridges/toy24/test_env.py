import json
import random
import time

import pytest

from harness_bridges.toy24.env import Toy24Env
from harness_bridges.toy24.puzzles import solvable_puzzles
from harness_core import Action, Contract, HarnessError
from harness_core.errors import InvalidAction, SpecError, UnknownTaskError

SOLUTION = ("combine 1 / 5", "combine 5 - 1/5", "combine 5 * 24/5")


def started(task="1-5-5-5"):
    env = Toy24Env(task)
    env.reset(seed=0)
    return env


def play(env, *texts):
    return [env.step(Action.of(text)) for text in texts]


def test_a_solution_over_fractions_is_exact_and_ends_the_episode():
    """1-5-5-5, which only fractions solve, ends as solved with exactly 24."""
    env = started()
    results = play(env, *SOLUTION)
    assert [result.terminated for result in results] == [False, False, True]
    assert results[-1].observation.data["numbers"] == ["24"]
    assert env.evaluate().success
    assert env.evaluate().score == 1.0


def test_nearly_24_is_not_24():
    """A value that floats cannot tell from 24 is no success: (13 - 1/13) / ... stays a fraction."""
    env = Toy24Env.from_state(
        {"task": "1-1-1-8", "steps": 0, "numbers": [f"{24 * 10**30 + 1}/{10**30}"]}
    )
    assert float(env._now.numbers[0]) == 24.0
    assert not env.evaluate().success


def test_24_with_cards_left_over_is_no_success():
    """A 24 beside another number neither ends the episode nor satisfies the verifier."""
    env = started("1-1-3-8")
    result = env.step(Action("combine 3 * 8"))
    assert "24" in result.observation.data["numbers"]
    assert not result.ended
    assert not env.evaluate().success


def test_a_wrong_last_number_leaves_the_episode_open_for_a_reset():
    """A single number other than 24 goes on; `reset` deals the same cards again for one step."""
    env = started()
    results = play(env, "combine 1 + 5", "combine 5 + 6", "combine 11 + 5")
    assert not results[-1].ended
    assert results[-1].observation.text == "Numbers: 16. Not 24: reset or stop."
    assert results[-1].observation.data["admissible"] == ["reset", "stop"]
    again = env.step(Action("reset"))
    assert again.observation.data["numbers"] == ["1", "5", "5", "5"]
    assert env.get_env_state().steps == 4
    assert play(env, *SOLUTION)[-1].terminated


def test_stop_ends_unsolved_and_the_ending_may_be_refused():
    """`stop` terminates without success; a contract that undoes it lets the agent go on."""

    class Persist(Contract):
        def modify_transition(self, action, response, env_state):
            return response.replace(terminated=env_state.data["numbers"] == ["24"])

    env = started()
    assert env.step(Action("stop")).terminated
    assert not env.evaluate().success

    refused = Persist()(Toy24Env("1-5-5-5"))
    refused.reset()
    assert not refused.step(Action("stop")).ended
    assert play(refused, *SOLUTION)[-1].terminated
    assert refused.evaluate().success


def test_text_and_tool_forms_are_the_same_action():
    """A tool call and its text lead to equal results, numbers given as text or as integers."""
    one, other, third = started("2-3-4-8"), started("2-3-4-8"), started("2-3-4-8")
    by_text = one.step(Action("combine 3 * 8"))
    texts, integers = ({"left": a, "operator": "*", "right": b} for a, b in (("3", "8"), (3, 8)))
    assert other.step(Action(tool="combine", arguments=texts)) == by_text
    assert third.step(Action(tool="combine", arguments=integers)) == by_text
    for name in ("reset", "stop"):
        assert one.step(Action(name)) == other.step(Action(tool=name))
    assert one.get_env_state() == other.get_env_state()


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (Action("fly"), "'fly' is no action"),
        (Action(""), "is no action"),
        (Action("combine 1 5"), "combine LEFT OPERATOR RIGHT"),
        (Action("combine 1 ^ 5"), "combine LEFT OPERATOR RIGHT"),
        (Action("combine 1*5"), "with spaces"),
        (Action("combine 7 + 1"), "7 is not on the table (numbers: 1, 5, 5, 5)"),
        (Action("combine 1 + 1"), "1 is not on the table a second time"),
        (Action("combine 5.0 + 1"), "5.0 is not on the table"),
        (Action("reset now"), "is no action"),
        (Action(tool="fly"), "no tool 'fly'"),
        (Action(tool="combine"), "combine takes left, operator, right"),
        (Action(tool="combine", arguments={"left": 1, "operator": "+"}), "takes left"),
        (Action(tool="combine", arguments={"left": 1.0, "operator": "+", "right": 5}), "takes"),
        (Action(tool="combine", arguments={"left": True, "operator": "+", "right": 5}), "takes"),
        (Action(tool="combine", arguments={"left": [1], "operator": "+", "right": 5}), "takes"),
        (Action(tool="stop", arguments={"why": "bored"}), "stop takes no arguments"),
        (Action("9" * 5000), "is no action"),
    ],
)
def test_an_impossible_action_teaches_and_changes_nothing(action, told):
    """Whatever is not possible is an InvalidAction that says why; the world stays as it was."""
    env = started()
    before = env.get_env_state()
    with pytest.raises(InvalidAction) as caught:
        env.step(action)
    assert told in str(caught.value)
    assert env.get_env_state() == before


def test_division_by_zero_is_an_impossible_action():
    """Dividing by a 0 on the table is refused in words."""
    env = started()
    env.step(Action("combine 5 - 5"))
    with pytest.raises(InvalidAction, match=r"/ 0 divides by zero"):
        env.step(Action("combine 1 / 0"))
    assert "combine 1 / 0" not in env.observe().data["admissible"]
    assert "combine 0 / 1" in env.observe().data["admissible"]


def test_admissible_actions_are_sorted_unique_complete_and_accepted():
    """Exactly the listed texts are accepted, at every state of a random walk."""
    env, luck = started("2-3-3-12"), random.Random(1)
    for _ in range(60):
        saved, listed = env.save_state(), env.observe().data["admissible"]
        assert listed == sorted(set(listed))
        numbers = env.observe().data["numbers"]
        every = {f"combine {a} {o} {b}" for a in numbers for b in numbers for o in "+-*/"}
        for text in every | {"reset", "stop"}:
            trial = Toy24Env.from_state(saved)
            if text in listed:
                trial.step(Action(text))
            else:
                with pytest.raises(InvalidAction):
                    trial.step(Action(text))
        env.step(Action(luck.choice(listed)))


def test_the_task_is_chosen_by_id_and_never_by_the_seed():
    """Seeds leave the puzzle alone; ids choose it, at construction or at reset, for later too."""
    env = Toy24Env()
    assert {env.reset(seed=seed).task.id for seed in range(5)} == {env.list_tasks()[0].id}
    assert env.reset(options={"task": "3-3-8-8"}).task.id == "3-3-8-8"
    assert env.reset(seed=7).task.id == "3-3-8-8"
    assert env.observe().data["numbers"] == ["3", "3", "8", "8"]


@pytest.mark.parametrize(
    "task", ["", "1-2-3", "0-1-2-3", "1-2-3-14", "5-1-5-5", "a-b-c-d", "1-2-3-4-5", "01-2-3-4", 7]
)
def test_an_unknown_task_is_an_error_and_nothing_else(task):
    """Ids that are not four ascending cards raise, at construction and at reset alike."""
    env = started()
    with pytest.raises(UnknownTaskError):
        Toy24Env(task)
    with pytest.raises(UnknownTaskError):
        env.reset(options={"task": task})
    assert env.reset().task.id == "1-5-5-5"


def test_an_unsorted_id_is_answered_with_the_sorted_one():
    """The error names the nearest id, which is the same puzzle as it is written here."""
    with pytest.raises(UnknownTaskError, match="Did you mean '1-5-5-5'"):
        Toy24Env("5-5-5-1")


def test_an_unsolvable_puzzle_is_a_task_without_signal():
    """1-1-1-1 can be played, is not listed, and never gives the dense signal."""
    env = started("1-1-1-1")
    assert "1-1-1-1" not in {task.id for task in env.list_tasks()}
    assert env.step_signal() == 0.0


def test_the_dense_signal_says_whether_24_can_still_be_reached():
    """The signal falls to 0 with the move that spoils the puzzle, and `reset` brings it back."""
    env = started()
    assert env.step_signal() == 1.0
    env.step(Action("combine 5 * 5"))
    assert env.step_signal() == 0.0
    env.step(Action("reset"))
    assert env.step_signal() == 1.0


def test_a_snapshot_continues_at_the_same_point():
    """A state saved mid-episode as JSON continues with equal answers, steps and verdict."""
    env = started()
    env.step(Action(SOLUTION[0]))
    twin = Toy24Env.from_state(json.loads(json.dumps(env.save_state())))
    assert twin.get_env_state() == env.get_env_state()
    assert play(twin, *SOLUTION[1:]) == play(env, *SOLUTION[1:])
    assert twin.evaluate() == env.evaluate()


def test_before_the_first_reset_the_error_says_to_reset():
    """Every method that reads the world asks for a reset first; close never fails."""
    env = Toy24Env()
    for call in (lambda: env.step(Action("stop")), env.observe, env.evaluate, env.save_state):
        with pytest.raises(HarnessError, match="reset"):
            call()
    env.close()
    env.close()


def test_the_list_of_tasks_is_the_solvable_puzzles():
    """All 1362 of them, each with its goal, in the order of their ids' cards."""
    tasks = Toy24Env().list_tasks()
    assert [task.id for task in tasks] == list(solvable_puzzles())
    assert "Make 24 from 1, 1, 1, 8." in tasks[0].goal


def test_more_than_20000_steps_a_second():
    """Stepping is fast enough to be nobody's bottleneck (best of five short runs)."""
    env, luck = started("2-3-3-12"), random.Random(0)
    best = 0.0
    for _ in range(5):
        began, observation = time.perf_counter(), env.reset().observation
        for _ in range(2000):
            result = env.step(Action(luck.choice(observation.data["admissible"])))
            observation = env.reset().observation if result.ended else result.observation
        best = max(best, 2000 / (time.perf_counter() - began))
    assert best > 20_000


@pytest.mark.parametrize(
    "changes",
    [
        {"task": 3},
        {"task": None},
        {"steps": "1"},
        {"steps": -1},
        {"steps": True},
        {"numbers": None},
        {"numbers": "1555"},
        {"numbers": []},
        {"numbers": ["1"] * 5},
        {"numbers": [1, 5]},
        {"numbers": ["x"]},
        {"numbers": ["1/0"]},
        {"numbers": ["1e9999999999"]},
        {"numbers": ["9" * 5000]},
        {"more": 1},
    ],
)
def test_a_damaged_state_is_refused(changes):
    """Missing, wrong and senseless parts of a saved game are a SpecError, at once."""
    saved = started().save_state()
    with pytest.raises(SpecError):
        Toy24Env.from_state({**saved, **changes})
    for name in saved:
        with pytest.raises(SpecError, match=name):
            Toy24Env.from_state({key: value for key, value in saved.items() if key != name})
