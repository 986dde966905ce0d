"""Texts as vectors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from harness_core.errors import HarnessError
from harness_core.models import ModelSession
from harness_core.testing.model_server import ModelServer
from harness_skills.embedders import ModelEmbedder, StaticEmbedder, words_of
from harness_skills.retrieval import Retrieval, Retriever
from support.skills import skill

Serve = Callable[..., tuple[ModelServer, ModelSession]]

TEXTS = ["open the drawer", "opening a drawer", "clean the plate", ""]

DIGEST = """
import hashlib
from harness_skills.embedders import StaticEmbedder
texts = {texts!r}
print(hashlib.sha256(StaticEmbedder(texts).vectors(texts).round(4).tobytes()).hexdigest())
"""


def test_words_are_letters_and_digits_in_a_row() -> None:
    """Case and signs do not count, whatever the language."""
    assert words_of("Don't OPEN drawer_12, Straße!") == [
        *("don", "t", "open", "drawer", "12", "strasse"),
    ]


def test_static_vectors_have_length_one_and_say_what_is_near() -> None:
    """Forms of a word are near, other words are not, and no words are nowhere."""
    vectors = StaticEmbedder(TEXTS).vectors(TEXTS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0])
    nearness = vectors @ vectors.T
    assert nearness[0, 1] > nearness[0, 2] > nearness[1, 2]


def test_rare_words_weigh_more() -> None:
    """What all texts of the corpus say tells them apart least."""
    corpus = [f"put the {thing} there" for thing in ("mug", "pan", "cup", "fork")]
    vectors = StaticEmbedder(corpus).vectors(["put the mug there", "mug", "put there"])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_static_vectors_are_the_same_in_another_process() -> None:
    """Nothing depends on the hashes of one process."""
    command = [sys.executable, "-c", DIGEST.format(texts=TEXTS)]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)
    )
    assert first == second != ""


def test_an_endpoint_embeds(serve: Serve) -> None:
    """Vectors come from the embedding model, on the writer's account, and find skills."""
    server, session = serve([])
    skills = [skill("open drawers"), skill("clean plates")]
    retriever = Retriever(skills, Retrieval("embedding", "model", each=1), ModelEmbedder(session))
    assert retriever.find("clean the plates").skills == (skills[1],)
    assert [row.role for row in session.spend()] == ["writer"]
    assert server.seen == []


def test_an_endpoint_needs_a_session() -> None:
    """The message says what to give."""
    with pytest.raises(HarnessError, match="embedder="):
        Retriever([skill("a")], Retrieval(embedder="model"))
