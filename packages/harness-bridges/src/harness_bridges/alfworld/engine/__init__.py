"""A native engine for ALFWorld's text games: the same files, the same words, no TextWorld.

Read it in this order: `dialects` (which texts it knows), `reader` (a file becomes a `World`),
`state` (what changes), `rules` (what may be done, and its effect), `texts` (what is said),
`goal` (what is wanted), `play` (one episode).
"""

from harness_bridges.alfworld.engine.play import Play
from harness_bridges.alfworld.engine.reader import load_world, read_world
from harness_bridges.alfworld.engine.state import State
from harness_bridges.alfworld.engine.world import World

__all__ = ["Play", "State", "World", "load_world", "read_world"]
