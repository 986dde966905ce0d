"""`AlfworldEnv`: ALFWorld's games as an actionable env, on either engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

from attrs import asdict, frozen

from harness_bridges.alfworld.facts import SCHEMA, world
from harness_bridges.alfworld.games import Game, find_game, find_games, generate_games
from harness_bridges.alfworld.sessions import Session, session_type
from harness_core.env import ActionableEnv
from harness_core.errors import EnvError, HarnessError, InvalidAction, SpecError
from harness_core.serial import from_data
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Verdict,
)

_ACT = Tool(
    "act",
    "Executes one text command in the household, such as 'go to desk 1', 'open drawer 1', "
    "'take mug 1 from desk 1', 'clean mug 1 with sinkbasin 1' or 'use desklamp 1'.",
    {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "one admissible command"}},
        "required": ["command"],
    },
    text_argument="command",
)


@frozen
class Saved:
    """What `save_state` writes.

    Args:
        task: id of the game.
        games: the option `games`.
        engine: the option `engine`.
        steps: commands since the reset.
        free: how many of them prepared the episode.
        game: digest of the game file's content.
        session: what the engine needs to go on.
    """

    task: str
    games: str | None
    engine: str
    steps: int
    free: int
    game: str
    session: JsonDict


class AlfworldEnv(ActionableEnv):
    """One ALFWorld game. Commands go to the engine word for word; the engine decides success.

    Anything that is no admissible command is answered "Nothing happens.", as in the benchmark,
    and `info["valid"]` is then false. The engine goes on after the goal is reached, and the
    verdict is always on the state as it is now.

    Source: ALFWorld, arXiv 2010.03768; packages alfworld and textworld.

    Args:
        task: id of a game: its folder, relative to the data root.
        games: the data root; default: the folder that the variable ALFWORLD_DATA names.
        engine: `"native"`, or `"textworld"`: the benchmark's own, thousands of times slower,
            which the native one is held to, word for word.
    """

    snapshots: Literal["live", "episode"] = "live"
    verifier_cost = "free"
    reversible_endings = True
    private_state = frozenset({"won"})

    def __init__(
        self, task: str | None = None, *, games: str | None = None, engine: str = "native"
    ) -> None:
        self._games, self._engine = games, engine
        self.snapshots = session_type(engine).snapshots
        self._game = None if task is None else self._find(task)
        self._session: Session | None = None
        self._steps = self._free = 0

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        """Starts the game; it has no randomness of its own.

        Raises:
            UnknownTaskError: there is no such game.
            SpecError: no game is chosen.
            EnvError: the game file or the engine failed.
            MissingExtraError: the engine is not installed.
        """
        if options and options.get("task") is not None:
            self._game = self._find(str(options["task"]))
        game = self._chosen()
        self.close()
        session = self._session = session_type(self._engine)(game)
        self._steps = self._free = 0
        info = {
            "engine": session.engine,
            "game": session.digest,
            "dialect": session.dialect,
        }
        return ResetResult(self._show(session, session.intro), _task(game, session.goal), info)

    def step(self, action: Action) -> StepResult:
        """Executes one command.

        Raises:
            InvalidAction: a tool call other than `act(command)`.
        """
        session = self._running()
        frame = session.act(_command(Action.of(action)))
        self._steps += 1
        shown = self._show(session, frame.text)
        return StepResult(shown, terminated=frame.done, info={"valid": frame.valid})

    def observe(self) -> Observation:
        """Before the agent's first step: the introduction and, if actions prepared the episode,
        what `look` says; afterwards what `look` says."""
        session = self._running()
        if self._steps > self._free:
            return self._show(session, session.look())
        look = f"\n\n{session.look()}" if self._free else ""
        return self._show(session, session.intro + look)

    def evaluate(self) -> Verdict:
        """Whether the engine says that the game is won, in the state as it is now."""
        return Verdict(self._running().frame.won)

    def step_signal(self) -> float:
        """The share of the goal's conditions that hold: see `alfworld.engine.goal`.

        TextWorld tells only whether all hold.
        """
        return self._running().goal_share()

    def distance(self) -> float | None:
        """The length of a shortest plan; `None` from TextWorld."""
        return self._running().distance()

    def get_env_state(self) -> EnvState:
        session = self._running()
        frame = session.frame
        data = {
            **self._told(session),
            "admissible": list(frame.admissible),
            "won": frame.won,
            **world(session.facts()),
        }
        return EnvState(self._chosen().id, self._steps - self._free, data)

    def save_state(self) -> JsonDict:
        session = self._running()
        return asdict(
            Saved(
                self._chosen().id,
                self._games,
                self._engine,
                self._steps,
                self._free,
                session.digest,
                session.save(),
            ),
            recurse=False,
        )

    @classmethod
    def from_state(cls, state: JsonDict) -> AlfworldEnv:
        """Goes on in the native engine; starts again and replays the commands in TextWorld.

        Raises:
            SpecError: `state` was not written by `save_state`.
            EnvError: the game file has changed, or the replay led elsewhere.
        """
        saved = from_data(state, Saved)
        env = cls(saved.task, games=saved.games, engine=saved.engine)
        try:
            env._session = session_type(env._engine)(env._chosen())
            if not env._goes_on(saved):
                raise EnvError("the game file is another one")
        except (EnvError, KeyError, TypeError) as error:
            env.close()
            raise EnvError(
                f"The saved episode of {saved.task!r} cannot be continued: {error}. Use the game "
                "file and the engine that it was saved with, or start the task again."
            ) from error
        except BaseException:
            env.close()
            raise
        return env

    def resume(self, state: JsonDict) -> bool:
        """Goes on in the native engine, if the game is still the same file."""
        return self.snapshots == "live" and self._goes_on(from_data(state, Saved))

    def _goes_on(self, saved: Saved) -> bool:
        session = self._session
        if session is None or session.digest != saved.game:
            return False
        session.restore(saved.session)
        self._steps, self._free = saved.steps, saved.free
        return True

    def tools(self) -> tuple[Tool, ...]:
        return (deepcopy(_ACT),)

    def state_schema(self) -> JsonDict:
        schema: JsonDict = deepcopy(SCHEMA)
        return schema

    def list_tasks(self) -> Sequence[Task]:
        """All games under the data root, by id."""
        return [_task(game, _goal(game)) for game in find_games(self._root())]

    @classmethod
    def generate_tasks(cls, games: Path, count: int, *, seed: int = 0, **knobs: Any) -> list[Task]:
        """Makes games in a data root; `knobs` as `generate_games` takes them."""
        made = generate_games(games, count=count, seed=seed, **knobs)
        return [_task(game, game.goal) for game in made]

    def notify_replay_complete(self) -> None:
        self._free = self._steps

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def _root(self) -> Path:
        root = self._games or os.environ.get("ALFWORLD_DATA")
        if not root:
            raise SpecError(
                "ALFWorld needs games. Pass games=FOLDER, or set the variable ALFWORLD_DATA to "
                "it; harness_bridges.alfworld.games.generate_games makes some."
            )
        return Path(root)

    def _find(self, task: str) -> Game:
        return find_game(self._root(), task)

    def _chosen(self) -> Game:
        if self._game is None:
            raise SpecError(
                "Choose a game: make('alfworld', task=ID) or reset(options={'task': ID}). "
                "`harness list tasks alfworld` shows all."
            )
        return self._game

    def _running(self) -> Session:
        if self._session is None:
            raise HarnessError("No episode is running: call reset() first.")
        return self._session

    def _told(self, session: Session) -> JsonDict:
        goal, family = session.goal, self._chosen().family
        return {"goal": goal, "family": family, "dialect": session.dialect}

    def _show(self, session: Session, text: str) -> Observation:
        data = {
            "admissible": list(session.frame.admissible),
            **self._told(session),
            "task": self._chosen().id,
        }
        return Observation(text, data)


def _command(action: Action) -> str:
    if not action.tool and isinstance(action.text, str):
        return action.text
    command = action.arguments.get("command")
    if action.tool == _ACT.name and isinstance(command, str):
        return command
    raise InvalidAction(
        f"ALFWorld has one tool, act(command), and takes plain text; got {action}. Write the "
        "command itself, such as 'go to desk 1'."
    )


def _goal(game: Game) -> str:
    """The task in words; empty where the file cannot be read, which its reset will tell."""
    try:
        return game.goal
    except EnvError:
        return ""


def _task(game: Game, goal: str) -> Task:
    about = {"object": game.object, "receptacle": game.receptacle, "scene": game.scene}
    return Task(game.id, goal, game.family, game.split, about)
