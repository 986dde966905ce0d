"""The model server, asked over plain HTTP."""

from __future__ import annotations

import base64
import http.client
import json
import math
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("aiohttp")

from harness_core.errors import HarnessError
from harness_core.policies import Usage
from harness_core.testing.model_server import ModelServer, Say, Seen, Served, embedding


def ask(server: ModelServer, text: str = "hi", *, key: str = "", **more: Any) -> Any:
    """The answer's body."""
    return post(server.url, "chat/completions", _chat(text, more), key)


def post(url: str, path: str, body: object, key: str = "") -> Any:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{url}/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def refusal(server: ModelServer, **more: Any) -> tuple[int, str, Any]:
    """Status, message and headers of an answer that must be an error."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        ask(server, **more)
    with caught.value as error:
        return error.code, json.load(error)["error"]["message"], error.headers


def _chat(text: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def test_a_callable_sees_the_request_and_its_text_is_the_answer() -> None:
    """A callable script gets all parts of the request, and its text comes back as the answer."""
    heard: list[Seen] = []

    def script(seen: Seen) -> str:
        heard.append(seen)
        return f"{seen.last}, {seen.number}"

    schema = {"type": "object"}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    with ModelServer(script) as server:
        first = ask(server, "one", tools=[{"type": "function"}], response_format=form, key="k")
        second = ask(server, "two")
    assert first["choices"][0]["message"] == {"role": "assistant", "content": "one, 0"}
    assert second["choices"][0]["message"]["content"] == "two, 1"
    assert (heard[0].schema, heard[0].tools, heard[0].key) == (schema, ({"type": "function"},), "k")
    assert heard == server.seen


def test_a_list_is_played_in_order_and_then_it_is_over() -> None:
    """A list answers as many requests as it is long, then says that it is over."""
    with ModelServer(["a", Say("b")]) as server:
        said = [ask(server)["choices"][0]["message"]["content"] for _ in range(2)]
        status, message, _ = refusal(server)
    assert said == ["a", "b"]
    assert status == 400
    assert "script is over: it holds 2 replies" in message


def test_everything_that_a_reply_can_hold_is_sent() -> None:
    """Reasoning, calls, finish, and where asked for token ids and logprobs are in the answer."""
    say = Say(
        "t",
        reasoning="hm",
        tool_calls=[("walk", {"way": "left"}), ("walk", "{broken")],
        token_ids=[5, 6],
        logprobs=[-0.5, -1.0],
    )
    with ModelServer(lambda seen: say) as server:
        plain = ask(server)["choices"][0]
        full = ask(server, logprobs=True, return_token_ids=True)["choices"][0]
    message = plain["message"]
    calls = [call["function"] for call in message["tool_calls"]]
    assert message["reasoning_content"] == "hm"
    assert calls[0] == {"name": "walk", "arguments": '{"way": "left"}'}
    assert calls[1]["arguments"] == "{broken"
    assert plain["finish_reason"] == "tool_calls"
    assert "logprobs" not in plain
    assert "token_ids" not in plain
    assert [each["logprob"] for each in full["logprobs"]["content"]] == [-0.5, -1.0]
    assert full["token_ids"] == [5, 6]


def test_tokens_are_words_unless_the_script_says_otherwise() -> None:
    """Usage counts the words read and written, and takes what the script gives instead."""
    with ModelServer(["one two", Say("x", usage=Usage(70, 7))]) as server:
        counted = ask(server, "a b c")["usage"]
        given = ask(server)["usage"]
        assert server.served == {"m": Served(2, Usage(73, 9))}
    assert (counted["prompt_tokens"], counted["completion_tokens"]) == (3, 2)
    assert given["total_tokens"] == 77


def test_an_error_has_its_status_text_and_headers_and_is_not_served() -> None:
    """A status other than 200 is an error in the protocol's form that counts as no reply."""
    script = [Say("slow down", status=429, headers={"Retry-After": "3"}), Say(status=503)]
    with ModelServer(script) as server:
        limited = refusal(server)
        assert refusal(server)[:2] == (503, "Service Unavailable")
        assert server.served == {}
    assert limited[:2] == (429, "slow down")
    assert limited[2]["Retry-After"] == "3"


def test_a_truncated_body_breaks_off() -> None:
    """A truncated reply announces its length, ends half-way, and counts as no reply."""
    with ModelServer([Say("word " * 1000, truncate=True), "whole"]) as server:
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(server)
        assert ask(server)["choices"][0]["message"]["content"] == "whole"
        assert server.served["m"].calls == 1
    assert b'"role": "assistant"' in caught.value.partial


def test_a_raw_body_is_sent_as_it_is() -> None:
    """What is given as raw comes to the client byte by byte, whether JSON or not."""
    with ModelServer([Say(raw='{"choices": [')]) as server:
        with pytest.raises(json.JSONDecodeError):
            ask(server)
        assert server.served == {}


def test_a_content_filter_is_a_finish() -> None:
    """The finish of the script is the reason that the client reads."""
    with ModelServer([Say(finish="content_filter")]) as server:
        assert ask(server)["choices"][0]["finish_reason"] == "content_filter"


