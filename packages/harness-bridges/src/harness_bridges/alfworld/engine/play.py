"""One episode: a world, its present state, and the answers to commands."""

from __future__ import annotations

from harness_bridges.alfworld.engine import rules, texts
from harness_bridges.alfworld.engine.state import State
from harness_bridges.alfworld.engine.world import World
from harness_bridges.alfworld.frame import Frame


class Play:
    """An episode of a game. Cheap to make; any number may run at once, in any threads.

    Args:
        world: the game.
    """

    __slots__ = ("_decisive", "_offer", "_won", "state", "world")

    def __init__(self, world: World) -> None:
        self.world, self.state = world, world.start
        self._decisive = world.goal.verbs
        self._offer, self._won = rules.offer(world, world.start), False
        self.resume(world.start)

    def start(self) -> Frame:
        """Starts the game from its beginning."""
        self.resume(self.world.start)
        return Frame(texts.intro(self.world), self.admissible(), True, self._won, False)

    def frame(self) -> Frame:
        """The present state, with what `look` says of it."""
        return Frame(self.look(), self.admissible(), True, self._won, self._won)

    def act(self, command: str) -> Frame:
        """Executes a command; one that is not admissible changes nothing.

        The game goes on after it is won, and may be lost again.
        """
        offer, command = self._offer, command.strip()
        act = offer.acts.get(command) or offer.ways.get(command)
        if act is None:
            text, valid = texts.NOTHING_HAPPENS, False
        else:
            world, state = self.world, self.state
            effect = rules.EFFECTS.get(act.verb)
            if effect is not None:
                state = self.state = effect(world, state, act)
                self._offer = rules.offer(world, state)
                if act.verb in self._decisive:
                    self._won = world.goal.holds(state, world.here[state.at])
            text, valid = texts.ANSWERS[act.verb](world, state, act), True
        return Frame(text, self._offer.commands.copy(), valid, self._won, self._won)

    def resume(self, state: State) -> None:
        """Goes on from a state of this game."""
        self.state = state
        self._offer = rules.offer(self.world, state)
        self._won = self._holds()

    def look(self) -> str:
        """What the command `look` would answer, without executing it."""
        return texts.look(self.world, self.state)

    def admissible(self) -> list[str]:
        """All commands that would have an answer now, sorted; a list of the caller's own."""
        return self._offer.commands.copy()

    @property
    def won(self) -> bool:
        """The verdict on the state."""
        return self._won

    @property
    def goal_share(self) -> float:
        """The share of the goal's conditions that hold, in [0, 1]; 1 exactly where won."""
        return self.world.goal.share(self.state, self.world.here[self.state.at])

    def _holds(self) -> bool:
        return self.world.goal.holds(self.state, self.world.here[self.state.at])
