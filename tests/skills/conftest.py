from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from harness_core.models import Endpoint, ModelSession, ModelSettings
from harness_core.testing.model_server import ModelServer, Script

Serve = Callable[..., tuple[ModelServer, ModelSession]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Starts a server that plays a script, and a session that reaches it through litellm."""
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-test-0123456789")
    with ExitStack() as stack:

        def served(script: Script, **settings: Any) -> tuple[ModelServer, ModelSession]:
            server = stack.enter_context(ModelServer(script))
            quick = {"timeout": 20.0, "first_wait": 0.02, "longest_wait": 0.1, "attempts": 2}
            chosen = ModelSettings(
                model="openai/m",
                endpoints=(Endpoint(server.url, "TEST_MODEL_KEY"),),
                **{**quick, **settings},
            )
            return server, stack.enter_context(ModelSession(settings=chosen))

        yield served
