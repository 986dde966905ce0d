"""`harness alfworld`."""

from pathlib import Path

import pytest

from harness_bridges.alfworld.games import find_games
from support.cli import Cli

WALKS = Path(__file__).parent / "data" / "walks.jsonl.xz"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def test_generated_games_are_played(cli: Cli) -> None:
    """Two commands make games and run a policy on all of them."""
    made = cli("alfworld", "generate", "games", "--count", "2", "--receptacles", "9")
    assert made.returncode == 0, made.stderr
    assert len(find_games(cli.folder / "games")) == 2
    run = ("run", "alfworld", "--all", "--policy", "household", "--out", "out")
    done = cli(*run, ALFWORLD_DATA=str(cli.folder / "games"))
    assert done.returncode == 0, done.stderr
    assert "total" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--count", "0"], "--count is a whole number from 1"),
        (["--family", "pick_two"], "Did you mean 'pick_two_obj_and_place'"),
        (["--receptacles", "1"], "receptacles is a whole number from 2 to 200; got 1"),
        (["--plan-length", "8", "5"], "plan_length is the least and the greatest"),
        (["--closed", "0", "--hidden"], "Turn one of these knobs"),
        (["--split", "valid"], "Did you mean"),
    ],
)
def test_wrong_requests_are_told(cli: Cli, arguments: list[str], told: str) -> None:
    """A wrong number or name ends with code 2, the known names, and no game."""
    done = cli("alfworld", "generate", "games", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not (cli.folder / "games").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--steps", "0"], "numbers from 1"),
        (["--engine-b", str(WALKS), "--games", "games"], "leave --games out"),
    ],
)
def test_requests_that_compare_nothing_are_refused(
    cli: Cli, arguments: list[str], told: str
) -> None:
    """A comparison that would silently look at something else, or at nothing, is refused."""
    done = cli("alfworld", "diff", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
