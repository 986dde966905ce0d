"""Skills that say the same in nearly the same words."""

from __future__ import annotations

from collections.abc import Sequence

from harness_skills.embedders import Embedder, StaticEmbedder, words_of
from harness_skills.item import Skill

NEARNESS = 0.85
"""Cosine of the embeddings from which on two skills may be the same."""

OVERLAP = 0.7
"""Share of their words that they have to have in common as well (Jaccard)."""

TURNING = frozenset(
    (
        *("not", "never", "no", "none", "nothing", "cannot", "dont", "doesnt", "without", "avoid"),
        *("unless", "except", "only", "always", "before", "after", "first", "last", "on", "off"),
        *("open", "opened", "close", "closed", "more", "less", "fewer", "most", "least"),
    )
)
"""Words that turn a meaning around: skills that differ in one are not the same."""


def duplicates(
    old: Sequence[Skill], new: Sequence[Skill], embedder: Embedder | None = None
) -> list[int | None]:
    """For each new skill the place, in `[*old, *new]`, of the nearest one before it that says the
    same; `None` where nothing does.

    Two are the same if category, embedding and words agree, and no number or turning word stands
    in one of them alone. Paraphrases are for a model to find: this finds repetition.

    Args:
        old: skills of a bank, that are no duplicates of each other.
        new: to be looked up, one after the other.
        embedder: by default a static one of all their texts.
    """
    skills = [*old, *new]
    if not new:
        return []
    texts = [skill.text for skill in skills]
    vectors = (embedder or StaticEmbedder(texts)).vectors(texts)
    words = [frozenset(words_of(text.replace("'", ""))) for text in texts]
    found: list[int | None] = []
    for place in range(len(old), len(skills)):
        nearness = vectors[:place] @ vectors[place]
        near = [
            (-float(nearness[other]), other)
            for other in range(place)
            if skills[other].id == skills[place].id
            or (
                nearness[other] >= NEARNESS
                and skills[other].category == skills[place].category
                and _same_words(words[other], words[place])
            )
        ]
        found.append(min(near)[1] if near else None)
    return found


def _same_words(one: frozenset[str], other: frozenset[str]) -> bool:
    apart = one ^ other
    if any(word in TURNING or word.isnumeric() for word in apart):
        return False
    return len(one & other) >= OVERLAP * len(one | other)
