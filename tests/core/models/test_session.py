from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness_core import HarnessError, Tool
from harness_core.errors import SpendLimitReached
from harness_core.models import Message, Reply, Request, Spend, SpendLimit, ToolCall
from harness_core.policies import Usage
from harness_core.store import RunStore
from harness_core.testing.model_server import ModelServer, Say, Seen

Connect = Callable[..., Any]


def _ask(text: str, **options: Any) -> Request:
    return Request((Message("user", text),), **options)


def test_everything_of_a_reply_arrives(connect: Connect) -> None:
    """Text, reasoning, tool calls, finish, usage, token ids and logprobs are those of the wire."""
    say = Say(
        "I look.",
        reasoning="where?",
        tool_calls=[("look", {"at": "desk"}), ("look", "{broken")],
        usage=Usage(11, 7),
        token_ids=[5, 6],
        logprobs=[-0.5, -0.25],
    )
    with ModelServer([say]) as server:
        reply = connect(server).client("policy").chat(_ask("go", logprobs=True))
    assert reply == Reply(
        "I look.",
        "where?",
        (
            ToolCall("call_0_0", "look", reply.tool_calls[0].arguments),
            ToolCall("call_0_1", "look", "{broken"),
        ),
        "tool_calls",
        Usage(11, 7),
        model="m",
        token_ids=(5, 6),
        logprobs=(-0.5, -0.25),
    )


