"""Games for the tests of ALFWorld."""

from __future__ import annotations

import pytest

from harness_bridges.alfworld.engine import World, load_world
from harness_bridges.alfworld.games import generate_games


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[World]:
    """Twelve small games, two of each family."""
    root = tmp_path_factory.mktemp("worlds")
    return [load_world(game.path) for game in generate_games(root, count=12, seed=7, receptacles=9)]


@pytest.fixture(
    scope="module", params=["native", pytest.param("textworld", marks=pytest.mark.textworld)]
)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine in turn; TextWorld where it is installed."""
    if request.param == "textworld":
        pytest.importorskip("textworld")
    return str(request.param)
