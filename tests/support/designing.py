"""A scripted designer behind the real model server, and what it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness_core.models import Endpoint, ModelSession, ModelSettings
from harness_core.store import RunStore
from harness_core.testing.model_server import ModelServer, Script


@contextmanager
def designer(
    script: Script, store: RunStore | None = None, **settings: Any
) -> Iterator[tuple[ModelServer, ModelSession]]:
    """A server that plays `script`, and a session that asks it."""
    with ModelServer(script) as server:
        chosen = ModelSettings(
            roles={"designer": "openai/scripted"}, endpoints=(Endpoint(server.url),), **settings
        )
        with ModelSession(store, settings=chosen) as session:
            yield server, session


def diagnosis(direction: str = "harder", weakness: str = "it never looks down", **more: Any) -> str:
    """A diagnosis as a model writes it."""
    evidence = ["rollout 1, step 2: it goes on without a look"]
    return json.dumps(
        {"weakness": weakness, "evidence": evidence, "direction": direction, "reason": "", **more}
    )


def candidate(*components: dict[str, Any], rationale: str = "as told") -> str:
    """A candidate as a model writes it."""
    return json.dumps({"rationale": rationale, "components": list(components)})


def stage(*actions: str) -> dict[str, Any]:
    return {"kind": "stage", "actions": list(actions)}


def contract(source: str) -> dict[str, Any]:
    return {"kind": "contract", "source": source}


def ends_after(steps: int) -> dict[str, Any]:
    """A contract that ends the episode after some steps."""
    return contract(
        f"""
class Curfew(Contract):
    def modify_transition(self, action, response, env_state):
        taken = env_state.extras["taken"] = env_state.extras.get("taken", 0) + 1
        if taken < {steps} or response.terminated:
            return response
        return response.replace(truncated=True)
"""
    )
