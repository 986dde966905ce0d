"""Which model plays which role, and where it is served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self, get_args

from attrs import field, frozen

from harness_core.errors import HarnessError
from harness_core.models.values import Role

OPENAI_LIKE = ("openai", "hosted_vllm")
"""Prefixes of model names that an endpoint of one's own understands; others belong to a name."""

EMBEDDINGS = {
    "openai": "openai/text-embedding-3-small",
    "gemini": "gemini/gemini-embedding-001",
    "vertex_ai": "vertex_ai/gemini-embedding-001",
    "mistral": "mistral/mistral-embed",
    "cohere": "cohere/embed-v4.0",
    "cohere_chat": "cohere/embed-v4.0",
    "bedrock": "bedrock/amazon.titan-embed-text-v2:0",
    "azure_ai": "azure_ai/embed-v-4-0",
    "databricks": "databricks/databricks-gte-large-en",
    "fireworks_ai": "fireworks_ai/accounts/fireworks/models/qwen3-embedding-8b",
}
"""The embedding model of a provider, for those who name none."""


@frozen
class Endpoint:
    """One place where models are served. It holds names of variables, never a key.

    Args:
        url: base URL of an OpenAI-compatible server; empty for the provider that the model's
            name says.
        key: environment variable of its key; empty for the provider's usual one.
        model: the only model that it serves; empty if it serves all.
        concurrency: calls at a time.
        direct: it is spoken to without litellm, which costs a tenth of the time. For a server of
            one's own; without prices.
    """

    url: str = ""
    key: str = ""
    model: str = ""
    concurrency: int = 128
    direct: bool = False

    def __attrs_post_init__(self) -> None:
        if self.concurrency < 1:
            raise HarnessError(f"An endpoint takes at least 1 call at a time: {self}.")
        if self.direct and not self.url:
            raise HarnessError(f"A direct endpoint needs a URL: {self}.")

    @classmethod
    def of(cls, text: str) -> Self:
        """Reads `"http://host:8000/v1 key=VARIABLE model=NAME concurrency=64 direct"`.

        Raises:
            HarnessError: it says something else.
        """
        given: dict[str, str] = {}
        for word in text.split():
            name, equals, value = word.partition("=")
            if "://" in word:
                name, value = "url", word.rstrip("/")
            elif word == "direct":
                value = word
            elif name not in ("key", "model", "concurrency") or not (equals and value):
                raise HarnessError(
                    f"HARNESS_ENDPOINTS: cannot read {word!r}. An endpoint is a base URL and any "
                    "of key=VARIABLE, model=NAME, concurrency=N and direct, with spaces between; "
                    "endpoints are separated by commas."
                )
            given[name] = value
        number = given.get("concurrency", "128")
        if not number.isdecimal():
            raise HarnessError(f"HARNESS_ENDPOINTS: concurrency={number!r} is no whole number.")
        return cls(
            url=given.get("url", ""),
            key=given.get("key", ""),
            model=given.get("model", ""),
            concurrency=int(number),
            direct="direct" in given,
        )


