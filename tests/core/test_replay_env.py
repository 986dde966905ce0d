"""`ReplayEnv`: a bridge with the bookkeeping done."""

import random

import pytest

from harness_core import Action, Contract, Observation, ReplayEnv
from harness_core.errors import HarnessError, InvalidAction, SpecError, UnknownTaskError
from harness_core.hookspecs import Entry, hookimpl
from harness_core.registry import registry
from harness_core.testing import check_env


class Guess(ReplayEnv):
    """Guess the number that the seed draws."""

    tasks = {"small": "Guess a number from 1 to 3.", "large": "Guess a number from 1 to 9."}

    def __init__(self, task=None, *, polite=False):
        super().__init__(task, polite=polite)
        self.polite = polite

    def begin(self, task, seed):
        self.top = 3 if task == "small" else 9
        self.number = random.Random(seed).randint(1, self.top)
        self.guess = 0

    def act(self, action):
        if not action.text.isdecimal() or not 1 <= int(action.text) <= self.top:
            raise InvalidAction(f"Guess a number from 1 to {self.top}.")
        self.guess = int(action.text)
        return self.solved()

    def show(self):
        words = "You guessed {}, please go on." if self.polite else "You guessed {}."
        numbers = [str(number) for number in range(1, self.top + 1)]
        return Observation(words.format(self.guess), {"admissible": numbers})

    def solved(self):
        return self.guess == self.number

    def facts(self):
        return {"number": self.number, "guess": self.guess}


def test_a_world_alone_makes_an_env():
    """Five methods and a table of tasks keep every promise of the contract."""
    assert "snapshot" in check_env(lambda: Guess("large"))


def test_options_survive_a_snapshot():
    """What the constructor was told is told again to the restored env."""
    env = Guess("large", polite=True)
    env.reset(seed=3)
    env.step(Action("1"))
    again = Guess.from_state(env.save_state())
    assert again.observe() == env.observe()
    assert "please" in again.observe().text


def test_wrong_use_is_told():
    """An unknown task, a step before the reset and a foreign state are errors that say so."""
    with pytest.raises(UnknownTaskError, match="Did you mean 'small'"):
        Guess("smal")
    with pytest.raises(HarnessError, match="call reset"):
        Guess().step(Action("1"))
    with pytest.raises(SpecError, match="no saved Guess"):
        Guess.from_state({"task": "small"})


def answer_to(action):
    env = Guess("small")
    env.reset()
    return env.step(action)


def test_plain_text_is_an_action():
    """A text where an action is due is read as one, bare and under a contract, or refused."""
    for env in (Guess("small"), Contract()(Guess("small"))):
        env.reset()
        assert env.step("1") == answer_to(Action("1"))
        with pytest.raises(InvalidAction, match="no action"):
            env.step(1)


class Notes(ReplayEnv):
    """Keeps what it is told, and shows and describes it without copying."""

    tasks = {"only": "Write it down."}

    def begin(self, task, seed):
        self.notes = []

    def act(self, action):
        self.notes.append(action.arguments)
        return False

    def show(self):
        return Observation("", {"notes": self.notes})

    def solved(self):
        return {"text": ["cheat"]} in self.notes

    def facts(self):
        return {"notes": self.notes}


def write(env, arguments):
    return env.step(Action(tool="write", arguments=arguments))


def test_the_world_shares_nothing_with_its_caller():
    """Changing an action, an answer, a state or a snapshot afterwards changes nothing inside."""
    env = Notes()
    env.reset().observation.data["notes"].append({"text": ["cheat"]})
    arguments = {"text": ["a"]}
    answer = write(env, arguments)
    saved = env.save_state()
    arguments["text"].append("cheat")
    for seen in (answer.observation.data, env.observe().data, env.get_env_state().data):
        seen["notes"][0]["text"][0] = "cheat"
        seen["notes"].append({"text": ["cheat"]})
    env.save_state()["actions"][0][2]["text"][0] = "cheat"
    assert not env.evaluate().success
    assert env.save_state() == saved
    assert env.observe().data == {"notes": [{"text": ["a"]}]}
    again = Notes.from_state(saved)
    write(again, {"text": ["b"]})
    assert env.observe().data == {"notes": [{"text": ["a"]}]}


def test_a_contract_that_edits_in_place_does_not_change_the_world():
    """A Python hook that writes into observation and state writes into copies."""

    class Cheat(Contract):
        def modify_transition(self, action, response, env_state):
            response.observation.data["notes"].append({"text": ["cheat"]})
            env_state.data["notes"].append({"text": ["cheat"]})
            action.arguments["text"] = ["cheat"]
            return response

    env = Cheat()(Notes())
    env.reset()
    write(env, {"text": ["a"]})
    assert not env.evaluate().success
    assert env.observe().data == {"notes": [{"text": ["a"]}]}


@pytest.mark.parametrize(
    "changes",
    [
        {"task": 3},
        {"options": None},
        {"options": {"loud": True}},
        {"seed": "x"},
        {"seed": None},
        {"actions": 5},
        {"actions": [["1"]]},
        {"actions": ["1xx"]},
        {"actions": [["99", "", {}]]},
        {"free": 2},
        {"free": -1},
        {"free": True},
        {"more": 1},
    ],
)
def test_a_damaged_state_is_refused(changes):
    """Whatever was not saved so is a SpecError that names the env."""
    env = Guess()
    env.reset()
    env.step(Action("1"))
    with pytest.raises(SpecError, match="no saved Guess"):
        Guess.from_state({**env.save_state(), **changes})


@pytest.mark.parametrize("task", [["small"], 3, {}])
def test_a_task_that_is_no_text_is_unknown(task):
    """Ids of any other type are answered like any unknown id."""
    with pytest.raises(UnknownTaskError):
        Guess(task)
    with pytest.raises(UnknownTaskError):
        Guess().reset(options={"task": task})


class Plugin:
    """Registers `Guess`."""

    @hookimpl
    def harness_envs(self):
        return [Entry("guess", "A number.", f"{__name__}:Guess")]


def test_an_unknown_task_of_a_registered_env_names_its_id():
    """The command in the hint works as it stands, for an env that is registered."""
    plugin = Plugin()
    registry().add(plugin, "guess-plugin")
    try:
        with pytest.raises(UnknownTaskError, match="`harness list tasks guess`"):
            Guess("smal")
    finally:
        registry().manager.unregister(plugin)
