"""`Skill`: one thing that was learned, in words, and from where."""

from __future__ import annotations

from typing import Any, Literal

from attrs import evolve, field, frozen

from harness_core.errors import SpecError, as_unicode
from harness_core.serial import digest_of

CAPS = {"title": 120, "description": 300, "content": 2000, "category": 60}
"""Characters that each field may have."""

Outcome = Literal["success", "failure", "both", ""]


@frozen
class Provenance:
    """The episodes that taught a skill.

    Args:
        tasks: their ids. Whoever plays one of these tasks is not given the skill.
        envs: digests of the stacks that were played.
        episodes: keys of the units.
        round: the first one that it was learned in.
        outcome: how the episodes ended; empty if nobody says.
    """

    tasks: tuple[str, ...] = ()
    envs: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    round: int = 0
    outcome: Outcome = ""

    def joined(self, other: Provenance) -> Provenance:
        """Of a skill that both taught."""
        outcomes = {each for each in (self.outcome, other.outcome) if each}
        return Provenance(
            _union(self.tasks, other.tasks),
            _union(self.envs, other.envs),
            _union(self.episodes, other.episodes),
            min(self.round, other.round),
            outcomes.pop() if len(outcomes) == 1 else "both" if outcomes else "",
        )


@frozen
class Skill:
    """One item of a bank.

    Args:
        title: a few words.
        description: when it helps, in a sentence.
        content: what to do.
        category: retrieval takes the best of each category.
        provenance: where it comes from.

    Raises:
        SpecError: title or content is empty, or a field is longer than `CAPS` says.
    """

    title: str
    description: str
    content: str
    category: str = "strategy"
    provenance: Provenance = field(factory=Provenance)

    def __attrs_post_init__(self) -> None:
        for name, cap in CAPS.items():
            text = getattr(self, name)
            if len(text) > cap:
                raise SpecError(
                    f"The {name} of skill {self.title!r:.40} has {len(text)} characters; "
                    f"{cap} is the most. Skill.fitted() shortens."
                )
            if name != "description" and not text.strip():
                raise SpecError(f"A skill needs a {name}; this one is {self.title!r:.40}.")

    @classmethod
    def fitted(cls, provenance: Provenance, **texts: str) -> Skill:
        """A skill whose texts are cut, after a whole word, to what a field may have."""
        fields: dict[str, Any] = {name: _fitted(text, CAPS[name]) for name, text in texts.items()}
        return cls(**fields, provenance=provenance)

    @property
    def id(self) -> str:
        """Digest of the four texts, 16 hexadecimal digits."""
        return digest_of([self.title, self.description, self.content, self.category])[:16]

    @property
    def text(self) -> str:
        """What retrieval reads."""
        return f"{self.title}\n{self.description}\n{self.content}"

    def taught_by(self, other: Provenance) -> Skill:
        """The same skill, taught by other episodes as well."""
        return evolve(self, provenance=self.provenance.joined(other))

    def to_markdown(self) -> str:
        """A section that begins with a heading of level 3."""
        parts = [f"### {' '.join(self.title.split())}", self.description, self.content]
        learned = self.provenance
        if learned.tasks:
            parts.append(
                f"*{self.id}, round {learned.round}, {learned.outcome or 'unknown'}: "
                f"{', '.join(learned.tasks)}*"
            )
        return "\n\n".join(part for part in parts if part) + "\n"


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + second))


def _fitted(text: str, cap: int) -> str:
    text = as_unicode(text).strip()
    if len(text) <= cap:
        return text
    head = text[: cap - 3]
    words = head.rsplit(maxsplit=1)
    return (words[0] if len(words) == 2 and not text[cap - 3].isspace() else head).rstrip() + "..."