def test_everything_of_a_request_arrives(connect: Connect) -> None:
    """Messages, tools, schema, temperature, length, stops and the key reach the endpoint."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    call = ToolCall("c1", "look", '{"at": "desk"}')
    request = Request(
        (
            Message("system", "Act."),
            Message("user", "Go."),
            Message("assistant", "", tool_calls=(call,)),
            Message("tool", "A desk.", tool_call_id="c1"),
        ),
        tools=(Tool("look", "looks", {"type": "object", "properties": {}}),),
        schema=schema,
        temperature=0.25,
        max_tokens=99,
        stop=("END",),
    )
    with ModelServer(["{}"]) as server:
        connect(server).client("policy").chat(request)
        (seen,) = server.seen
    assert seen.model == "m"
    assert seen.schema == schema
    assert [tool["function"]["name"] for tool in seen.tools] == ["look"]
    assert [each["role"] for each in seen.messages] == ["system", "user", "assistant", "tool"]
    assert seen.messages[2]["tool_calls"][0]["function"]["arguments"] == call.arguments
    assert seen.messages[3]["tool_call_id"] == "c1"
    assert seen.body["temperature"] == 0.25
    assert seen.body["max_tokens"] == 99
    assert seen.body["stop"] == ["END"]
    assert seen.key == "sk-planted-0123456789abcdef"


def test_same_request_and_sample_is_paid_once(connect: Connect) -> None:
    """A request is answered from the store, for any role; another sample or option is asked."""
    with ModelServer(lambda seen: f"answer {seen.number}") as server:
        session = connect(server)
        one, judge = session.client("policy"), session.client("judge")
        first = one.chat(_ask("a"))
        assert one.chat(_ask("a")) == judge.chat(_ask("a")) == first
        others = [
            one.chat(_ask("a"), 1),
            one.chat(_ask("b")),
            one.chat(_ask("a", temperature=0.0)),
            session.client("policy", "openai/n").chat(_ask("a")),
        ]
        assert len({each.text for each in [first, *others]}) == 5
        assert len(server.seen) == 5


def test_a_second_session_makes_no_call(connect: Connect, tmp_path: Path) -> None:
    """What one session asked, a later one finds in the store, and counts as cached."""
    with ModelServer(lambda seen: f"answer {seen.number}") as server:
        with RunStore(tmp_path / "run.db") as store:
            first = connect(server, store=store).client("policy")
            replies = [first.chat(_ask(text)) for text in "abc"]
            vectors = first.embed(["one", "two"])
            calls = server.counts()
        with RunStore(tmp_path / "run.db") as store:
            session = connect(server, store=store)
            again = session.client("policy")
            assert [again.chat(_ask(text)) for text in "abc"] == replies
            assert again.embed(["two", "one"]) == vectors[::-1]
            assert server.counts() == calls
            (spend,) = session.spend()
            assert (spend.calls, spend.cached) == (4, 4)
            assert len(list(store.calls())) == 4


def test_threads_that_ask_the_same_at_once_pay_once(connect: Connect) -> None:
    """Sixteen threads with one request get one reply of one call."""
    with ModelServer(lambda seen: Say(f"answer {seen.number}", delay=0.3)) as server:
        client = connect(server).client("policy")
        with ThreadPoolExecutor(16) as threads:
            replies = set(threads.map(lambda _: client.chat(_ask("a")), range(16)))
        assert len(replies) == len(server.seen) == 1


def test_sync_and_async_are_one(connect: Connect) -> None:
    """Coroutines of any loop get the replies and vectors that threads get, and run at once."""
    with ModelServer(lambda seen: Say(seen.last.upper(), delay=0.2)) as server:
        client = connect(server).client("policy")

        async def ask() -> tuple[list[Reply], list[list[float]]]:
            asked = (client.achat(_ask(text)) for text in "abcdefgh")
            return await asyncio.gather(*asked), await client.aembed(["one", "two"])

        replies, vectors = asyncio.run(ask())
        assert [reply.text for reply in replies] == list("ABCDEFGH")
        assert [client.chat(_ask(text)) for text in "abcdefgh"] == replies
        assert client.embed(["one", "two"]) == vectors
        assert len(server.seen) == 8
        assert server.busiest >= 4


def test_a_cancelled_wait_leaves_the_call_to_the_others(connect: Connect) -> None:
    """A coroutine that gives up takes no reply from the thread that asked the same."""
    with ModelServer(lambda seen: Say("late", delay=0.5)) as server:
        client = connect(server).client("policy")
        with ThreadPoolExecutor(1) as thread:
            other = thread.submit(client.chat, _ask("a"))

            async def impatient() -> None:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(client.achat(_ask("a")), 0.1)

            asyncio.run(impatient())
            assert other.result().text == "late"
        assert len(server.seen) == 1


def test_spend_by_role_adds_up_to_the_servers_count(connect: Connect) -> None:
    """Calls and tokens of all roles together are what the server counted."""
    with ModelServer(lambda seen: " ".join(["word"] * (seen.number % 7))) as server:
        session = connect(server)
        roles = ("policy", "designer", "writer", "judge", "teacher")

        def work(number: int) -> None:
            client = session.client(roles[number % 5])
            client.chat(_ask(f"question {number % 30}"))

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(work, range(60)))
        session.client("writer").embed([f"text {number}" for number in range(150)])
        rows = session.spend()
        served = server.served["m"]
    assert [row.role for row in rows] == sorted(roles)
    assert sum(row.calls for row in rows) == served.calls == 30 + 3
    assert sum(row.cached for row in rows) == 30
    assert sum(row.input_tokens for row in rows) == served.usage.input_tokens
    assert sum(row.output_tokens for row in rows) == served.usage.output_tokens


@pytest.mark.parametrize("direct", [False], indirect=True, ids=["litellm"])
def test_cost_is_litellms_price(connect: Connect) -> None:
    """A model on litellm's price list costs what the list says; an unknown one nothing."""
    with ModelServer(lambda seen: Say("x", usage=Usage(1000, 500))) as server:
        session = connect(server)
        priced = session.client("judge", "openai/gpt-4o-mini").chat(_ask("a"))
        session.client("policy", "openai/nobody-knows-me").chat(_ask("a"))
        judge, policy = session.spend()
    assert priced.cost == pytest.approx(1000 * 0.15e-6 + 500 * 0.6e-6)
    assert judge == Spend("judge", 1, 0, 1000, 500, priced.cost)
    assert policy == Spend("policy", 1, 0, 1000, 500, 0.0)


