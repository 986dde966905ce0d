from __future__ import annotations

import pytest

from harness_core import HarnessError
from harness_core.models import Endpoint, ModelSettings


def test_models_by_role_come_from_the_environment() -> None:
    """MODEL holds for all roles but those that a variable of their own names."""
    settings = ModelSettings.from_env({"MODEL": "openai/a", "MODEL_DESIGNER": "openai/b"})
    assert settings.of("policy") == settings.of("judge") == "openai/a"
    assert settings.of("designer") == "openai/b"


def test_what_is_said_goes_before_the_environment() -> None:
    """A role's override holds for the role; one for all sets those of the environment aside."""
    environ = {"MODEL": "openai/a", "MODEL_DESIGNER": "openai/b", "MODEL_EMBEDDING": "openai/e"}
    one = ModelSettings.from_env(environ, {"policy": "openai/c", "embedding": "openai/f"})
    assert [one.of(role) for role in ("policy", "designer", "judge")] == [
        "openai/c",
        "openai/b",
        "openai/a",
    ]
    assert one.embedding == "openai/f"
    everything = ModelSettings.from_env(environ, {"model": "openai/d", "judge": "openai/g"})
    assert [everything.of(role) for role in ("designer", "judge")] == ["openai/d", "openai/g"]


def test_a_role_without_a_model_is_told_what_to_set() -> None:
    """The message names the variable of the role."""
    with pytest.raises(HarnessError, match="MODEL_WRITER"):
        ModelSettings.from_env({}).of("writer")


def test_an_unknown_role_is_refused() -> None:
    """An override for a role that does not exist names those that do."""
    with pytest.raises(HarnessError, match="no role 'desinger'"):
        ModelSettings.from_env({}, {"desinger": "openai/a"})


def test_endpoints_are_read_from_a_list() -> None:
    """Each entry gives URL, key variable, model, concurrency and directness, in any order."""
    text = """http://a:8000/v1/ direct,
        key=B_KEY http://b:8000/v1 concurrency=4
        key=C_KEY model=openai/gpt-4o-mini"""
    settings = ModelSettings.from_env({"HARNESS_ENDPOINTS": text})
    assert settings.endpoints == (
        Endpoint("http://a:8000/v1", direct=True),
        Endpoint("http://b:8000/v1", "B_KEY", concurrency=4),
        Endpoint("", "C_KEY", "openai/gpt-4o-mini"),
    )
    assert settings.serving("openai/gpt-4o-mini") == settings.endpoints[2:]
    assert settings.serving("openai/other") == settings.endpoints[:2]


@pytest.mark.parametrize(
    "text",
    [
        "localhost:8000",
        "http://a/v1 concurrency=many",
        "http://a/v1 concurrency=0",
        "http://a/v1 key=",
        "http://a/v1 secret=x",
        "direct key=A_KEY",
    ],
)
def test_endpoints_that_cannot_be_read_are_refused(text: str) -> None:
    """Whatever is wrong with an entry is an error, before a call is made."""
    with pytest.raises(HarnessError):
        ModelSettings.from_env({"HARNESS_ENDPOINTS": text})


@pytest.mark.parametrize(
    ("settings", "model", "embedding"),
    [
        (ModelSettings(embedding="openai/x"), "anthropic/claude", "openai/x"),
        (ModelSettings(), "openai/gpt-4o", "openai/text-embedding-3-small"),
        (ModelSettings(), "gemini/gemini-2.5-flash", "gemini/gemini-embedding-001"),
        (ModelSettings(), "mistral/mistral-small", "mistral/mistral-embed"),
        (ModelSettings(endpoints=(Endpoint("http://a/v1"),)), "openai/qwen", "openai/qwen"),
    ],
)
def test_embeddings_follow_the_model(settings: ModelSettings, model: str, embedding: str) -> None:
    """Unless one is named, the embedding model is one from where the model is served."""
    assert settings.embedding_of(model) == embedding


@pytest.mark.parametrize("model", ["anthropic/claude", "azure/mine", "gpt-4o"])
def test_an_embedding_model_that_nobody_can_guess_is_asked_for(model: str) -> None:
    """The message names MODEL_EMBEDDING."""
    with pytest.raises(HarnessError, match="MODEL_EMBEDDING"):
        ModelSettings().embedding_of(model)


def test_limits_come_from_the_environment() -> None:
    """Timeout, attempts, patience and concurrency are numbers; what is none is refused."""
    settings = ModelSettings.from_env(
        {
            "HARNESS_MODEL_TIMEOUT": "7.5",
            "HARNESS_MODEL_ATTEMPTS": "3",
            "HARNESS_MODEL_PATIENCE": "60",
            "HARNESS_MODEL_CONCURRENCY": "9",
        }
    )
    assert (settings.timeout, settings.attempts) == (7.5, 3)
    assert (settings.patience, settings.concurrency) == (60.0, 9)
    with pytest.raises(HarnessError, match="HARNESS_MODEL_TIMEOUT='soon'"):
        ModelSettings.from_env({"HARNESS_MODEL_TIMEOUT": "soon"})
