"""The simulated learner: what it reads, and what that is worth."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_bridges.alfworld.games import generate_games
from harness_bridges.alfworld.household.reader import REMEDIES, SimulatedReader, heeded
from harness_core import make
from harness_core.episode import run_episode
from harness_core.errors import SpecError
from harness_core.policies import Policy
from harness_core.values import Observation, Task, Tool

ADVICE = (
    "Open a closed drawer before you conclude that a thing is missing. With two objects to place, "
    "go back for the second object. Search every place until the object is found."
)


class Advised:
    """`policy`, told something before it starts."""

    def __init__(self, policy: Policy, advice: str) -> None:
        self._policy, self._advice = policy, advice
        self.act = policy.act

    def reset(self, task: Task, tools: tuple[Tool, ...], seed: int) -> None:
        self._policy.reset(Task(task.id, task.goal, data={"guidance": self._advice}), tools, seed)


@pytest.mark.parametrize(
    ("advice", "cured"),
    [
        ("", set()),
        ("Be careful. Think step by step.", set()),
        ("Opening. The drawer.", set()),
        ("OPEN every closed container first!", {"leaves doors closed"}),
        ("Put both items there", {"forgets the second object"}),
        ("keep looking", {"gives up early"}),
        (ADVICE, set(REMEDIES)),
    ],
)
def test_a_sentence_must_speak_to_the_flaw(advice: str, cured: set[str]) -> None:
    """Advice cures a flaw where one sentence has a word of each kind, and nothing else does."""
    assert heeded(advice) == cured


def test_advice_is_worth_something(tmp_path: Path) -> None:
    """The same games and seeds are solved far more often with the right advice than without."""
    games = generate_games(tmp_path, count=12, seed=3, receptacles=12, hidden=True)

    def solved(advice: str) -> int:
        won = 0
        for game in games:
            with make("alfworld", task=game.id, games=str(tmp_path)) as env:
                player = Advised(SimulatedReader(), advice)
                won += sum(bool(run_episode(env, player, seed=seed).success) for seed in range(3))
        return won

    without, with_advice = solved(""), solved(ADVICE)
    assert with_advice == 36
    assert without < 18


def test_without_flaws_it_is_the_competent_policy() -> None:
    """At strength 0 it has no flaws, and a strength that is no probability is refused."""
    policy = SimulatedReader(0.0)
    policy.reset(Task("t", "put a mug in desk"), (), 0)
    assert policy.flaws == set()
    assert policy.act(Observation("You see a desk 1.", {"admissible": ["go to desk 1"]}))
    with pytest.raises(SpecError, match="probability"):
        SimulatedReader(1.5)
