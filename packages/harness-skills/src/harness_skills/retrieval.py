"""Which skills of a bank help with a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from attrs import field, frozen

from harness_core.errors import SpecError
from harness_core.models.transcript import tokens_of
from harness_core.registry import import_extra
from harness_skills.embedders import EXTRA, Embedder, StaticEmbedder, words_of
from harness_skills.item import Skill

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

By = Literal["lexical", "embedding", "hybrid"]

FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""


@frozen
class Retrieval:
    """How skills are chosen.

    Args:
        by: `"lexical"` (BM25 over whole words), `"embedding"`, or `"hybrid"`: both, joined by
            reciprocal rank.
        embedder: `"static"`, which needs no model, or `"model"`: the embedding model.
        each: skills of each category at most.
        tokens: that their text may have, as `harness_core.models.transcript.tokens_of` counts.
        categories: those that skills are taken from; empty for all. Each has to be in the bank.
    """

    by: By = "hybrid"
    embedder: Literal["static", "model"] = "static"
    each: int = 3
    tokens: int = 1500
    categories: tuple[str, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.each < 1 or self.tokens < 1:
            raise SpecError(f"Retrieval takes at least 1 skill and 1 token: {self}.")


@frozen
class Found:
    """What is given to a policy.

    Args:
        skills: by category, the best first.
        text: what the policy reads; empty if there is nothing to say.
        left_out: ids of skills that were chosen, but for which there was no room.
    """

    skills: tuple[Skill, ...] = ()
    text: str = ""
    left_out: tuple[str, ...] = field(default=(), kw_only=True)


class Retriever:
    """An index of skills. Safe for threads once it is made.

    Args:
        skills: all that may be given.
        settings: how they are chosen.
        embedder: needed for `embedder="model"`; else made of the skills' own texts.

    Raises:
        SpecError: a category that the settings name has no skill.
        MissingExtraError: numpy or bm25s is not installed.
    """

    def __init__(
        self,
        skills: Sequence[Skill],
        settings: Retrieval | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._np = import_extra("numpy", EXTRA)
        self.skills, self.settings = tuple(skills), settings or Retrieval()
        self._categories = _categories(self.skills, self.settings)
        self._owners: dict[str, list[int]] = {}
        for place, skill in enumerate(self.skills):
            for task in skill.provenance.tasks:
                self._owners.setdefault(task, []).append(place)
        texts = [skill.text for skill in self.skills]
        self._lexical = _Lexical(texts) if texts and self.settings.by != "embedding" else None
        self._nearness = None
        if texts and self.settings.by != "lexical":
            self._nearness = _Nearness(texts, embedder or self._own_embedder(texts))

    def _own_embedder(self, texts: list[str]) -> Embedder:
        if self.settings.embedder == "model":
            raise SpecError("Retrieval by a model's embeddings needs Retriever(embedder=...).")
        return StaticEmbedder(texts)

    def find(self, query: str, tasks: str | Sequence[str] = ()) -> Found:
        """The skills that go with `query`.

        Args:
            query: the task's goal.
            tasks: its id, and of those that are chained to it; skills that were learned from one
                of them are left out.
        """
        if not self.skills:
            return Found()
        ids = [tasks] if isinstance(tasks, str) else tasks
        own = [place for id in ids for place in self._owners.get(id, [])]
        scores = self._scores(query, own)
        chosen = []
        for places in self._categories.values():
            inside = scores[places]
            best = self._np.lexsort((-places, -inside))[: self.settings.each]  # ties: the newest
            chosen += [self.skills[places[at]] for at in best if inside[at] > 0]
        return _fitted(chosen, self.settings.tokens)

    def _scores(self, query: str, own: list[int]) -> Scores:
        """A number for each skill; 0 where nothing speaks for it, or it is not to be given."""
        indexes = [index for index in (self._lexical, self._nearness) if index is not None]
        lists = [index.scores(query) for index in indexes]
        for scores in lists:
            scores[own] = 0
        if len(lists) == 1:
            return lists[0]
        return sum((self._reciprocal(each) for each in lists), self._np.zeros(len(self.skills)))

    def _reciprocal(self, scores: Scores) -> Scores:
        """1 / (60 + rank) for what has a score; equal scores have the same rank."""
        values, places = self._np.unique(-scores, return_inverse=True)
        counts = self._np.bincount(places, minlength=len(values))
        ranks = self._np.concatenate(([1], 1 + self._np.cumsum(counts)[:-1]))[places]
        found: Scores = self._np.where(scores > 0, 1 / (FUSION + ranks), 0.0)
        return found


class _Lexical:
    """BM25 over whole words, but for those that every text has, such as *the*."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._np = import_extra("numpy", EXTRA)
        self._index = import_extra("bm25s", EXTRA).BM25()
        ignored = frozenset(import_extra("bm25s.stopwords", EXTRA).STOPWORDS_EN)
        tokens = [words_of(text) for text in texts]
        self._known = {word for each in tokens for word in each} - ignored
        self._count = len(texts)
        if any(tokens):
            self._index.index(tokens, show_progress=False)

    def scores(self, query: str) -> Scores:
        asked = [word for word in dict.fromkeys(words_of(query)) if word in self._known]
        if not asked:
            nothing: Scores = self._np.zeros(self._count)
            return nothing
        scores: Scores = self._index.get_scores(asked).astype("float64")
        return scores.round(5)


class _Nearness:
    """Nearness of embeddings."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        self._np = import_extra("numpy", EXTRA)
        self._embedder = embedder
        self._vectors = embedder.vectors(texts)
        if len(self._vectors) != len(texts):
            raise SpecError(f"{len(texts)} skills are in the bank; {len(self._vectors)} loaded.")

    def scores(self, query: str) -> Scores:
        (asked,) = self._embedder.vectors([query])
        nearness: Scores = (self._vectors @ asked).astype("float64")
        return nearness.clip(0).round(5)  # the last bits are the machine's


def _categories(skills: Sequence[Skill], settings: Retrieval) -> dict[str, NDArray[np.intp]]:
    np = import_extra("numpy", EXTRA)
    places: dict[str, list[int]] = {}
    for place, skill in enumerate(skills):
        places.setdefault(skill.category, []).append(place)
    missing = [each for each in settings.categories if each not in places]
    if missing:
        raise SpecError(
            f"The bank has no skill of the category {missing[0]!r}. It has: {sorted(places)}."
        )
    wanted = settings.categories or sorted(places)
    return {category: np.asarray(places[category]) for category in wanted}


def _fitted(chosen: Sequence[Skill], tokens: int) -> Found:
    """What there is room for: the best of each category before the second best of any."""
    by_category: dict[str, list[Skill]] = {}
    for skill in chosen:
        by_category.setdefault(skill.category, []).append(skill)
    ranked = sorted(
        (rank, order, skill)
        for order, skills in enumerate(by_category.values())
        for rank, skill in enumerate(skills)
    )
    kept: list[Skill] = []
    for _, _, skill in ranked:
        if tokens_of(told([*kept, skill])) <= tokens:
            kept.append(skill)
    inside = tuple(skill for skill in chosen if skill in kept)
    outside = tuple(skill.id for skill in chosen if skill not in kept)
    return Found(inside, told(inside), left_out=outside)


def told(skills: Sequence[Skill]) -> str:
    """Skills as a policy reads them."""
    lines = []
    category = None
    for skill in skills:
        if skill.category != category:
            category = skill.category
            lines.append(f"{category.capitalize()}:")
        described = f" ({skill.description})" if skill.description else ""
        lines.append(f"- {skill.title}{described}: {skill.content}")
    return "\n".join(lines)
