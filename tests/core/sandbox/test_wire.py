"""Wall 4 alone: whatever a hostile process writes, only strict JSON of the due shape comes in."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

from harness_core.errors import WireError
from harness_core.sandbox import wire
from harness_core.values import Action, Observation, StepResult

SENT = StepResult(Observation("seen", {"a": 1}, ("data:,x",)), info={"b": 2})


def answered(data: bytes, cap: int = 1000) -> list:
    """What `receive` makes of the bytes that the other side sent before it hung up."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        sender = threading.Thread(target=_send, args=(theirs, data))
        sender.start()
        try:
            return wire.receive(ours, cap)
        finally:
            ours.shutdown(socket.SHUT_RDWR)
            sender.join()


def _send(channel: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        channel.sendall(data)
        channel.shutdown(socket.SHUT_WR)


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def test_reads_an_answer():
    """A frame of strict JSON is read, also where it comes in two parts."""
    assert answered(frame(b'["extras",{"a":[1,null,true,"\\u00fc"]}]')) == [
        "extras",
        {"a": [1, None, True, "ü"]},
    ]
    assert answered(frame(b'["same"]')) == ["same"]
    long = b'["x","' + b"y" * 200_000 + b'"]'
    assert len(answered(frame(long), 300_000)[1]) == 200_000


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x80\x04K\x01.",
        b"[1",
        b"{}",
        b"[]",
        b"[1]",
        b'"same"',
        b"null",
        b'["x",NaN]',
        b'["x",Infinity]',
        b'["x",-Infinity]',
        b'["x",1e999]',
        b'["x",{"a":1,"a":2}]',
        b'["x","\\ud800"]',
        b'["x",{"\\udfff":1}]',
        b'["x","\xff"]',
        b'["x",' + b"[" * 70 + b"]" * 70 + b"]",
        b"[" * 400_000,
        b'["x",' + b"9" * 5000 + b"]",
        b'["x"]["y"]',
        b"['x']",
        b'["x",0x1]',
    ],
    ids=lambda payload: repr(payload[:24]),
)
def test_refuses_what_is_no_strict_answer(payload):
    """Anything but a strict JSON list that begins with its kind is a `WireError`."""
    with pytest.raises(WireError):
        answered(frame(payload), 500_000)


def test_refuses_by_length_before_reading():
    """A length over the cap is refused though nothing of it has come."""
    with pytest.raises(WireError, match="at most 1000"):
        answered((1001).to_bytes(4, "big"))
    with pytest.raises(WireError, match="at most 1000"):
        answered(frame(b'["' + b"x" * 2000 + b'"]'))


def test_refuses_more_than_one_answer():
    """Bytes after the answer are refused: they would pass for the answer to the next call."""
    with pytest.raises(WireError, match="more than it was asked"):
        answered(frame(b'["a"]') + b"x")


def test_hanging_up_is_no_answer():
    """An end of the stream in the middle of an answer is told apart from a bad answer."""
    for data in (b"", b"\0\0", frame(b'["same"]')[:-1]):
        with pytest.raises(wire.HungUp):
            answered(data)


@pytest.mark.parametrize(
    "row",
    [[], ["x"], ["x", "", {}, 1], [1, "", {}], ["x", "", []], ["x", True, {}], [None, None]],
)
def test_actions_of_another_shape(row):
    """An action has two texts and an object, and nothing else."""
    with pytest.raises(WireError):
        wire.read_action(row, Action("x"))


@pytest.mark.parametrize(
    "row",
    [
        [None, None],
        [[None] * 3, [None] * 3, -1],
        [[None] * 3, [None] * 3, True],
        [[None] * 3, [None] * 3, 1.0],
        [[None] * 3, [1, None, None], None],
        [[None] * 3, [None, "no", None], None],
        [[None] * 3, [None, None, None, None], None],
        [[None] * 3, None, None],
        [["x", [], []], [None] * 3, None],
        [["x", {}, [1]], [None] * 3, None],
        [["x", {}, "data:"], [None] * 3, None],
        [{"text": "x"}, [None] * 3, None],
    ],
)
def test_steps_of_another_shape(row):
    """A step's result has an observation, two bools, an object and perhaps a switch."""
    with pytest.raises(WireError):
        wire.read_step(row, SENT)


def test_nulls_stand_for_what_was_sent():
    """Fields left out keep the host's own objects; all left out is the host's own result."""
    unchanged = [None, None, None]
    assert wire.read_step([unchanged, unchanged, None], SENT) == (SENT, None)
    answer, switch = wire.read_step([["new", None, None], [True, None, None], 2], SENT)
    assert answer == StepResult(SENT.observation.replace(text="new"), True, info={"b": 2})
    assert switch == 2
    assert answer.observation.data is SENT.observation.data


@pytest.mark.parametrize("row", [[], ["a", "b", "c"], ["a", "b", "c", "1"], [1, "b", "c", None]])
def test_errors_of_another_shape(row):
    """Even an error's report must have its shape."""
    with pytest.raises(WireError):
        wire.read_error(row)
