"""`ReplayEnv`: a bridge with the bookkeeping done."""

import random

import pytest

from harness_core import Action, Observation, ReplayEnv
from harness_core.errors import HarnessError, InvalidAction, SpecError, UnknownTaskError
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
