from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from harness_core.models import Endpoint, ModelSession, ModelSettings, SpendLimit
from harness_core.store import RunStore
from harness_core.testing.model_server import ModelServer

KEY = "sk-planted-0123456789abcdef"

Connect = Callable[..., ModelSession]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)


@pytest.fixture(params=[False, True], ids=["litellm", "direct"])
def direct(request: pytest.FixtureRequest) -> bool:
    """Both ways to an endpoint."""
    return bool(request.param)


@pytest.fixture
def connect(direct: bool) -> Iterator[Connect]:
    """Makes sessions on servers; they are closed at the end."""
    with ExitStack() as stack:

        def connected(
            *servers: ModelServer | str,
            store: RunStore | None = None,
            limit: SpendLimit | None = None,
            **settings: Any,
        ) -> ModelSession:
            urls = [each if isinstance(each, str) else each.url for each in servers]
            endpoints = tuple(Endpoint(url, "TEST_MODEL_KEY", direct=direct) for url in urls)
            quick = {"timeout": 10.0, "first_wait": 0.02, "longest_wait": 0.2}
            chosen = ModelSettings(
                **{"model": "openai/m", "endpoints": endpoints, **quick, **settings}
            )
            return stack.enter_context(ModelSession(store, settings=chosen, limit=limit))

        yield connected
