"""Texts as vectors: by an offline embedder, or by a model endpoint."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from harness_core.errors import ModelError
from harness_core.registry import import_extra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness_core.models import ModelSession

    Vectors = NDArray[np.float32]

EXTRA = "harness-skills[retrieval]"
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case: letters and digits in a row."""
    return _WORD.findall(text.casefold())


class Embedder(Protocol):
    """Turns texts into vectors."""

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """One row for each text, of length 1; of length 0 for a text without words."""


class StaticEmbedder:
    """Hashed words and parts of words, weighted by how rare a word is. Needs no model.

    The same texts give the same vectors on every machine, but for rounding.

    Args:
        corpus: texts that say how rare words are, such as those of a bank.
        size: of a vector.
    """

    PARTS = 3
    """Characters of the parts that words are compared by: *open* and *opened* share some."""

    def __init__(self, corpus: Iterable[str] = (), size: int = 512) -> None:
        self._np = import_extra("numpy", EXTRA)
        self._size = size
        self._known: dict[str, Vectors] = {}
        self._texts, self._holding = 0, Counter[str]()
        for text in corpus:
            self._texts += 1
            self._holding.update(set(words_of(text)))

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        np = self._np
        counted = [sorted(Counter(words_of(text)).items()) for text in texts]
        vocabulary = sorted({word for counts in counted for word, _ in counts})
        place = {word: number for number, word in enumerate(vocabulary)}
        words = np.array([self._word(word) * self._rarity(word) for word in vocabulary])
        found: Vectors = np.zeros((len(texts), self._size), dtype="float32")
        for row, counts in enumerate(counted):
            if counts:
                often = np.array([1 + math.log(count) for _, count in counts], dtype="float32")
                total = often @ words[[place[word] for word, _ in counts]]
                found[row] = total / max(float(np.linalg.norm(total)), 1e-9)
        return found

    def _rarity(self, word: str) -> float:
        return math.log((1 + self._texts) / (1 + self._holding[word])) + 1

    def _word(self, word: str) -> Vectors:
        """Half of it is the word itself, half its parts."""
        known = self._known.get(word)
        if known is None:
            known = self._np.zeros(self._size, dtype="float32")
            framed = f"<{word}>"
            parts = [framed[at : at + self.PARTS] for at in range(len(framed) - self.PARTS + 1)]
            self._put(known, framed, 1.0)
            for part in parts:
                self._put(known, part, 1 / math.sqrt(len(parts)))
            self._known[word] = known
        return known

    def _put(self, vector: Vectors, feature: str, weight: float) -> None:
        hashed = zlib.crc32(feature.encode("utf-8", "replace"))
        vector[(hashed >> 1) % self._size] += weight if hashed & 1 else -weight


class ModelEmbedder:
    """The embedding model of a session; its calls go on the account of the skill writer.

    Args:
        models: makes the calls.
        model: whose embedding model is meant; by default the writer's.
    """

    def __init__(self, models: ModelSession, model: str | None = None) -> None:
        self._np = import_extra("numpy", EXTRA)
        self._client = models.client("writer", model)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`.

        Raises:
            ModelError: the endpoint does not embed, or not all of the texts.
        """
        rows = self._client.embed(list(texts)) if texts else []
        if len(rows) != len(texts) or len({len(row) for row in rows}) > 1:
            raise ModelError(f"{len(texts)} texts were to be embedded; {len(rows)} were.")
        found = self._np.asarray(rows, dtype="float32").reshape(len(rows), -1)
        norms = self._np.linalg.norm(found, axis=1, keepdims=True)
        unit: Vectors = found / self._np.maximum(norms, 1e-9)
        return unit