@frozen
class ModelSettings:
    """Models by role, endpoints, and patience.

    Args:
        model: of every role that names none, in litellm's form, such as `"openai/gpt-4o-mini"`.
        roles: models of single roles.
        embedding: the embedding model.
        endpoints: several for one model share its calls. A model that none of them serves is
            called at its provider.
        concurrency: calls at a time to a provider that has no endpoint here.
        timeout: seconds until an answer must be whole.
        attempts: tries of one call.
        patience: seconds after which a call is not tried again.
        first_wait: seconds before the second try; doubled with each further one.
        longest_wait: seconds between two tries at most, where the endpoint asks for no more.
        grace: seconds that `ModelSession.close` waits for answers that are under way.
    """

    model: str = ""
    roles: Mapping[str, str] = field(factory=dict, hash=False)
    embedding: str = ""
    endpoints: tuple[Endpoint, ...] = ()
    concurrency: int = 128
    timeout: float = 120.0
    attempts: int = 8
    patience: float = 600.0
    first_wait: float = 0.5
    longest_wait: float = 30.0
    grace: float = 30.0

    def __attrs_post_init__(self) -> None:
        unknown = self.roles.keys() - set(get_args(Role))
        if unknown:
            known = ", ".join(get_args(Role))
            raise HarnessError(f"There is no role {min(unknown)!r}. Roles: {known}.")
        if self.concurrency < 1 or self.attempts < 1 or self.timeout <= 0:
            raise HarnessError(
                f"Model calls need concurrency and attempts from 1, and a timeout above 0: {self}."
            )

    @classmethod
    def from_env(
        cls, environ: Mapping[str, str], overrides: Mapping[str, str] | None = None
    ) -> Self:
        """Reads MODEL, MODEL_<ROLE>, MODEL_EMBEDDING, HARNESS_ENDPOINTS, and the limits
        HARNESS_MODEL_TIMEOUT, _ATTEMPTS, _PATIENCE and _CONCURRENCY.

        Args:
            environ: usually `os.environ`.
            overrides: `"model"`, a role or `"embedding"`: the model.

        Raises:
            HarnessError: one of them cannot be read.
        """
        chosen = dict(overrides or {})
        roles = {
            role: environ[f"MODEL_{role.upper()}"]
            for role in get_args(Role)
            if environ.get(f"MODEL_{role.upper()}")
        }
        model = chosen.pop("model", environ.get("MODEL", ""))
        embedding = chosen.pop("embedding", environ.get("MODEL_EMBEDDING", ""))
        if model and overrides and "model" in overrides:
            roles = {}  # what is said now goes before what the environment says of a role
        listed = environ.get("HARNESS_ENDPOINTS", "").replace("\n", ",").split(",")
        endpoints = tuple(Endpoint.of(each) for each in listed if each.strip())
        return cls(
            model=model,
            roles=roles | chosen,
            embedding=embedding,
            endpoints=endpoints,
            concurrency=int(_number(environ, "HARNESS_MODEL_CONCURRENCY", 128)),
            timeout=_number(environ, "HARNESS_MODEL_TIMEOUT", 120.0),
            attempts=int(_number(environ, "HARNESS_MODEL_ATTEMPTS", 8)),
            patience=_number(environ, "HARNESS_MODEL_PATIENCE", 600.0),
        )

    def of(self, role: str) -> str:
        """The model of a role.

        Raises:
            HarnessError: none is named.
        """
        model = self.roles.get(role) or self.model
        if not model:
            raise HarnessError(
                f"No model is named for the role {role!r}. Set MODEL, or MODEL_{role.upper()} for "
                "this role alone, such as MODEL=openai/gpt-4o-mini."
            )
        return model

    def embedding_of(self, model: str) -> str:
        """The embedding model: the one that is named, else one from where `model` is served.

        Raises:
            HarnessError: there is none.
        """
        if self.embedding:
            return self.embedding
        if any(each.url for each in self.serving(model)):
            return model
        provider, slash, _ = model.partition("/")
        if slash and provider in EMBEDDINGS:
            return EMBEDDINGS[provider]
        raise HarnessError(
            f"No embedding model is known for {model!r}. Set MODEL_EMBEDDING, such as "
            "MODEL_EMBEDDING=openai/text-embedding-3-small."
        )

    def serving(self, model: str) -> tuple[Endpoint, ...]:
        """The endpoints that serve `model`: those that name it, else those that serve all."""
        named = tuple(each for each in self.endpoints if each.model == model)
        return named or tuple(each for each in self.endpoints if not each.model)


def _number(environ: Mapping[str, str], name: str, default: float) -> float:
    text = environ.get(name) or str(default)
    try:
        return float(text)
    except ValueError:
        raise HarnessError(f"{name}={text!r} is no number.") from None
