"""The household policies: what they understand, how they cope, and the flaws they show."""

from __future__ import annotations

import re
from itertools import product

import pytest
from attrs import frozen

from harness_bridges.alfworld.games import Game, generate_games
from harness_bridges.alfworld.games.task import BY_NAME
from harness_bridges.alfworld.household.flaws import (
    ForgetsSecondPolicy,
    GivesUpPolicy,
    LoopsPolicy,
    NoOpenPolicy,
)
from harness_bridges.alfworld.household.goal import Goal, read_goal
from harness_bridges.alfworld.household.memory import Memory
from harness_bridges.alfworld.household.policy import HouseholdPolicy
from harness_core import Action, Blocked, Chain, Contract, Observation, StackSpec, compose, make
from harness_core.component import Component
from harness_core.contract import StateView
from harness_core.episode import Episode, run_episode
from harness_core.errors import PolicyError, SpecError
from harness_core.policies import Policy, PolicySpec
from harness_core.values import Task

SENTENCES = {
    "put a mug in desk": Goal("mug", "desk"),
    "put some mug on desk.": Goal("mug", "desk"),
    "put a clean mug in desk": Goal("mug", "desk", "clean"),
    "clean some mug and put it in desk": Goal("mug", "desk", "clean"),
    "put a hot mug in desk": Goal("mug", "desk", "heat"),
    "heat some mug and put it in desk": Goal("mug", "desk", "heat"),
    "put a cool mug in desk": Goal("mug", "desk", "cool"),
    "cool some mug and put it in desk": Goal("mug", "desk", "cool"),
    "put two mug in desk": Goal("mug", "desk", copies=2),
    "find two mug and put them in desk": Goal("mug", "desk", copies=2),
    "look at mug under the desklamp": Goal("mug", lamp="desklamp"),
    "examine the mug with the desklamp": Goal("mug", lamp="desklamp"),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_twelve_sentences(sentence: str) -> None:
    """Each of the benchmark's ways to ask is understood."""
    assert read_goal(sentence) == SENTENCES[sentence]


def test_every_family_is_understood() -> None:
    """Both forms of every family that the generator writes are among them."""
    for family, form in product(BY_NAME.values(), (0, 1)):
        asked = family.sentences[form].format(object="mug", receptacle="desk")
        goal = read_goal(asked)
        assert goal is not None
        assert (goal.verb, goal.copies) == (family.verb, family.copies)


def test_other_tasks_are_refused() -> None:
    """A sentence that it does not know is an error that names it, not a guess."""
    policy = HouseholdPolicy()
    policy.reset(Task("t", "write a poem"), (), 0)
    with pytest.raises(PolicyError, match="write a poem"):
        policy.act(Observation("Hello.", {"admissible": ["look"]}))


def test_memory_reads_both_dialects() -> None:
    """Places, doors, contents and hands follow the texts of the old files and the new."""
    for put in ("You put the mug 1 in/on the desk 1.", "You move the mug 1 to the desk 1."):
        memory = Memory()
        for text in (
            "Looking quickly around you, you see a desk 1, and a drawer 2.\n\nYour task is to: ...",
            "You arrive at drawer 2. The drawer 2 is closed.",
            "You open the drawer 2. The drawer 2 is open. In it, you see a mug 1.",
            "You pick up the mug 1 from the drawer 2.",
        ):
            memory.read(text, [])
        assert (list(memory.places), memory.here) == (["desk 1", "drawer 2"], ["drawer 2"])
        assert (memory.holding, memory.places["drawer 2"].contents) == ("mug 1", set())
        assert not memory.places["drawer 2"].closed
        memory.read("You arrive at desk 1. On the desk 1, you see nothing.", [])
        memory.read(put, [])
        assert (memory.holding, memory.whereabouts("mug")) == ("", [("mug 1", "desk 1")])


def test_memory_reads_commands_alone() -> None:
    """Where texts are withheld, the admissible commands tell places, doors, things and hands."""
    memory = Memory()
    memory.read("", ["go to desk 1", "open drawer 2", "examine drawer 2", "look"])
    assert memory.here == ["drawer 2"]
    assert memory.places["drawer 2"].closed
    memory.read("", ["close drawer 2", "go to desk 1", "take mug 1 from drawer 2"])
    assert memory.whereabouts("mug") == [("mug 1", "drawer 2")]
    memory.read("", ["close drawer 2", "examine mug 1", "go to desk 1"])
    assert (memory.holding, memory.whereabouts("mug")) == ("mug 1", [])


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    """One small game of each family, with its target objects behind closed doors."""
    return generate_games(
        tmp_path_factory.mktemp("games"), count=6, seed=11, receptacles=9, hidden=True
    )


def play(game: Game, policy: Policy, *components: Component, seed: int = 0) -> Episode:
    with compose(
        make("alfworld", task=game.id, games=str(game.path.parents[3])), *components
    ) as env:
        return run_episode(env, policy, max_steps=60, seed=seed)


def commands(episode: Episode) -> list[str]:
    return [step.action.text for step in episode.steps]


@frozen
class TwoSentences(Contract):
    """Keeps the first two sentences of every text."""

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        return observation.replace(text=" ".join(re.split(r"(?<=[.!])\s+", observation.text)[:2]))


@frozen
class NoList(Contract):
    """Withholds the admissible commands."""

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        return observation.replace(data={})


@frozen
class HalfList(Contract):
    """Lists every second admissible command: now the even ones, now the odd ones."""

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        turn = env_state.extras["turn"] = 1 - env_state.extras.get("turn", 0)
        return observation.replace(data={"admissible": observation.data["admissible"][turn::2]})


@frozen
class Stubborn(Contract):
    """Refuses every third action, with a reason."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        count = env_state.extras["count"] = env_state.extras.get("count", 0) + 1
        return Blocked("You are too tired. Try again.") if count % 3 == 0 else action


WORLDS: dict[str, tuple[Component, ...]] = {
    "plain": (),
    "two sentences": (TwoSentences(),),
    "no list": (NoList(),),
    "half the list": (HalfList(),),
    "stubborn": (Stubborn(),),
    "stubborn, no list": (Stubborn(), NoList()),
}


@pytest.mark.parametrize("world", WORLDS)
def test_it_copes_with_contracts(games: list[Game], world: str) -> None:
    """The competent policy wins with texts cut, lists withheld or filtered, and actions refused."""
    for game in games[::2]:
        assert play(game, HouseholdPolicy(), *WORLDS[world]).success, game.id


def test_it_wins_every_family(games: list[Game]) -> None:
    """The competent policy finds what is hidden, in all six families."""
    assert [play(game, HouseholdPolicy()).success for game in games] == [True] * 6


def test_the_seed_is_all_its_randomness(games: list[Game]) -> None:
    """The same seed gives the same commands, also from a used instance; seeds differ."""
    policy = HouseholdPolicy()
    first, again, fresh = (
        commands(play(games[0], each, seed=5)) for each in (policy, policy, HouseholdPolicy())
    )
    assert first == again == fresh
    assert len({tuple(commands(play(games[0], policy, seed=seed))) for seed in range(4)}) > 1


def test_a_chain_is_played_to_its_end(games: list[Game]) -> None:
    """At a hand-over it takes up the new goal in the new room."""
    later = games[2]
    chain = Chain(StackSpec("alfworld", later.id, options={"games": str(later.path.parents[3])}))
    assert play(games[0], HouseholdPolicy(), chain).success


@frozen
class Barred(Contract):
    """Refuses everything."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        return Blocked("No.")


@pytest.mark.parametrize("list_", [(), (NoList(),)])
def test_it_gives_up_in_the_end(games: list[Game], list_: tuple[Component, ...]) -> None:
    """Where nothing works it stops by itself instead of trying for ever."""
    env = compose(
        make("alfworld", task=games[0].id, games=str(games[0].path.parents[3])), Barred(), *list_
    )
    with env:
        episode = run_episode(env, HouseholdPolicy(), max_steps=1000)
    assert episode.ending == "stopped"


def test_no_open(games: list[Game]) -> None:
    """It opens nothing, so it never finds what is hidden, and stops."""
    for game in games[:3]:
        episode = play(game, NoOpenPolicy())
        assert (episode.ending, episode.success) == ("stopped", False)
        assert not any(command.startswith("open") for command in commands(episode))


def test_forgets_second(games: list[Game]) -> None:
    """It puts the first of two objects where it belongs and stops; other families it wins."""
    episode = play(games[5], ForgetsSecondPolicy())
    assert (episode.ending, episode.success) == ("stopped", False)
    assert commands(episode)[-1].startswith("move")
    assert play(games[0], ForgetsSecondPolicy()).success


def test_loops(games: list[Game]) -> None:
    """It says the same command four times in a row, and needs more steps than without."""
    said = commands(play(games[0], LoopsPolicy(strength=0.5), seed=1))
    runs = re.findall(r"(?:^|\n)([^\n]+)\n\1\n\1\n\1", "\n".join(said))
    assert runs
    assert len(said) > len(commands(play(games[0], HouseholdPolicy(), seed=1)))


def test_gives_up(games: list[Game]) -> None:
    """It stops once it has looked into so many places in vain."""
    for patience in (1, 3):
        episode = play(games[0], GivesUpPolicy(patience=patience))
        assert (episode.ending, episode.success) == ("stopped", False)
        told = "\n".join(step.shown.text for step in episode.steps)
        looked = set(re.findall(r"(?:On|The) (?:the )?(\w+ \d+)(?: is open)?[.,] (?:In|you)", told))
        assert len(looked) == patience


@pytest.mark.parametrize("flaw", ["no-open", "forgets-second", "loops", "gives-up"])
def test_strength(games: list[Game], flaw: str) -> None:
    """At 0 the policy is the competent one, command by command; outside [0, 1] it is refused."""
    policy = PolicySpec(f"household-{flaw}", {"strength": 0.0}).build()
    sound = PolicySpec("household").build()
    for game in (games[0], games[5]):
        assert commands(play(game, policy, seed=2)) == commands(play(game, sound, seed=2))
    with pytest.raises(SpecError, match="probability"):
        PolicySpec(f"household-{flaw}", {"strength": 1.5}).build()


def test_strength_is_a_share_of_episodes() -> None:
    """The flaw shows in about that share of the seeds."""
    policy = NoOpenPolicy(strength=0.3)
    shown = 0
    for seed in range(1000):
        policy.reset(Task("t", "put a mug in desk"), (), seed)
        shown += policy.flawed
    assert 250 < shown < 350
