"""What harness-bridges registers."""

from __future__ import annotations

from harness_core.hookspecs import Entry, hookimpl

_HOUSEHOLD = "harness_bridges.alfworld.household"


@hookimpl
def harness_envs() -> list[Entry]:
    """The bridged benchmarks."""
    return [
        Entry(
            "toy24",
            "the 24 game: make 24 from four numbers",
            "harness_bridges.toy24.env:Toy24Env",
            helpers="harness_bridges.toy24.helpers",
        ),
        Entry(
            "alfworld",
            "household tasks in text: ALFWorld's games, on a native engine or on TextWorld",
            "harness_bridges.alfworld.env:AlfworldEnv",
        ),
    ]


@hookimpl
def harness_policies() -> list[Entry]:
    """Policies for ALFWorld that need no model."""
    return [
        Entry(
            "household",
            "searches where things usually are, then does what the goal says",
            f"{_HOUSEHOLD}.policy:HouseholdPolicy",
        ),
        Entry(
            "household-no-open",
            "household, but leaves closed receptacles closed",
            f"{_HOUSEHOLD}.flaws:NoOpenPolicy",
        ),
        Entry(
            "household-forgets-second",
            "household, but stops after the first of two objects",
            f"{_HOUSEHOLD}.flaws:ForgetsSecondPolicy",
        ),
        Entry(
            "household-loops",
            "household, but repeats itself at times",
            f"{_HOUSEHOLD}.flaws:LoopsPolicy",
        ),
        Entry(
            "household-gives-up",
            "household, but stops after a few fruitless searches",
            f"{_HOUSEHOLD}.flaws:GivesUpPolicy",
        ),
        Entry(
            "household-simulated-reader",
            "SIMULATED learner: household with flaws that advice in words cures",
            f"{_HOUSEHOLD}.reader:SimulatedReader",
        ),
    ]


@hookimpl
def harness_commands() -> list[Entry]:
    """Subcommands of `harness`."""
    return [
        Entry("alfworld", "ALFWorld's games: making them.", "harness_bridges.alfworld.command:app")
    ]
