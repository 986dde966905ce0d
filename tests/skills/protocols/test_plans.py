"""Protocols as data, and the tasks they are run on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness_core.errors import SpecError
from harness_core.experiment import Setup
from harness_core.registry import registry
from harness_skills.protocols import plans
from harness_skills.protocols.bench import draw, generated
from harness_skills.protocols.experiment import SKILLS
from harness_skills.protocols.plan import Arm, Plan, Scale
from harness_skills.protocols.report import _cell

PLANS = {
    "skills": plans.skills("alfworld", "search", ["mine"]),
    "transfer": plans.transfer(["a", "b"], "search"),
    "scaling": plans.scaling("search"),
    "chain": plans.chain("search"),
    "backbones": plans.backbones(["openai/one", "openai/two"], "search"),
    "rounds": plans.rounds("search"),
    "cost": plans.cost("alfworld", "search"),
}


def test_every_plan_is_an_experiment() -> None:
    """Each protocol can be run by its name."""
    assert PLANS.keys() <= registry().entries("experiment").keys()


@pytest.mark.parametrize("name", PLANS)
def test_the_reshaped_arm_says_who_reshapes(name: str) -> None:
    """Every protocol has an arm of reshaped envs, by the strategy that was asked for."""
    arms = [arm for arm in PLANS[name].arms if arm.source == "reshaped"]
    assert arms
    assert all(arm.options == {"strategy": "search"} for arm in arms)


def test_published_figures_stand_at_rows_that_exist() -> None:
    """No figure of the paper is lost because a row has another name."""
    for plan in PLANS.values():
        if plan.title != "The same, by model":
            assert plan.published.keys() <= {arm.name for arm in plan.arms}


def test_arms_are_named_once_and_join_earlier_ones() -> None:
    """Two arms of a name, and a join of what comes later, are refused."""
    with pytest.raises(SpecError, match="unique"):
        Plan("t", (Arm("a"), Arm("a")))
    with pytest.raises(SpecError, match="earlier"):
        Plan("t", (Arm("b", joined=("a",)), Arm("a")))


def test_a_scale_makes_sense() -> None:
    """A batch that is larger than all envs together is refused."""
    with pytest.raises(SpecError, match="every <= envs"):
        Scale(train=1, test=1, envs=2, every=3)


def test_one_family_cannot_be_left_out_of_one() -> None:
    """Where there is only one family there is nothing to transfer from."""
    with pytest.raises(SpecError, match="two"):
        plans.transfer(["a"], "search")


def test_backbones_need_models() -> None:
    """A comparison of no models is refused, and says how to name some."""
    with pytest.raises(SpecError, match="--option models"):
        plans.backbones([], "search")


def test_held_out_tasks_are_never_trained_on() -> None:
    """Train and test share no task, the same seed draws the same ones, and another seed others."""
    bench = draw("toy24", {}, 20, 10, 1)
    train, test = ({task.id for task in tasks} for tasks in (bench.train, bench.test))
    assert (len(train), len(test)) == (20, 10)
    assert not train & test
    assert draw("toy24", {}, 20, 10, 1) == bench
    assert draw("toy24", {}, 20, 10, 2) != bench


def test_families_have_equal_shares(tmp_path: Path) -> None:
    """Twelve generated tasks to learn from and six held out are two and one of each family."""
    bench = generated("alfworld", tmp_path, 12, 6, 3, receptacles=9)
    assert [len(bench.families), len({task.id for task in bench.train + bench.test})] == [6, 18]
    for family in bench.families:
        assert sum(task.family == family for task in bench.train) == 2
        left = bench.without(family)
        assert {task.family for task in left.test} == {family}
        assert family not in {task.family for task in left.train}


def test_too_few_tasks_are_told() -> None:
    """A scale that asks for more tasks than there are is refused with both numbers."""
    with pytest.raises(SpecError, match="100000"):
        draw("toy24", {}, 100_000, 10, 1)


def test_an_env_that_generates_nothing_says_so(tmp_path: Path) -> None:
    """Generated tasks are asked of envs that can make them."""
    with pytest.raises(SpecError, match="generates no tasks"):
        generated("corridor", tmp_path, 1, 1, 0)


def test_a_report_holds_no_markup_of_a_models() -> None:
    """What a model wrote cannot become HTML, an image, a link or another cell."""
    cell = _cell("a | b <script>x</script> ![p](http://e) `c`\nd")
    assert "<" not in cell
    assert re.search(r"(?<!\\)[|`\[\]!]", cell) is None


def test_unknown_fields_of_a_scale_are_told(tmp_path: Path) -> None:
    """A misspelt figure is refused with its name."""
    setup = Setup("smoke", 1, tmp_path, 1, print, {"scale": {"trian": 3}})
    with pytest.raises(SpecError, match="trian"):
        SKILLS.run(setup)
