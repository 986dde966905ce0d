"""How many model calls a second one process makes for many episodes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

import pytest

from harness_core.models import Endpoint, Message, ModelSession, ModelSettings, Request
from harness_core.store import RunStore

CALLERS = 128


@contextmanager
def served(script: str) -> Iterator[str]:
    """A scripted server in a process of its own, as a real one would be."""
    process = subprocess.Popen(
        [sys.executable, "-m", "harness_core.testing.model_server", "--script", script],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("latency", [0.05, 0.5], ids=["50 ms", "500 ms"])
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "litellm"])
def test_many_callers(tmp_path: Path, direct: bool, latency: float) -> None:
    """Every call is answered once; printed are calls a second, and the share of the ideal."""
    each = 10 if direct and latency < 0.5 else 3
    os.environ["OPENAI_API_KEY"] = "none"
    with served(f"support.slow_model:after_{latency * 1000:.0f}_ms") as url:
        settings = ModelSettings("openai/slow", endpoints=(Endpoint(url, direct=direct),))
        with (
            RunStore(tmp_path / "run.db") as store,
            ModelSession(store, settings=settings) as session,
            ThreadPoolExecutor(CALLERS) as threads,
        ):
            client = session.client("policy")

            def turn(number: int) -> None:
                for step in range(each):
                    client.chat(Request((Message("user", f"step {step}"),)), sample=number)

            turn(-1)  # imports and connects
            began, cpu = perf_counter(), process_time()
            list(threads.map(turn, range(CALLERS)))
            seconds, cpu = perf_counter() - began, process_time() - cpu
            (spent,) = session.spend()
    made = CALLERS * each
    assert spent.calls == made + each
    rate, ideal = made / seconds, CALLERS / latency
    reached = f"{rate:.0f} calls/s of {ideal:.0f} ({rate / ideal:.0%})"
    print(f"\n{'direct' if direct else 'litellm'}, {latency * 1000:.0f} ms: {reached}, ", end="")
    print(f"{cpu / made * 1e3:.2f} ms of CPU a call")
