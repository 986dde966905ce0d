"""What endpoints do wrong, and that it ends in data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness_core.errors import (
    ContentFiltered,
    ContextTooLong,
    HarnessError,
    ModelError,
    ModelRefused,
    RateLimited,
)
from harness_core.models import Endpoint, Message, ModelSession, ModelSettings, Request
from harness_core.testing.model_server import ModelServer, Say, Seen

Connect = Callable[..., Any]

PASSING = {
    "rate limit": Say("slow down", status=429),
    "overloaded": Say(status=503),
    "broken": Say("internal", status=500),
    "truncated": Say("a long answer " * 20, truncate=True),
    "no JSON": Say(raw="<html>Bad gateway</html>"),
    "other JSON": Say(raw='{"detail": "?"}'),
    "a list": Say(raw="[]"),
    "no choices": Say(raw='{"choices": [], "usage": {}}'),
    "no message": Say(raw='{"choices": [{"message": null}]}'),
    "odd types": Say(raw='{"choices": [{"message": {"content": "x", "tool_calls": 7}}]}'),
    "hung": Say("x", delay=30.0),
}


def _ask(text: str) -> Request:
    return Request((Message("user", text),))


@pytest.mark.parametrize("trouble", PASSING)
def test_what_passes_is_tried_again(connect: Connect, trouble: str) -> None:
    """After two bad tries the third one's reply is the answer, and it alone is paid."""
    with ModelServer([PASSING[trouble], PASSING[trouble], "fine"]) as server:
        session = connect(server, timeout=1.0)
        assert session.client("policy").chat(_ask("a")).text == "fine"
        assert len(server.seen) == 3
        (spend,) = session.spend()
    assert spend.calls == 1


@pytest.mark.parametrize("trouble", ["rate limit", "broken", "truncated", "no JSON", "hung"])
def test_what_does_not_pass_is_infrastructures_fault(connect: Connect, trouble: str) -> None:
    """After the last try the error says what happened, counts against nobody, costs nothing."""
    with ModelServer(lambda seen: PASSING[trouble]) as server:
        session = connect(server, timeout=0.5, attempts=3)
        with pytest.raises(ModelError, match="in 3 tries") as caught:
            session.client("policy").chat(_ask("a"))
        assert len(server.seen) == 3
        assert session.spend() == []
    assert caught.value.fault == "infrastructure"
    assert isinstance(caught.value, RateLimited) == (trouble == "rate limit")


@pytest.mark.parametrize(
    ("say", "kind", "fault"),
    [
        (Say("Incorrect API key provided.", status=401), ModelRefused, "caller"),
        (Say("The model `m` does not exist.", status=404), ModelRefused, "caller"),
        (Say("Unknown parameter.", status=400), ModelRefused, "caller"),
        (
            Say("This model's maximum context length is 9 tokens.", status=400),
            ContextTooLong,
            "policy",
        ),
        (
            Say("the request exceeds the available context size", status=400),
            ContextTooLong,
            "policy",
        ),
        (
            Say("filtered due to Azure's content management policy", status=400),
            ContentFiltered,
            "policy",
        ),
        (Say("I will n", finish="content_filter"), ContentFiltered, "policy"),
    ],
)
def test_what_never_passes_is_told_at_once(
    connect: Connect, say: Say, kind: type[HarnessError], fault: str
) -> None:
    """Wrong requests, long conversations and filters have an error each, after one try."""
    with ModelServer(lambda seen: say) as server:
        client = connect(server).client("policy")
        with pytest.raises(kind) as caught:
            client.chat(_ask("a"))
        assert len(server.seen) == 1
    assert caught.value.fault == fault


def test_a_filtered_answer_is_paid_once(connect: Connect) -> None:
    """An answer that a filter cut is kept: asking again raises again, for free."""
    with ModelServer([Say("I will n", finish="content_filter")]) as server:
        session = connect(server)
        for _ in range(2):
            with pytest.raises(ContentFiltered, match="I will n"):
                session.client("policy").chat(_ask("a"))
        assert len(server.seen) == 1


