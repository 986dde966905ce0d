"""Wall 4, the wire: what crosses between the host and a worker, and what may come back.

A frame is four bytes of length (big-endian), then lines of JSON. Whatever a worker answers is
untrusted: it is read under a deadline and a size cap, and only exact shapes become values.
"""

from __future__ import annotations

import json
import math
import os
import socket
from time import monotonic, perf_counter
from typing import Any

from harness_core.errors import EnvError, WireError
from harness_core.values import Action, Blocked, JsonDict, Observation, StepResult

MAX_DEPTH = 64
_LOOKS = 100
_BUSY = 50e-6

_SAME = b'\0\0\0\x08["same"]'
_EMPTY: dict[type, bytes] = {str: b'""', dict: b"{}", tuple: b"[]"}
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class HungUp(Exception):
    """The worker closed its end: it died, or pretends to."""


def encode(value: Any) -> bytes:
    """One line of a message to the worker.

    Raises:
        EnvError: an env or a layer gave something that is no JSON.
    """
    if value is False:
        return b"false"
    if not value and type(value) in _EMPTY:
        return _EMPTY[type(value)]
    try:
        return _encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise EnvError(
            f"A contract cannot be shown this, since it is no JSON ({error}): {value!r:.200}. "
            "Actions, observations, info and env states hold JSON values only."
        ) from error


def send(channel: socket.socket, lines: list[bytes], cap: int) -> None:
    """Sends one message within the channel's timeout.

    Raises:
        WireError: it is larger than `cap` bytes.
        HungUp: nobody reads.
        TimeoutError: it was not read in time.
    """
    payload = b"\n".join(lines)
    if len(payload) > cap:
        raise WireError(
            f"A message of {len(payload)} bytes to the contract is over the cap of {cap}: the "
            "env's observation or state is too large. Raise SandboxLimits.bytes_in."
        )
    try:
        channel.sendall(len(payload).to_bytes(4, "big") + payload)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise HungUp from error


def receive(channel: socket.socket, cap: int) -> list[Any]:
    """Reads one answer: a list whose first item is its kind.

    It must begin within the channel's timeout, and be whole within that time again.

    Raises:
        WireError: it is too large, or no strict JSON of that form.
        HungUp: the worker is gone.
        TimeoutError: it was not there in time.
    """
    data = _some(channel)
    if data == _SAME:
        return ["same"]
    size = int.from_bytes(data[:4], "big")
    if len(data) < 4 + size:
        data, size = _rest(channel, bytearray(data), cap)
    if size > cap:
        raise _too_large(size, cap)
    if len(data) > 4 + size:
        raise WireError("The contract's process answered more than it was asked for.")
    answer = parse(data[4:])
    if type(answer) is not list or not answer or type(answer[0]) is not str:
        raise _malformed(answer)
    return answer


def _rest(channel: socket.socket, data: bytearray, cap: int) -> tuple[bytes, int]:
    limit = channel.gettimeout()
    deadline = monotonic() + (limit or 0)
    try:
        while True:
            if len(data) >= 4:
                size = int.from_bytes(data[:4], "big")
                if size > cap:
                    raise _too_large(size, cap)
                if len(data) >= 4 + size:
                    return bytes(data), size
            left = deadline - monotonic()
            if left <= 0:
                raise TimeoutError
            channel.settimeout(left)
            data += _some(channel)
    finally:
        channel.settimeout(limit)


def _some(channel: socket.socket) -> bytes:
    try:
        data = _soon(channel) or channel.recv(65536)
    except ConnectionResetError as error:
        raise HungUp from error
    if not data:
        raise HungUp
    return data


def _soon(channel: socket.socket) -> bytes:
    """What arrives while the host only lets others run: most answers do, and a sleep costs more
    than they do. Empty if nothing did, or if the machine is busy with others."""
    descriptor = channel.fileno()
    looked = perf_counter()
    for _ in range(_LOOKS):
        try:
            return os.read(descriptor, 65536)
        except BlockingIOError:
            os.sched_yield()
        before, looked = looked, perf_counter()
        if looked - before > _BUSY:
            break
    return b""


def _too_large(size: int, cap: int) -> WireError:
    return WireError(
        f"The contract answered with {size} bytes; at most {cap} may come back. Return less, or "
        "raise SandboxLimits.bytes_out."
    )