@pytest.mark.parametrize(
    ("limit", "what"),
    [
        (SpendLimit(tokens=300), "300 tokens"),
        (SpendLimit(calls=30), "30 calls"),
    ],
)
def test_a_limit_is_passed_by_one_call_per_worker_at_most(
    connect: Connect, tmp_path: Path, limit: SpendLimit, what: str
) -> None:
    """Eight threads stop at the limit; with a larger one nothing is paid again."""

    def say(seen: Seen) -> Say:
        return Say("x", delay=0.02, usage=Usage(6, 4))

    def work(session: Any, number: int) -> str:
        try:
            session.client("policy").chat(_ask(f"question {number}"))
        except SpendLimitReached as error:
            return str(error)
        return "reply"

    with ModelServer(say) as server, RunStore(tmp_path / "run.db") as store:
        session = connect(server, store=store, limit=limit)
        with ThreadPoolExecutor(8) as threads:
            ends = list(threads.map(lambda number: work(session, number), range(80)))
        calls = server.served["m"].calls
        assert ends.count("reply") == calls
        assert all(what in end for end in ends if end != "reply")
        if limit.calls:
            assert calls == 30
        else:
            assert 30 <= calls <= 30 + 8
        larger = connect(server, store=store, limit=SpendLimit(calls=80))
        with ThreadPoolExecutor(8) as threads:
            ends = list(threads.map(lambda number: work(larger, number), range(80)))
        assert ends == ["reply"] * 80
        assert server.served["m"].calls == 80


@pytest.mark.parametrize("direct", [False], indirect=True, ids=["litellm"])
def test_a_limit_of_money_holds_over_sessions(connect: Connect, tmp_path: Path) -> None:
    """What a store's calls have cost counts in later sessions; what is kept stays free."""
    model, path = "openai/gpt-4o-mini", tmp_path / "run.db"
    with ModelServer(lambda seen: Say("x", usage=Usage(10**6, 0))) as server, RunStore(path) as db:
        client = connect(server, store=db, limit=SpendLimit(cost=0.2)).client("policy", model)
        for text in "ab":
            assert client.chat(_ask(text)).cost == pytest.approx(0.15)
        later = connect(server, store=db, limit=SpendLimit(cost=0.3)).client("policy", model)
        with pytest.raises(SpendLimitReached, match="US dollars"):
            later.chat(_ask("c"))
        assert later.chat(_ask("a")).text == "x"
        assert len(server.seen) == 2


def test_a_closed_session_says_so(connect: Connect) -> None:
    """After `close`, which may be called twice, asking is an error that says what to do."""
    with ModelServer(["x"]) as server:
        session = connect(server)
        client = session.client("policy")
        session.close()
        session.close()
        with pytest.raises(HarnessError, match="closed"):
            client.chat(_ask("a"))


def test_closing_keeps_what_is_under_way(connect: Connect, tmp_path: Path) -> None:
    """Whoever waits is told at once, while a reply that is under way is still kept."""
    ends: list[object] = []

    def ask(client: Any) -> None:
        try:
            ends.append(client.chat(_ask("a")))
        except HarnessError as error:
            ends.append(error.fault)

    asked = threading.Event()

    def say(seen: Seen) -> Say:
        asked.set()
        return Say("late", delay=0.5)

    with ModelServer(say) as server, RunStore(tmp_path / "run.db") as store:
        session = connect(server, store=store)
        thread = threading.Thread(target=ask, args=(session.client("policy"),))
        thread.start()
        assert asked.wait(60)
        session.close()
        thread.join()
        assert ends == ["infrastructure"]
        assert [call.body["reply"]["text"] for call in store.calls()] == ["late"]
