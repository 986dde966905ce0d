"""One try of one call: by litellm, or directly to an endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from time import time
from types import ModuleType
from typing import Any, Literal

from harness_core.models.loop import http
from harness_core.models.settings import OPENAI_LIKE, Endpoint
from harness_core.registry import import_extra
from harness_core.values import JsonDict

EXTRA = "harness-core[llm]"

Kind = Literal["chat", "embed"]
Why = Literal["down", "limited", "garbled", "refused", "context", "filtered"]

CONTEXT = re.compile(r"context.{0,20}(length|window|size)|prompt is too long", re.IGNORECASE)
FILTERED = re.compile(r"content.?(filter|management policy|policy violation)", re.IGNORECASE)
NO_KEY = re.compile(r"missing credentials|api_key client option must be set", re.IGNORECASE)


class Failed(Exception):
    """A try that gave no reply.

    Args:
        why: the first three may pass; the others are the same in every try.
        message: the endpoint's; may hold secrets.
        wait: seconds that the endpoint asks to wait.
    """

    def __init__(self, why: Why, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.why, self.wait = why, wait
        self.tries = 0

    @property
    def passing(self) -> bool:
        """Whether another try may go better."""
        return self.why in ("down", "limited", "garbled")


async def send(
    kind: Kind, model: str, endpoint: Endpoint, body: JsonDict, timeout: float
) -> tuple[JsonDict, float]:
    """The reply's body, and its cost in US dollars.

    Raises:
        Failed: there is none.
    """
    try:
        async with asyncio.timeout(timeout):
            if endpoint.direct:
                return await _direct(kind, model, endpoint, body), 0.0
            return await _by_litellm(kind, model, endpoint, body, timeout)
    except TimeoutError:
        raise Failed("down", f"no whole answer within {timeout:g} s") from None


async def _direct(kind: Kind, model: str, endpoint: Endpoint, body: JsonDict) -> JsonDict:
    from aiohttp import ClientError

    path = "/chat/completions" if kind == "chat" else "/embeddings"
    whole = {"model": _own_name(model)[1], **body, **_extras(kind, body)}
    headers = {"Authorization": f"Bearer {_key(endpoint)}"} if endpoint.key else {}
    try:
        async with http().post(endpoint.url + path, json=whole, headers=headers) as answer:
            text = (await answer.read()).decode("utf-8", "replace")
            if answer.status != 200:
                raise _failed(answer.status, text, answer.headers)
    except (ClientError, OSError) as error:
        raise Failed("down", f"{type(error).__name__}: {error}") from None
    return _object(text)


def _object(text: str) -> JsonDict:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Failed("garbled", f"a body that is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise Failed("garbled", "a body that is no JSON object")
    return data


async def _by_litellm(
    kind: Kind, model: str, endpoint: Endpoint, body: JsonDict, timeout: float
) -> tuple[JsonDict, float]:
    litellm: Any = quiet_litellm()
    options: JsonDict = {"model": model, "timeout": timeout, "max_retries": 0, "no-log": True}
    if endpoint.key:
        options["api_key"] = _key(endpoint)
    if endpoint.url:
        provider, name = _own_name(model)
        options |= {"model": f"{provider}/{name}", "api_base": endpoint.url}
        options.setdefault("api_key", "none")  # else the provider's own key would go there
        extras = _extras(kind, body)
        if extras:
            options["extra_body"] = extras
    ask = litellm.acompletion if kind == "chat" else litellm.aembedding
    try:
        reply = await ask(**options, **body)
        data: JsonDict = reply.model_dump(warnings=False)
    except Exception as error:
        raise _of_litellm(error) from None
    cost = getattr(reply, "_hidden_params", {}).get("response_cost")
    return data, float(cost or 0.0)


def _own_name(model: str) -> tuple[str, str]:
    """Protocol and name of a model on an endpoint of one's own."""
    prefix, _, name = model.partition("/")
    return (prefix, name) if prefix in OPENAI_LIKE and name else ("openai", model)


def _extras(kind: Kind, body: JsonDict) -> JsonDict:
    """What only servers of one's own understand."""
    return {"return_token_ids": True} if kind == "chat" and body.get("logprobs") else {}


def _key(endpoint: Endpoint) -> str:
    key = os.environ.get(endpoint.key, "")
    if not key:
        raise Failed("refused", f"the environment variable {endpoint.key} is not set")
    return key


@cache
def quiet_litellm() -> ModuleType:
    """litellm, which then fetches, prints and logs nothing by itself.

    Raises:
        MissingExtraError: it is not installed.
    """
    import logging
    import warnings

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks the network
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads an .env file
    litellm: Any = import_extra("litellm", EXTRA)
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")  # of odd replies
    module: ModuleType = litellm
    return module


def loaded() -> bool:
    """Whether `quiet_litellm` was called before, and is quick now."""
    return bool(quiet_litellm.cache_info().currsize)


def _of_litellm(error: Exception) -> Failed:
    litellm: Any = quiet_litellm()
    status = getattr(error, "status_code", None)
    response = getattr(error, "response", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None)
    message = str(error)
    if isinstance(error, litellm.ContextWindowExceededError):
        return Failed("context", message)
    if isinstance(error, litellm.ContentPolicyViolationError):
        return Failed("filtered", message)
    if NO_KEY.search(message):
        return Failed("refused", message)
    return _failed(status if isinstance(status, int) else 500, message, headers or {})


def _failed(status: int, message: str, headers: Mapping[str, str]) -> Failed:
    wait = _wait(headers)
    if status == 429:
        return Failed("limited", message, wait)
    if 400 <= status < 500 and status not in (408, 409, 425):
        if FILTERED.search(message):
            return Failed("filtered", message)
        return Failed("context" if CONTEXT.search(message) else "refused", message)
    return Failed("down", f"HTTP {status}: {message}", wait)


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` asks for: a number, or the date of an hour."""
    given = headers.get("retry-after") or headers.get("Retry-After")
    if not given:
        return None
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(given).timestamp() - time())
    except ValueError:
        return None
