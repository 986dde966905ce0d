"""`AlfworldEnv`: ALFWorld's games as an actionable env, on the benchmark's own engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from harness_bridges.alfworld.engine import (
    Engine,
    Frame,
    borrow_engine,
    engine_version,
    return_engine,
)
from harness_bridges.alfworld.facts import SCHEMA, world
from harness_bridges.alfworld.games import Game, find_games, generate_games, read_game
from harness_core.env import ActionableEnv
from harness_core.errors import EnvError, HarnessError, InvalidAction, SpecError, UnknownTaskError
from harness_core.serial import digest_of, from_data, to_data
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
        seed: of the reset.
        actions: every command since then.
        free: how many of them prepared the episode.
        game: digest of the game file's content.
        world: digest of the state that the commands lead to.
    """

    task: str
    games: str | None
    seed: int
    actions: list[str]
    free: int
    game: str
    world: str


class AlfworldEnv(ActionableEnv):
    """One ALFWorld game. Commands go to the engine word for word; the engine decides success.

    Anything that is no admissible command is answered "Nothing happens.", as in the benchmark,
    and `info["valid"]` is then false. The engine goes on after the goal is reached, and the
    verdict is always on the state as it is now.

    Source: ALFWorld, arXiv 2010.03768; packages alfworld and textworld.

    Args:
        task: id of a game: its folder, relative to the data root.
        games: the data root; default: the folder that the variable ALFWORLD_DATA names.
    """

    snapshots = "episode"
    verifier_cost = "free"
    reversible_endings = True

    def __init__(self, task: str | None = None, *, games: str | None = None) -> None:
        self._games = games
        self._game = None if task is None else self._find(task)
        self._engine: Engine | None = None
        self._frame = Frame("", (), True, False, False)
        self._intro = self._goal = self._dialect = self._digest = ""
        self._actions: list[str] = []
        self._free = 0
        self._seed = 0

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
        content = read_game(game.path)
        engine = borrow_engine()
        try:
            self._frame = engine.start(content)
        except BaseException:
            return_engine(engine)
            raise
        self._engine = engine
        self._intro, self._goal = self._frame.text, game.goal
        self._dialect = "move" if '"move {o} to {r}"' in content["grammar"] else "put"
        self._digest = digest_of(content)
        self._actions, self._free, self._seed = [], 0, seed or 0
        info = {"engine": engine_version(), "game": self._digest, "dialect": self._dialect}
        return ResetResult(self._show(self._intro), _task(game), info)

    def step(self, action: Action) -> StepResult:
        """Executes one command.

        Raises:
            InvalidAction: a tool call other than `act(command)`.
        """
        engine = self._running()
        command = _command(Action.of(action))
        self._frame = engine.act(command)
        self._actions.append(command)
        shown = self._show(self._frame.text)
        return StepResult(shown, terminated=self._frame.done, info={"valid": self._frame.valid})

    def observe(self) -> Observation:
        """Before the agent's first step: the introduction and, if actions prepared the episode,
        what `look` says; afterwards what `look` says."""
        engine = self._running()
        if len(self._actions) > self._free:
            return self._show(engine.look())
        return self._show(f"{self._intro}\n\n{engine.look()}" if self._free else self._intro)

    def evaluate(self) -> Verdict:
        """Whether the engine says that the game is won, in the state as it is now."""
        self._running()
        return Verdict(self._frame.won)

    def get_env_state(self) -> EnvState:
        engine = self._running()
        data = {**self._told(), "won": self._frame.won, **world(engine.facts())}
        return EnvState(self._chosen().id, len(self._actions) - self._free, data)

    def save_state(self) -> JsonDict:
        state = self.get_env_state()
        actions, world_digest = list(self._actions), digest_of(state.data)
        data: JsonDict = to_data(
            Saved(
                state.task, self._games, self._seed, actions, self._free, self._digest, world_digest
            )
        )
        return data

    @classmethod
    def from_state(cls, state: JsonDict) -> AlfworldEnv:
        """Starts the game again and replays the recorded commands.

        Raises:
            SpecError: `state` was not written by `save_state`.
            EnvError: the game file has changed, or the replay led elsewhere.
        """
        saved = from_data(state, Saved)
        env = cls(saved.task, games=saved.games)
        try:
            env.reset(seed=saved.seed)
            for command in saved.actions:
                env.step(Action(command))
            env._free = saved.free
            if env._digest != saved.game or digest_of(env.get_env_state().data) != saved.world:
                raise EnvError(
                    f"The saved episode of {saved.task!r} cannot be continued: the replay of its "
                    f"{len(saved.actions)} commands led to another state. Use the game file and "
                    "the engine version that it was saved with, or start the task again."
                )
        except BaseException:
            env.close()
            raise
        return env

    def tools(self) -> tuple[Tool, ...]:
        return (_ACT,)

    def state_schema(self) -> JsonDict:
        return SCHEMA

    def list_tasks(self) -> Sequence[Task]:
        """All games under the data root, by id."""
        return [_task(game) for game in find_games(self._root())]

    @classmethod
    def generate_tasks(cls, games: Path, count: int, *, seed: int = 0, **knobs: Any) -> list[Task]:
        """Makes games in a data root; `knobs` as `generate_games` takes them.

        Raises:
            MissingExtraError: alfworld, whose texts go into the files, is not installed.
        """
        return [_task(game) for game in generate_games(games, count=count, seed=seed, **knobs)]

    def notify_replay_complete(self) -> None:
        self._free = len(self._actions)

    def close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            return_engine(engine)

    def _root(self) -> Path:
        root = self._games or os.environ.get("ALFWORLD_DATA")
        if not root:
            raise SpecError(
                "ALFWorld needs games. Pass games=FOLDER, or set the variable ALFWORLD_DATA to "
                "it; harness_bridges.alfworld.games.generate_games makes some."
            )
        return Path(root)

    def _find(self, task: str) -> Game:
        root = self._root()
        if task not in _known.get(root, {}):
            _known[root] = {game.id: game for game in find_games(root)}
        if task not in _known[root]:
            raise UnknownTaskError(task, _known[root], "alfworld")
        return _known[root][task]

    def _chosen(self) -> Game:
        if self._game is None:
            raise SpecError(
                "Choose a game: make('alfworld', task=ID) or reset(options={'task': ID}). "
                "`harness list tasks alfworld` shows all."
            )
        return self._game

    def _running(self) -> Engine:
        if self._engine is None:
            raise HarnessError("No episode is running: call reset() first.")
        if self._engine.process != os.getpid():
            raise HarnessError(
                "This episode runs in the parent process. Call reset() here, or continue it with "
                "from_state(save_state())."
            )
        return self._engine

    def _told(self) -> JsonDict:
        game = self._chosen()
        return {
            "admissible": list(self._frame.admissible),
            "goal": self._goal,
            "family": game.family,
            "dialect": self._dialect,
        }

    def _show(self, text: str) -> Observation:
        return Observation(text, {**self._told(), "task": self._chosen().id})


_known: dict[Path, dict[str, Game]] = {}
"""The games seen under each data root; read again when an id is not among them."""


def _command(action: Action) -> str:
    if not action.tool:
        return action.text
    command = action.arguments.get("command")
    if action.tool == _ACT.name and isinstance(command, str):
        return command
    raise InvalidAction(
        f"ALFWorld has one tool, act(command), and takes plain text; got {action}. Write the "
        "command itself, such as 'go to desk 1'."
    )


def _task(game: Game) -> Task:
    about = {"object": game.object, "receptacle": game.receptacle, "scene": game.scene}
    return Task(game.id, game.goal, game.family, game.split, about)