@pytest.mark.parametrize("header", ["1", "0.9"])
def test_retry_after_is_respected(connect: Connect, header: str) -> None:
    """Nobody asks an endpoint again before the time that it named, other callers included."""
    times: list[float] = []

    def say(seen: Seen) -> Say:
        times.append(time.monotonic())
        if seen.number == 0:
            return Say("wait", status=429, headers={"Retry-After": header})
        return Say("fine")

    with ModelServer(say) as server:
        client = connect(server).client("policy")
        with ThreadPoolExecutor(4) as threads:
            first = threads.submit(client.chat, _ask("a"))
            while not times:
                time.sleep(0.01)
            time.sleep(0.2)  # its answer is there
            others = [threads.submit(client.chat, _ask(text)) for text in "bcd"]
            assert {each.result().text for each in [first, *others]} == {"fine"}
    assert min(times[1:]) - times[0] >= float(header)


def test_a_storm_of_rate_limits_ends_in_replies(connect: Connect) -> None:
    """A server that turns away all but 4 calls at a time serves 32 callers in the end."""
    open_now = 0
    lock = threading.Lock()

    def say(seen: Seen) -> Say:
        nonlocal open_now
        with lock:
            open_now += 1
            if open_now > 4:
                open_now -= 1
                return Say("too many", status=429)
        threading.Timer(0.05, done).start()
        return Say(seen.last, delay=0.05)

    def done() -> None:
        nonlocal open_now
        with lock:
            open_now -= 1

    with ModelServer(say) as server:
        client = connect(server, attempts=20).client("policy")
        with ThreadPoolExecutor(32) as threads:
            texts = [f"question {number}" for number in range(96)]
            replies = list(threads.map(lambda text: client.chat(_ask(text)).text, texts))
        assert replies == texts
        assert server.served["m"].calls == 96
        assert len(server.seen) < 96 * 2.5  # most of the storm never reached it


@pytest.mark.parametrize("death", ["closed", "errors", "hung", "rate limit"])
def test_an_endpoint_that_dies_goes_unnoticed(connect: Connect, death: str) -> None:
    """While another lives, no caller sees an error, and the dead one is hardly asked."""

    def say(seen: Seen) -> Say:
        if seen.number < 5 or death == "closed":
            return Say("first", delay=0.02)
        if death == "errors":
            return Say(status=500)
        return Say("x", delay=30.0) if death == "hung" else Say(status=429)

    with ModelServer(say) as dying, ModelServer(lambda seen: Say("second", delay=0.02)) as other:
        client = connect(dying, other, timeout=1.0, attempts=4).client("policy")

        def ask(number: int) -> str:
            if number == 10 and death == "closed":
                dying.close()
            return str(client.chat(_ask(f"question {number}")).text)

        with ThreadPoolExecutor(4) as threads:
            replies = list(threads.map(ask, range(60)))
        assert set(replies) == {"first", "second"}
        assert dying.served["m"].calls + other.served["m"].calls == 60
        assert replies.count("second") >= 45


def test_endpoints_share_the_work_by_their_pace(connect: Connect) -> None:
    """The faster of two endpoints answers more calls, and neither idles."""
    with (
        ModelServer(lambda seen: Say("x", delay=0.3)) as slow,
        ModelServer(lambda seen: Say("x", delay=0.05)) as fast,
    ):
        client = connect(slow, fast).client("policy")
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda number: client.chat(_ask(str(number))), range(40)))
        assert 2 <= slow.served["m"].calls < fast.served["m"].calls


def test_concurrency_is_limited_by_endpoint(direct: bool) -> None:
    """An endpoint never has more calls open than it is said to take."""
    with ModelServer(lambda seen: Say("x", delay=0.1)) as server:
        place = Endpoint(server.url, "TEST_MODEL_KEY", concurrency=3, direct=direct)
        settings = ModelSettings("openai/m", endpoints=(place,))
        with ModelSession(settings=settings) as session, ThreadPoolExecutor(12) as threads:
            client = session.client("policy")
            list(threads.map(lambda number: client.chat(_ask(str(number))), range(12)))
        assert server.busiest == 3


