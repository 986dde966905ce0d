"""A ladder whose second step goes wrong in ways that only a process can survive."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from harness_core import Action, Observation, Task, Tool
from harness_core.errors import InvalidAction
from harness_core.hookspecs import Entry, hookimpl
from harness_core.policies import Decision
from support.ladder import Ladder


class Unprintable(Exception):
    """An error that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class UnprintableRefusal(InvalidAction):
    """The same, within the vocabulary."""

    __str__ = Unprintable.__str__


RAISED = {
    error.__name__: error
    for error in (KeyboardInterrupt, SystemExit, GeneratorExit, BaseException, Unprintable)
}


class OddLadder(Ladder):
    """`trouble` is a name in `RAISED`, `"unpicklable"`, `"bomb"`, `"unicode"` or `"thread"`."""

    def _go_wrong(self) -> None:
        if self._trouble in RAISED:
            raise RAISED[self._trouble]()
        if self._trouble == "unicode":
            raise RuntimeError("half a character: \ud800")
        if self._trouble == "thread":
            threading.Thread(target=time.sleep, args=(60,)).start()

    def observe(self) -> Observation:
        seen = super().observe()
        odd = {"unpicklable": lambda: None, "bomb": Bomb()}.get(self._trouble)
        return seen.replace(data={"odd": odd}) if odd and self._steps > 1 else seen


class Bomb:
    """Can be pickled, but not read again."""

    def __reduce__(self) -> tuple[object, ...]:
        return divmod, (1, 0)


@hookimpl
def harness_envs() -> list[Entry]:
    return [Entry("odd-ladder", "goes wrong", "support.odd_env:OddLadder")]


class OddPolicy:
    """Climbs; at its second step it is slow, or raises what is no `Exception`."""

    beside_env = True

    def __init__(self, trouble: str = "", seconds: float = 0.0) -> None:
        self._trouble, self._seconds = trouble, seconds

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._steps = 0

    def act(self, observation: Observation) -> Decision | None:
        self._steps += 1
        if self._steps == 2:
            time.sleep(self._seconds)
            if self._trouble:
                raise RAISED[self._trouble]()
        return Decision(Action("up"))


@hookimpl
def harness_policies() -> list[Entry]:
    return [Entry("odd", "goes wrong", "support.odd_env:OddPolicy")]
