import pytest

from harness_bridges.toy24.env import Toy24Env
from harness_core import Action, Chain, Contract, StackSpec, Stage, make
from harness_core.testing import check_component, check_env

NO_SUMS = """
class NoSums(Contract):
    def filter_action(self, action, env_state):
        parts = combine_parts(action)
        return Blocked("No sums.") if parts and parts[1] == "+" else action
"""


@pytest.mark.parametrize("task", [None, "1-5-5-5", "1-1-1-1"])
def test_the_24_game_keeps_the_contract(task):
    """All promises of an env, on solvable and unsolvable puzzles."""
    assert check_env(lambda: Toy24Env(task))


@pytest.mark.parametrize(
    "component",
    [
        Stage(["combine 1 / 5"]),
        Contract.from_source(NO_SUMS, helpers="toy24"),
        Chain(StackSpec("toy24", "3-3-8-8")),
    ],
    ids=["stage", "contract", "chain"],
)
def test_components_around_the_24_game_keep_the_contract(component):
    """All promises of components, with the helpers lent to source contracts."""
    assert check_component(component, lambda: make("toy24", task="1-5-5-5"))


def test_lent_helpers_read_both_forms_inside_the_sandbox():
    """A source contract blocks a sum in either form, and lets other moves through."""
    with Contract.from_source(NO_SUMS, helpers="toy24")(make("toy24", task="1-5-5-5")) as env:
        env.reset()
        one_plus_five = {"left": 1, "operator": "+", "right": 5}
        for action in (Action("combine 1 + 5"), Action(tool="combine", arguments=one_plus_five)):
            assert env.step(action).info == {"blocked": "No sums."}
        assert "1/5" in env.step(Action("combine 1 / 5")).observation.data["numbers"]