def test_a_client_that_leaves_is_counted_apart() -> None:
    """A reply whose client went away during the delay counts as aborted, not as served."""
    with ModelServer([Say("late", delay=30.0)]) as server:
        parts = urlsplit(server.url)
        line = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=0.2)
        line.request("POST", "/v1/chat/completions", json.dumps(_chat("hi", {})))
        with pytest.raises(TimeoutError):
            line.getresponse()
        line.close()
        until = time.monotonic() + 5
        while not server.aborted and time.monotonic() < until:
            time.sleep(0.01)
        assert server.counts() == {"seen": 1, "served": {}, "aborted": 1}


def test_a_wrong_key_is_refused() -> None:
    """With keys given, only their owners are let in, and nothing else is kept of the others."""
    with ModelServer(lambda seen: seen.key, keys=("k1", "k2")) as server:
        assert ask(server, key="k2")["choices"][0]["message"]["content"] == "k2"
        assert refusal(server, key="k3")[0] == 401
        assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"stream": True}, "does not stream"),
        ({"messages": 7}, "no chat request"),
        ({"messages": [7]}, "The script raised AttributeError"),
    ],
)
def test_what_cannot_be_answered_is_told(more: dict[str, Any], why: str) -> None:
    """A request to stream, one that is no chat, and a script that raises get a clear 400."""
    with ModelServer(lambda seen: seen.last) as server:
        status, message, _ = refusal(server, **more)
    assert status == 400
    assert why in message


def test_similar_texts_have_near_vectors() -> None:
    """An embedding has length 1, is the same every time, and is nearer to a text alike."""
    with ModelServer([]) as server:
        texts = ["open the fridge", "Open the  fridge door", "count all pens"]
        body = {"model": "e", "input": texts}
        answer = post(server.url, "embeddings", body)
        coded = post(server.url, "embeddings", {**body, "encoding_format": "base64"})
        assert server.served == {"e": Served(2, Usage(20, 0))}
    near, nearer, far = (each["embedding"] for each in answer["data"])
    assert math.hypot(*near) == pytest.approx(1.0)
    assert math.dist(near, nearer) < 0.9 < 1.1 < math.dist(near, far)
    assert near == embedding(texts[0])
    packed = base64.b64decode(coded["data"][0]["embedding"])
    assert struct.unpack(f"<{len(near)}f", packed) == pytest.approx(near, abs=1e-6)


def test_the_models_are_listed() -> None:
    """The list of models is the one that was given."""
    with (
        ModelServer([], models=("a", "b")) as server,
        urllib.request.urlopen(f"{server.url}/models", timeout=20) as answer,
    ):
        assert [model["id"] for model in json.load(answer)["data"]] == ["a", "b"]


def test_128_requests_wait_at_the_same_time() -> None:
    """128 requests of 0.5 s each are open together and take far less than their sum."""
    with ModelServer(lambda seen: Say("x", delay=0.5)) as server, ThreadPoolExecutor(128) as many:
        began = time.monotonic()
        answers = list(many.map(lambda _: ask(server), range(128)))
        took = time.monotonic() - began
        assert len(answers) == server.served["m"].calls == 128
        assert server.busiest > 64
    assert took < 10


def test_closing_ends_what_hangs() -> None:
    """A server closes at once though a request hangs, and may be closed twice."""
    server = ModelServer(lambda seen: Say(delay=60.0))
    failed: list[Exception] = []

    def client() -> None:
        try:
            ask(server)
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=client)
    thread.start()
    while not server.seen:
        time.sleep(0.01)
    began = time.monotonic()
    server.close()
    server.close()
    thread.join(10)
    assert time.monotonic() - began < 5
    assert failed


def test_a_taken_port_is_told() -> None:
    """A port that is in use is an error that names it."""
    with ModelServer([]) as server:
        port = urlsplit(server.url).port or 0
        with pytest.raises(HarnessError, match=f"Port {port} is not free"):
            ModelServer([], port=port)


def test_it_runs_as_a_program(tmp_path: Any) -> None:
    """`python -m` prints the URL, plays the named script, and tells its counts over HTTP."""
    (tmp_path / "my_script.py").write_text("def answer(seen):\n    return seen.last.upper()\n")
    command = [sys.executable, "-m", "harness_core.testing.model_server"]
    with subprocess.Popen(
        [*command, "--script", "my_script:answer"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        said = post(url, "chat/completions", _chat("hi", {}))
        with urllib.request.urlopen(url.removesuffix("/v1") + "/counts", timeout=20) as answer:
            counts = json.load(answer)
        process.terminate()
    assert said["choices"][0]["message"]["content"] == "HI"
    assert counts["served"] == {"m": {"calls": 1, "input_tokens": 1, "output_tokens": 1}}


def test_it_needs_no_test_framework() -> None:
    """Importing the server loads neither pytest nor Hypothesis nor an HTTP library."""
    code = (
        "import sys, harness_core.testing.model_server;"
        "sys.exit(sorted({'pytest', 'hypothesis', 'aiohttp'} & set(sys.modules)) != [])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("script", ["nosuch:x", "json", "json:nosuch"])
def test_a_script_that_cannot_be_served_is_told(script: str) -> None:
    """On the command line a wrong script ends with code 2 and one line, no traceback."""
    command = [sys.executable, "-m", "harness_core.testing.model_server", "--script", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert script in done.stderr
