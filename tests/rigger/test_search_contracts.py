"""The contracts with a magnitude."""

from __future__ import annotations

import pytest

from harness_core import Action, Component, Contract, Observation, compose, make
from harness_core.testing import check_component
from harness_rigger.search.contracts import EarlyEnd, FirstSentences, LongWay, WithholdAdmissible
from support.ladder import Ladder


@pytest.mark.parametrize(
    "component",
    [LongWay("up", 2), EarlyEnd(2), FirstSentences(1), WithholdAdmissible(2)],
    ids=lambda component: type(component).__name__,
)
def test_they_keep_the_rules_of_components(component: Component) -> None:
    """Each passes the public conformance check on the 24 game."""
    check_component(component, lambda: make("toy24", task="1-1-4-6"))


def test_long_way_lets_a_repeated_move_through() -> None:
    """A move is blocked `per_move` times, then executed, until the toll is paid."""
    env = LongWay("up", toll=3, per_move=2)(Ladder("rung-6"))
    env.reset(seed=0)
    blocked = ["blocked" in env.step(Action("up")).info for _ in range(8)]
    assert blocked == [True, True, False, True, False, False, False, False]


def test_long_way_leaves_other_actions_alone() -> None:
    """What does not begin with the verb is executed at once."""
    env = LongWay("fly", toll=3)(Ladder("rung-6"))
    env.reset(seed=0)
    assert env.step(Action("up")).info == {}


def test_early_end_truncates() -> None:
    """The episode ends with the given step, and the verdict is still the base env's."""
    env = EarlyEnd(2)(Ladder("rung-6"))
    env.reset(seed=0)
    assert not env.step(Action("up")).ended
    last = env.step(Action("up"))
    assert last.truncated
    assert not last.terminated
    assert not env.evaluate().success


class Says(Contract):
    """Says something long."""

    def filter_observation(self, observation: Observation, env_state: object) -> Observation:
        return observation.replace(text="One. Two! Three? Four")


@pytest.mark.parametrize(
    ("count", "kept"), [(1, "One."), (3, "One. Two! Three?"), (9, "One. Two! Three? Four")]
)
def test_first_sentences_are_kept(count: int, kept: str) -> None:
    """Observations are cut after so many sentences, at the reset too."""
    env = compose(Ladder(), Says(), FirstSentences(count))
    assert env.reset().observation.text == kept


def test_every_second_list_is_withheld() -> None:
    """Of four observations the second and the fourth come without admissible actions."""
    env = WithholdAdmissible(2)(Ladder("rung-6"))
    seen = [env.reset(seed=0).observation]
    seen += [env.step(Action("down")).observation for _ in range(3)]
    assert ["admissible" in each.data for each in seen] == [True, False, True, False]
