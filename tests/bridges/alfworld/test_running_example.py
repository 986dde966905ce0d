"""The running example: "put a clean mug in desk", hidden, washed, shortened, barred and chained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import frozen

from harness_bridges.alfworld.games.task import TaskSpec
from harness_bridges.alfworld.household.policy import HouseholdPolicy
from harness_core import (
    Action,
    ActionableEnv,
    Blocked,
    Chain,
    Contract,
    Observation,
    StackSpec,
    Stage,
    compose,
    make,
)
from harness_core.contract import StateView
from harness_core.episode import run_episode
from harness_core.errors import StageError
from harness_core.values import JsonDict
from support.alfworld_games import kitchen

WIN = [
    "go to shelf 1",
    "take mug 1 from shelf 1",
    "go to sinkbasin 1",
    "clean mug 1 with sinkbasin 1",
    "go to desk 1",
    "move mug 1 to desk 1",
]

hide = Stage(
    [
        "go to shelf 1",
        "take mug 1 from shelf 1",
        "go to drawer 1",
        "open drawer 1",
        "move mug 1 to drawer 1",
        "close drawer 1",
    ]
)
wash = Stage([*WIN[:4], "go to shelf 1", "move mug 1 to shelf 1", "go to countertop 1"])


@frozen
class TwoSentences(Contract):
    """Keeps the first two sentences of the room's description."""

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        title, _, room = observation.text.partition("=-\n\n")
        if not room:
            return observation
        kept = " ".join(re.split(r"(?<=\.)\s+", room)[:2])
        return observation.replace(text=f"{title}=-\n\n{kept}")


@frozen
class HoldToClean(Contract):
    """Refuses `clean` while the mug is not held."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        if not action.text.startswith("clean mug") or "mug" in env_state.data["holding"]:
            return action
        return Blocked("Hold it first.")


@frozen
class NoTeleport(Contract):
    """Takes the long-distance moves away: one goes to the next receptacles only."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        if action.text.startswith("go to") and action.text[6:] not in near(env_state.data):
            return Blocked("That is too far for one step.")
        return action

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        ways = {f"go to {name}" for name in near(env_state.data)}
        listed = observation.data["admissible"]
        kept = [each for each in listed if not each.startswith("go to") or each in ways]
        return observation.replace(data={**observation.data, "admissible": kept})


def near(world: JsonDict) -> list[str]:
    """The neighbours of where the agent stands; at the start, everything."""
    names = sorted(world["receptacles"])
    if not world["location"]:
        return names
    here = names.index(world["location"][0])
    return names[max(0, here - 1) : here + 2]


