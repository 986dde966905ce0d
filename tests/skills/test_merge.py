"""Near-duplicates."""

from __future__ import annotations

import pytest

from harness_skills.item import Skill
from harness_skills.merge import duplicates
from support.skills import skill

LONG = (
    "Look into each container that is closed: open it, read what is inside, and go on to the next "
    "one until the object is found."
)


def test_repetition_is_found_among_old_and_new() -> None:
    """The same in nearly the same words leads to the first that says it; anything else does not."""
    old = [skill("open containers", LONG), skill("count objects", "Bring both objects.")]
    again = skill("open containers", LONG.replace("is found", "turns up"))
    other = skill("wash plates", "Take the plate to the sinkbasin.")
    assert duplicates(old, [again, other, other, again]) == [0, None, 3, 2]
    assert duplicates(old, []) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("open it", "do not open it"),
        ("is closed", "is open"),
        ("until the object", "until object 2"),
        ("on to the next", "on before the next"),
    ],
)
def test_a_turned_meaning_is_no_repetition(before: str, after: str) -> None:
    """One 'not', one opposite or one number keeps two skills apart."""
    turned = skill("open containers", LONG.replace(before, after))
    assert duplicates([skill("open containers", LONG)], [turned]) == [None]


def test_categories_are_kept_apart() -> None:
    """The same words in another category are another skill."""
    old = [skill("open containers", LONG)]
    assert duplicates(old, [skill("open containers", LONG, "pitfall")]) == [None]


def test_texts_without_words_are_compared_as_they_are() -> None:
    """Signs alone are the same only if they are equal."""
    old, other = Skill("!", "", "?"), Skill("!!", "", "?")
    assert duplicates([old], [old, other]) == [0, None]
