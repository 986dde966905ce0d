"""ALFWorld games as files: generating them, and finding and reading those that exist."""

from harness_bridges.alfworld.games.files import Game, find_game, find_games, read_game
from harness_bridges.alfworld.games.generate import generate_games
from harness_bridges.alfworld.games.task import FAMILIES

__all__ = ["FAMILIES", "Game", "find_game", "find_games", "generate_games", "read_game"]
