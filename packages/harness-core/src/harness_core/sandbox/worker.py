"""The loop of one worker: loads a contract, then answers one call after another.

A frame is four bytes of length (big-endian), then lines, each one JSON text. The host sends
the name of a call and its values; the worker answers with one line. Standard library only.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness_core.sandbox import inside
else:
    import inside

CHANNEL = 3
LOOKS = 100
BUSY = 50e-6
FILE = "<contract>"
HELPERS = "<helpers>"
SAME = ["same"]
UNCHANGED = [None, None, None]


class Misuse(Exception):
    """The contract did something else than a hook may do."""


def _some(channel: socket.socket, size: int) -> bytes:
    """What arrives. The next call is often near, and to be woken costs more than a few looks,
    unless others keep the machine busy."""
    looked = perf_counter()
    for _ in range(LOOKS):
        try:
            return channel.recv(size, socket.MSG_DONTWAIT)
        except BlockingIOError:
            os.sched_yield()
        before, looked = looked, perf_counter()
        if looked - before > BUSY:
            break
    return channel.recv(size)


def _read(channel: socket.socket) -> list[str]:
    data = _some(channel, 16384)
    if not data:
        os._exit(0)
    while len(data) < 4 + int.from_bytes(data[:4], "big"):
        more = channel.recv(1 << 20)
        if not more:
            os._exit(0)
        data += more
    return data[4:].decode().split("\n")


def _write(channel: socket.socket, payload: bytes) -> None:
    channel.sendall(len(payload).to_bytes(4, "big") + payload)


def _changes(value: inside.Value, sent: inside.Sent | None) -> list[Any]:
    """The fields that differ from what the host sent; null for the others."""
    row: list[Any] = []
    for name in value.lined:
        if sent is not None and sent.untouched(name, value):
            row.append(None)
            continue
        if wrong := inside.wrong_field(value, name):
            raise Misuse(wrong)
        row.append(getattr(value, name))
    return row


def _wrong_return(value: Any, wanted: str) -> Misuse:
    return Misuse(f"returned {type(value).__name__} where {wanted} is due")


class Episode:
    """A contract at work: its instance, its extras, and the calls that the host makes."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.contract: Any = None
        self.hooks: frozenset[str] = frozenset()
        self.extras: dict[str, Any] = {}
        self.state_class: type[inside.EnvState] = inside.EnvState
        self.running = "load"
        self.asked: str | None = None

    def load(self, setup: str) -> list[Any]:
        """Runs the helpers and the source, and makes the one instance of the class."""
        text, name, hooks, helpers, route = json.loads(setup)
        scope = inside.namespace()
        exec(compile(helpers, HELPERS, "exec", dont_inherit=True), scope)
        exec(compile(text, FILE, "exec", dont_inherit=True), scope)
        self.contract = scope[name]()
        self.hooks = frozenset(hooks)
        if route:
            self.state_class = inside.RouteState
        return ["ready"]

    def before(self, *lines: str) -> list[Any]:
        """f_A."""
        self.running = "filter_action"
        action = inside.Action.received(lines, self._ask)
        result = self.contract.filter_action(action, self._state())
        if type(result) is inside.Blocked:
            return ["blocked", *_changes(result, None)]
        if type(result) is not inside.Action:
            raise _wrong_return(result, "an Action or a Blocked")
        row = _changes(result, action._sent)
        return SAME if row == UNCHANGED else ["action", *row]

    def transition(self, *lines: str) -> list[Any]:
        """f_T alone: the lines of an action, an observation and the rest of a step's result."""
        return self._after(lines, show=False)

    def after(self, *lines: str) -> list[Any]:
        """f_T, then f_O on its observation."""
        return self._after(lines, show=True)

    def show(self, *lines: str) -> list[Any]:
        """f_O alone."""
        seen = inside.Observation.received(lines, self._ask)
        row = _changes(self._show(seen), seen._sent)
        return SAME if row == UNCHANGED else ["observation", row]

    def save(self) -> list[Any]:
        """The extras, which must have stayed JSON."""
        self.running = "extras"
        if type(self.extras) is not dict:
            raise Misuse("env_state.extras is no dict any more")
        if wrong := inside.not_json(self.extras, "extras"):
            raise Misuse(wrong)
        return ["extras", self.extras]

    def restore(self, extras: str) -> list[Any]:
        """Replaces the extras."""
        self.extras = json.loads(extras)
        return ["ready"]

    def _after(self, lines: tuple[str, ...], show: bool) -> list[Any]:
        seen = inside.Observation.received(lines[3:6], self._ask)
        response = inside.StepResult.received(lines[6:], self._ask, observation=seen)
        result, switch = response, None
        if "modify_transition" in self.hooks:
            self.running = "modify_transition"
            state = self._state()
            action = inside.Action.received(lines[:3], self._ask)
            result = self.contract.modify_transition(action, response, state)
            if type(result) is not inside.StepResult:
                raise _wrong_return(result, "a StepResult")
            if type(result.observation) is not inside.Observation:
                raise Misuse(inside.wrong_field(result, "observation"))
            switch = getattr(state, "switch", None)
        shown = result.observation
        if show and "filter_observation" in self.hooks:
            shown = self._show(shown)
        row, rest = _changes(shown, seen._sent), _changes(result, response._sent)
        if row == rest == UNCHANGED and switch is None:
            return SAME
        return ["step", row, rest, switch]

    def _show(self, observation: inside.Observation) -> inside.Observation:
        self.running = "filter_observation"
        shown = self.contract.filter_observation(observation, self._state())
        if type(shown) is not inside.Observation:
            raise _wrong_return(shown, "an Observation")
        return shown

    def _state(self) -> inside.EnvState:
        return self.state_class(self._facts, self.extras)

    def _facts(self) -> list[Any]:
        if self.asked is None:
            self.asked = self._ask("state")
        facts: list[Any] = json.loads(self.asked)
        return facts

    def _ask(self, name: str) -> str:
        _write(self.channel, f'["{name}"]'.encode())
        (told,) = _read(self.channel)
        return told


def _failure(running: str, error: BaseException) -> list[Any]:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    kind = "" if isinstance(error, Misuse) else type(error).__name__
    try:
        message = str(error)[:2000]
    except Exception as unprintable:
        message = f"(its message raised {type(unprintable).__name__})"
    message = message.encode("utf-8", "backslashreplace").decode()
    return ["error", running, kind, message, line]


def serve(channel: socket.socket) -> None:
    """Answers calls until the host hangs up."""
    episode = Episode(channel)
    calls: dict[str, Callable[..., list[Any]]] = {
        "load": episode.load,
        "before": episode.before,
        "transition": episode.transition,
        "after": episode.after,
        "show": episode.show,
        "save": episode.save,
        "restore": episode.restore,
    }
    while True:
        call, *values = _read(channel)
        episode.asked = None
        try:
            answer = inside.encode(calls[call](*values))
        except BaseException as error:
            answer = inside.encode(_failure(episode.running, error))
        _write(channel, answer.encode())
