"""One episode of a game, in either engine, behind one face."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from math import inf
from typing import ClassVar, Literal

from harness_bridges.alfworld.engine import Play, load_world
from harness_bridges.alfworld.engine.reader import game_digest
from harness_bridges.alfworld.engine.saved import load_state, save_state
from harness_bridges.alfworld.facts import Fact, facts_of, world
from harness_bridges.alfworld.frame import Frame
from harness_bridges.alfworld.games import Game, read_game
from harness_core.errors import EnvError, HarnessError, UnknownIdError
from harness_core.serial import digest_of
from harness_core.values import JsonDict


class Session(ABC):
    """An episode that began at the start of a game.

    Args:
        game: what is played.
    """

    snapshots: ClassVar[Literal["live", "episode"]]

    intro: str
    """The first observation."""

    frame: Frame
    """The latest answer."""

    goal: str
    """The task in words."""

    dialect: str
    """How the game words putting down: `"move"` or `"put"`."""

    engine: str
    """Name and version of the engine."""

    digest: str
    """Of the game's content."""

    @abstractmethod
    def act(self, command: str) -> Frame:
        """Executes a command; one that is not admissible changes nothing."""

    @abstractmethod
    def look(self) -> str:
        """What the command `look` would answer, without executing it."""

    @abstractmethod
    def facts(self) -> list[Fact]:
        """What is true now, sorted."""

    @abstractmethod
    def save(self) -> JsonDict:
        """What `restore` needs to go on from here."""

    @abstractmethod
    def restore(self, saved: JsonDict) -> None:
        """Goes on from what `save` gave, in a session that has just begun.

        Raises:
            SpecError, EnvError: it is nothing that `save` wrote for this game.
        """

    def goal_share(self) -> float:
        """The share of the goal's conditions that hold, in [0, 1]; TextWorld tells only 0 or 1."""
        return float(self.frame.won)

    def distance(self) -> float | None:
        """The length of a shortest plan, infinite where there is none; `None`: not known."""
        return None

    def close(self) -> None:
        """Frees the engine."""


class NativeSession(Session):
    """The project's own engine: a state is a value, so it is saved and restored as it is."""

    snapshots = "live"

    def __init__(self, game: Game) -> None:
        world = load_world(game.path)
        self._play = Play(world)
        self.frame = self._play.start()
        self.intro, self.goal, self.dialect = self.frame.text, world.goal_text, world.dialect
        self.engine, self.digest = "native", world.digest

    def act(self, command: str) -> Frame:
        frame = self.frame = self._play.act(command)
        return frame

    def look(self) -> str:
        return self._play.look()

    def facts(self) -> list[Fact]:
        return facts_of(self._play.world, self._play.state)

    def save(self) -> JsonDict:
        return save_state(self._play.world, self._play.state)

    def restore(self, saved: JsonDict) -> None:
        self._play.resume(load_state(self._play.world, saved))
        self.frame = self._play.frame()

    def goal_share(self) -> float:
        return self._play.goal_share

    def distance(self) -> float | None:
        from harness_bridges.alfworld.plan import distance

        found = distance(self._play.world, self._play.state)
        return inf if found is None else found


class TextWorldSession(Session):
    """The reference engine: it cannot be saved, so its commands are recorded and replayed."""

    snapshots = "episode"

    def __init__(self, game: Game) -> None:
        from harness_bridges.alfworld.reference import borrow_engine, engine_version

        content = read_game(game.path)
        self._actions: list[str] = []
        self._engine = borrow_engine()
        try:
            self.frame = self._engine.start(content)
        except BaseException:
            self.close()
            raise
        self.intro, self.goal = self.frame.text, game.goal
        self.dialect = "move" if '"move {o} to {r}"' in content["grammar"] else "put"
        self.engine, self.digest = engine_version(), game_digest(content)

    def act(self, command: str) -> Frame:
        self._check_process()
        self.frame = self._engine.act(command)
        self._actions.append(command)
        return self.frame

    def look(self) -> str:
        self._check_process()
        return self._engine.look()

    def facts(self) -> list[Fact]:
        self._check_process()
        return self._engine.facts()

    def save(self) -> JsonDict:
        return {"actions": list(self._actions), "world": digest_of(world(self.facts()))}

    def restore(self, saved: JsonDict) -> None:
        for command in saved["actions"]:
            self.act(command)
        if digest_of(world(self.facts())) != saved["world"]:
            raise EnvError(
                f"The replay of the {len(saved['actions'])} saved commands led to another state"
            )

    def close(self) -> None:
        from harness_bridges.alfworld.reference import return_engine

        return_engine(self._engine)

    def _check_process(self) -> None:
        if self._engine.process != os.getpid():
            raise HarnessError(
                "This episode runs in the parent process. Call reset() here, or continue it with "
                "from_state(save_state())."
            )


SessionType = type[NativeSession] | type[TextWorldSession]

SESSIONS: dict[str, SessionType] = {"native": NativeSession, "textworld": TextWorldSession}


def session_type(engine: str) -> SessionType:
    """The session class of an engine.

    Raises:
        UnknownIdError: there is no such engine.
    """
    if engine not in SESSIONS:
        raise UnknownIdError("engine", engine, SESSIONS)
    return SESSIONS[engine]