@pytest.fixture(scope="module")
def root(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("games")


@pytest.fixture(scope="module")
def mug(root: Path) -> str:
    """Put a clean mug in desk; the mug is on the shelf, and drawers take mugs."""
    task = TaskSpec("pick_clean_then_place_in_recep", "Mug", "Desk")
    things = {"Mug": "Shelf", "Apple": "CounterTop", "Pen": "Desk"}
    return kitchen(root, task, things, "(canContain DrawerType MugType)")


@pytest.fixture(scope="module")
def heat(root: Path, engine: str) -> Chain:
    """And then: heat a potato and put it on the countertop."""
    task = TaskSpec("pick_heat_then_place_in_recep", "Potato", "CounterTop")
    id_ = kitchen(root, task, {"Potato": "Fridge", "Mug": "Shelf"})
    return Chain(StackSpec("alfworld", id_, options={"games": str(root), "engine": engine}))


@pytest.fixture
def env(root: Path, mug: str, engine: str) -> ActionableEnv:
    return make("alfworld", task=mug, games=str(root), engine=engine)


def said(env: ActionableEnv, command: str) -> str:
    return env.step(Action(command)).observation.text


def test_the_static_game(env: ActionableEnv) -> None:
    """Without any component: fetch, clean, put, won."""
    with env:
        assert env.reset().observation.text.endswith("Your task is to: put a clean mug in desk.")
        for command in WIN:
            ended = env.step(Action(command)).ended
        assert ended
        assert env.evaluate().success


def test_a_stage_hides_the_mug(env: ActionableEnv) -> None:
    """The mug is no longer on the shelf but in the closed drawer, and nothing was paid for it."""
    with hide(env) as hidden:
        assert "drawer 1" in hidden.reset().observation.text
        assert hidden.get_env_state().steps == 0
        assert said(hidden, "go to shelf 1").endswith("you see nothing.")
        assert said(hidden, "go to drawer 1").endswith("The drawer 1 is closed.")
        assert "mug 1" in said(hidden, "open drawer 1")
        assert not hidden.evaluate().success


def test_a_stage_washes_it_beforehand(env: ActionableEnv) -> None:
    """A washed mug only has to be carried."""
    with wash(env) as washed:
        assert "You are facing the countertop 1" in washed.reset().observation.text
        assert washed.get_env_state().data["states"] == {"mug 1": ["clean"]}
        for command in (*WIN[:2], "go to desk 1"):
            assert not washed.step(Action(command)).ended
        assert washed.step(Action("move mug 1 to desk 1")).terminated
        assert washed.evaluate().success


def test_stages_must_leave_the_task_open(env: ActionableEnv) -> None:
    """A Stage that solves the task, or does nothing, is refused with the action's name."""
    with Stage(WIN)(env) as solved, pytest.raises(StageError, match="move mug 1 to desk 1"):
        solved.reset()
    with Stage(["look"])(env) as idle, pytest.raises(StageError, match="no effect"):
        idle.reset()


def test_two_sentences(env: ActionableEnv) -> None:
    """Of the room's description, two sentences are left; the task sentence is the third."""
    with TwoSentences()(env) as short:
        text = short.reset().observation.text
        assert text.startswith("-= Welcome to TextWorld, ALFRED! =-")
        assert text.count(". ") == 1
        assert "Your task" not in text
        assert (
            said(short, "go to shelf 1")
            == "You arrive at shelf 1. On the shelf 1, you see a mug 1."
        )


def test_clean_needs_the_mug_in_hand(env: ActionableEnv) -> None:
    """`clean` is blocked with the reason while the mug is not held, and allowed once it is."""
    with HoldToClean()(env) as strict:
        strict.reset()
        refused = strict.step(Action("clean mug 1 with sinkbasin 1"))
        assert refused.info == {"blocked": "Hold it first."}
        assert refused.observation.text.startswith("Hold it first.")
        assert strict.get_env_state().steps == 0
        for command in WIN:
            strict.step(Action(command))
        assert strict.evaluate().success


def test_no_teleports(env: ActionableEnv) -> None:
    """Far receptacles are neither listed nor reached; step by step the task is still won."""
    with NoTeleport()(env) as local:
        local.reset()
        listed = local.step(Action("go to shelf 1")).observation.data["admissible"]
        assert [each for each in listed if each.startswith("go to")] == [
            "go to microwave 1",
            "go to sinkbasin 1",
        ]
        assert "too far" in said(local, "go to desk 1")
        walk = ["microwave 1", "fridge 1", "drawer 1", "desk 1"]
        for command in (*WIN[1:4], "go to shelf 1", *(f"go to {name}" for name in walk), WIN[5]):
            assert local.step(Action(command)).info["valid"], command
        assert local.evaluate().success


def test_a_chain_adds_a_potato(env: ActionableEnv, heat: Chain) -> None:
    """After the mug comes the potato; both verdicts are needed."""
    with heat(env) as chained:
        chained.reset()
        for command in WIN:
            answer = chained.step(Action(command))
        assert not answer.ended
        assert answer.observation.text.endswith("Your task is to: put a hot potato in countertop.")
        assert not chained.evaluate().success
        for command in (
            "go to fridge 1",
            "open fridge 1",
            "take potato 1 from fridge 1",
            "go to microwave 1",
            "heat potato 1 with microwave 1",
            "go to countertop 1",
        ):
            assert not chained.step(Action(command)).ended
        assert chained.step(Action("move potato 1 to countertop 1")).terminated
        assert [part.success for part in chained.evaluate().parts] == [True, True]


def test_all_of_it_at_once(env: ActionableEnv, heat: Chain) -> None:
    """Washed, hidden, shortened, barred and chained: still solvable, by the same verifier."""
    stack = compose(env, wash, hide, TwoSentences(), HoldToClean(), NoTeleport(), heat)
    with stack:
        episode = run_episode(stack, HouseholdPolicy(), max_steps=80)
        assert episode.failure is None, episode.failure
        assert episode.success
        assert "open drawer 1" in [step.action.text for step in episode.steps]