def test_two_keys_share_one_endpoint(direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two keys of 2 calls at a time each, both are used, and 4 calls are open at most."""
    monkeypatch.setenv("FIRST_KEY", "sk-first-000000")
    monkeypatch.setenv("SECOND_KEY", "sk-second-00000")
    keys = ("sk-first-000000", "sk-second-00000")
    with ModelServer(lambda seen: Say("x", delay=0.1), keys=keys) as server:
        places = tuple(
            Endpoint(server.url, name, concurrency=2, direct=direct)
            for name in ("FIRST_KEY", "SECOND_KEY")
        )
        settings = ModelSettings("openai/m", endpoints=places)
        with ModelSession(settings=settings) as session, ThreadPoolExecutor(12) as threads:
            client = session.client("policy")
            list(threads.map(lambda number: client.chat(_ask(str(number))), range(12)))
        used = [seen.key for seen in server.seen]
        assert {key: used.count(key) >= 4 for key in keys} == dict.fromkeys(keys, True)
        assert server.busiest == 4


def test_a_key_that_is_not_set_is_named(direct: bool) -> None:
    """An endpoint whose key variable is missing is refused with the variable's name."""
    place = Endpoint("http://127.0.0.1:9/v1", "NOBODY_SET_THIS_KEY", direct=direct)
    settings = ModelSettings("openai/m", endpoints=(place,))
    with (
        ModelSession(settings=settings) as session,
        pytest.raises(ModelRefused, match="NOBODY_SET_THIS_KEY is not set"),
    ):
        session.client("policy").chat(_ask("a"))


def test_a_provider_without_its_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloud model whose provider's key is not in the environment is refused without a retry."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    settings = ModelSettings("openai/gpt-4o-mini", attempts=1)
    with ModelSession(settings=settings) as session, pytest.raises(ModelRefused, match="API_KEY"):
        session.client("policy").chat(_ask("a"))


def test_a_rest_beyond_all_patience_is_told_at_once(connect: Connect) -> None:
    """Who asks to be left alone for an hour is, and nobody waits for it; later callers neither."""
    with ModelServer(
        lambda seen: Say("quota", status=429, headers={"Retry-After": "3600"})
    ) as server:
        client = connect(server, patience=2.0).client("policy")
        for text in "ab":
            began = time.monotonic()
            with pytest.raises(RateLimited):
                client.chat(_ask(text))
            assert time.monotonic() - began < 2
        assert len(server.seen) == 1


ODD = {
    "endless count": '{"prompt_tokens": 1e999, "completion_tokens": 1}',
    "no count": '{"prompt_tokens": NaN, "completion_tokens": 1}',
}


@pytest.mark.parametrize("usage", ODD.values(), ids=ODD)
def test_odd_numbers_are_the_endpoints_fault(usage: str) -> None:
    """A number that is none makes the reply unreadable: infrastructure, never the policy."""
    message = '{"role": "assistant", "content": "up"}'
    body = f'{{"choices": [{{"index": 0, "message": {message}}}], "usage": {usage}}}'
    with ModelServer(lambda seen: Say(raw=body)) as server:
        endpoint = Endpoint(server.url, direct=True)
        settings = ModelSettings("openai/m", endpoints=(endpoint,), attempts=2, first_wait=0.01)
        with ModelSession(settings=settings) as session, pytest.raises(ModelError):
            session.client("policy").chat(_ask("a"))


def test_odd_counts_never_lower_the_account() -> None:
    """A negative count is 0, and a huge one is what a store can hold."""
    message = '{"role": "assistant", "content": "up"}'
    usage = '{"prompt_tokens": -5, "completion_tokens": 1000000000000000000000000000000}'
    body = f'{{"choices": [{{"index": 0, "message": {message}}}], "usage": {usage}}}'
    with ModelServer(lambda seen: Say(raw=body)) as server:
        settings = ModelSettings("openai/m", endpoints=(Endpoint(server.url, direct=True),))
        with ModelSession(settings=settings) as session:
            session.client("policy").chat(_ask("a"))
            (spent,) = session.spend()
    assert (spent.input_tokens, spent.output_tokens) == (0, 2**53)


def test_keys_are_scrubbed_from_every_text_of_a_reply() -> None:
    """A server that echoes the key as model, finish, or name of a tool call changes nothing."""
    key = "sk-planted-0123456789abcdef"
    call = (
        f'{{"id": "{key}", "type": "function", "function": {{"name": "{key}", "arguments": ""}}}}'
    )
    message = f'{{"role": "assistant", "content": null, "tool_calls": [{call}]}}'
    choice = f'{{"index": 0, "message": {message}, "finish_reason": "{key}"}}'
    with ModelServer(
        lambda seen: Say(raw=f'{{"model": "{key}", "choices": [{choice}]}}')
    ) as server:
        endpoint = Endpoint(server.url, "TEST_MODEL_KEY", direct=True)
        with ModelSession(settings=ModelSettings("openai/m", endpoints=(endpoint,))) as session:
            assert key not in repr(session.client("policy").chat(_ask("a")))