def parse(text: bytes) -> Any:
    """Strict JSON: UTF-8, finite numbers, each key once, `MAX_DEPTH` levels, whole characters.

    Raises:
        WireError: it is anything else.
    """
    try:
        value = _decoder.decode(text.decode())
        _check(value, 0)
    except (ValueError, RecursionError) as error:
        raise WireError(f"The contract's process answered with no strict JSON: {error}") from error
    return value


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"more than {MAX_DEPTH} levels deep")
    if type(value) is str:
        if not value.isascii():
            value.encode()  # a lone surrogate would break whoever writes it down
    elif type(value) is list:
        for item in value:
            _check(item, depth + 1)
    elif type(value) is dict:
        for key, item in value.items():
            _check(key, depth)
            _check(item, depth + 1)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> JsonDict:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key occurs twice")
    return value


_decoder = json.JSONDecoder(
    parse_float=_finite, parse_constant=_no_constant, object_pairs_hook=_unique
)


def action_lines(action: Action, arguments: bytes) -> list[bytes]:
    """An action as it crosses: one line a field. What is large is encoded by the caller."""
    return [encode(action.text), encode(action.tool), arguments]


def observation_lines(observation: Observation, data: bytes) -> list[bytes]:
    """An observation as it crosses."""
    return [encode(observation.text), data, encode(observation.images)]


def rest_lines(response: StepResult, info: bytes) -> list[bytes]:
    """A step's result as it crosses, after its observation."""
    return [encode(response.terminated), encode(response.truncated), info]


def read_action(row: list[Any], sent: Action) -> Action:
    """An action from an untrusted row, in which null stands for what was sent."""
    return Action(*_filled(row, (sent.text, sent.tool, sent.arguments), _ACTION))


def read_observation(row: Any, *, sent: Observation) -> Observation:
    """An observation from an untrusted row, in which null stands for what was sent."""
    if row == _UNCHANGED:
        return sent
    text, data, images = _filled(row, (sent.text, sent.data, list(sent.images)), _OBSERVATION)
    if not all(type(image) is str for image in images):
        raise _malformed(row)
    return Observation(text, data, tuple(images))


def read_shown(row: list[Any], sent: Observation) -> Observation:
    """An observation that is the whole answer."""
    _shape(row, list)
    return read_observation(row[0], sent=sent)


def read_step(row: list[Any], sent: StepResult) -> tuple[StepResult, int | None]:
    """A step's result and the switch of a route from an untrusted row, as above."""
    if len(row) != 3:
        raise _malformed(row)
    seen, rest, switch = row
    observation = read_observation(seen, sent=sent.observation)
    if not (switch is None or (type(switch) is int and switch >= 0)):
        raise _malformed(row)
    if observation is sent.observation and rest == _UNCHANGED:
        return sent, switch
    filled = _filled(rest, (sent.terminated, sent.truncated, sent.info), _REST)
    return StepResult(observation, *filled), switch


_UNCHANGED = [None, None, None]
_ACTION, _OBSERVATION, _REST = (str, str, dict), (str, dict, list), (bool, bool, dict)


def _filled(row: Any, sent: tuple[Any, ...], types: tuple[type, ...]) -> list[Any]:
    if type(row) is not list or len(row) != len(types):
        raise _malformed(row)
    for item, kind in zip(row, types, strict=True):
        if item is not None and type(item) is not kind:
            raise _malformed(row)
    return [old if new is None else new for old, new in zip(sent, row, strict=True)]


def read_error(row: list[Any]) -> tuple[str, str, str, int | None]:
    """Where, exception type (empty for a misuse), message and line from an untrusted row."""
    if len(row) != 4 or not all(type(item) is str for item in row[:3]):
        raise _malformed(row)
    if not (row[3] is None or type(row[3]) is int):
        raise _malformed(row)
    where, kind, message, line = row
    return where[:40], kind[:100], message[:2000], line


def read_blocked(row: list[Any]) -> Blocked:
    """A block from an untrusted row."""
    _shape(row, str)
    return Blocked(*row)


def read_nothing(row: list[Any], unchanged: Any = None) -> Any:
    """An answer that carries nothing: what was sent is `unchanged`."""
    _shape(row)
    return unchanged


def read_object(row: list[Any]) -> JsonDict:
    """A JSON object from an untrusted row."""
    _shape(row, dict)
    value: JsonDict = row[0]
    return value


def _shape(row: Any, *types: type) -> None:
    if type(row) is not list or [type(item) for item in row] != list(types):
        raise _malformed(row)


def _malformed(answer: Any) -> WireError:
    return WireError(f"The contract's process answered out of form: {answer!r:.200}")
