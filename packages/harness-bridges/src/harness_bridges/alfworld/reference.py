"""The reference: TextWorld's PDDL engine with ALFWorld's names for things.

An engine is a copy of a C++ library that keeps one game in global variables, so two episodes
that run side by side need two engines. A copy cannot be unloaded safely, so engines are lent,
handed back and used again: a process makes as many as it ever runs episodes at once.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib.metadata import version
from types import ModuleType
from typing import Any

from harness_bridges.alfworld.facts import Fact
from harness_bridges.alfworld.frame import Frame
from harness_bridges.alfworld.memo import remember_parses
from harness_core.errors import EnvError
from harness_core.registry import import_extra
from harness_core.serial import digest_of
from harness_core.values import JsonDict

EXTRA = "harness-bridges[alfworld]"


class Engine:
    """One copy of the engine; plays one game at a time. Get it with `borrow_engine`."""

    def __init__(self) -> None:
        with _alone():
            textworld, names = _packages()
            remember_parses()
            infos = textworld.EnvInfos(won=True, admissible_commands=True)
            self._env: Any = names.AlfredDemangler(textworld.envs.PddlEnv(infos))
        self._loaded = ""
        self._state: Any = {}
        self.process = os.getpid()

    def start(self, game: JsonDict) -> Frame:
        """Starts a game from its beginning.

        Args:
            game: the content of a game file.

        Raises:
            EnvError: the engine cannot load it.
        """
        digest = digest_of([game["pddl_domain"], game["grammar"], game["pddl_problem"]])
        with _alone(), _translating_once():
            try:
                if digest != self._loaded:
                    self._loaded = ""
                    self._env.load(game)
                    self._loaded = digest
                self._state = self._env.reset()
            except (Exception, SystemExit) as error:
                raise EnvError(
                    f"TextWorld cannot load this game: {type(error).__name__}: {error}. Its goal "
                    "may be out of reach, or its PDDL broken."
                ) from error
        return self._frame(valid=True, done=False)

    def act(self, command: str) -> Frame:
        """Executes a command; one that is not admissible changes nothing."""
        with _alone():
            self._state, _, done = self._env.step(command)
        return self._frame(valid=self._state["_last_action"] is not None, done=bool(done))

    def look(self) -> str:
        """What the command `look` would answer, without executing it."""
        with _alone():
            look = next(each for each in self._state["_valid_actions"] if each.name == "look")
            things = self._env._entity_infos
            context = {
                "state": self._env._pddl_state,
                "facts": list(self._env._pddl_state.facts),
                "variables": {hole.name: things[var.name] for hole, var in look.mapping.items()},
                "mapping": look.mapping,
                "entity_infos": things,
            }
            return str(self._env._logic.grammar.derive(look.feedback_rule, context))

    def facts(self) -> list[Fact]:
        """What is true now, sorted."""
        with _alone():
            name = {id_: info.name.strip() for id_, info in self._env._entity_infos.items()}
            return sorted(
                (fact.name, *(name[argument.name] for argument in fact.arguments))
                for fact in self._env._pddl_state.facts
                if not fact.is_negation and not fact.name.startswith("new-axiom")
            )

    def _frame(self, valid: bool, done: bool) -> Frame:
        state = self._state
        commands = list(state["admissible_commands"])
        return Frame(state["feedback"], commands, valid, bool(state["won"]), done)


def engine_version() -> str:
    """Names and versions of the engine's packages."""
    return f"textworld {version('textworld')}, alfworld {version('alfworld')}"


class _Process:
    """This process's lock around all engines, and those that no episode uses."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """No engine yet, and no one holds the lock: also after a fork, whoever held it."""
        self.lock = threading.RLock()
        self.idle: list[Engine] = []


_process = _Process()
os.register_at_fork(after_in_child=_process.begin)


def borrow_engine() -> Engine:
    """An engine that no other episode of this process uses.

    Raises:
        MissingExtraError: textworld, alfworld or the planner's library is not installed.
        EnvError: the library cannot be copied.
    """
    with _process.lock:
        try:
            return _process.idle.pop() if _process.idle else Engine()
        except OSError as error:
            raise EnvError(
                f"TextWorld copies its library, 32 MiB, to {tempfile.gettempdir()} and loads it; "
                f"that failed: {error}. Free space there, or set TMPDIR to another folder."
            ) from error


def return_engine(engine: Engine) -> None:
    """Hands an engine back. One that a parent process made is forgotten."""
    with _process.lock:
        if engine.process == os.getpid():
            _process.idle.append(engine)


@contextmanager
def _alone() -> Iterator[None]:
    """No other engine runs meanwhile: they share module globals, and threads corrupt them."""
    with _process.lock:
        arguments, output = sys.argv, sys.stdout  # the translator replaces both
        try:
            yield
        finally:
            sys.argv, sys.stdout = arguments, output


@contextmanager
def _translating_once() -> Iterator[None]:
    """A game is translated once, where TextWorld would four times before the first step.

    The second kind of translation is for the planner, which never runs here.
    """
    fast_downward: Any = import_extra("fast_downward", EXTRA)
    translate = fast_downward.pddl2sas
    fast_downward.pddl2sas = lambda domain, problem, **_: _translated(domain, problem)
    try:
        yield
    finally:
        fast_downward.pddl2sas = translate


@lru_cache(maxsize=4)
def _translated(domain: str, problem: str) -> Any:
    interface: Any = import_extra("fast_downward.interface", EXTRA)
    return interface.pddl2sas(domain, problem)


@cache
def _packages() -> tuple[ModuleType, ModuleType]:
    """The modules `textworld` and the one of alfworld that names things."""
    given = os.environ.get("ALFWORLD_DATA")
    if given is None:  # importing alfworld would make ~/.cache/alfworld
        os.environ["ALFWORLD_DATA"] = tempfile.gettempdir()
    try:
        for module in ("fast_downward", "textworld.envs"):
            import_extra(module, EXTRA)
        names = import_extra("alfworld.agents.environment.alfred_tw_env", EXTRA)
        return import_extra("textworld", EXTRA), names
    finally:
        if given is None:
            del os.environ["ALFWORLD_DATA"]
