"""Skills: their identity, their size and their forms."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from harness_core.errors import SpecError
from harness_core.serial import from_data, to_data
from harness_skills.item import CAPS, Provenance, Skill
from support.skills import skill

LEARNED = Provenance(("t1",), ("e1",), ("k1",), 2, "success")


def test_the_id_is_that_of_the_texts() -> None:
    """Provenance does not count; every text does."""
    one = skill("open doors")
    assert one.id == evolve(one, provenance=LEARNED).id
    changed = [evolve(one, **{name: "other"}) for name in CAPS]
    assert len({one.id, *(each.id for each in changed)}) == 5


def test_a_skill_comes_back_from_json() -> None:
    """What was written is read as it was."""
    one = evolve(skill("open doors"), provenance=LEARNED)
    assert from_data(to_data(one), Skill) == one


@pytest.mark.parametrize("name", CAPS)
def test_a_field_has_a_largest_size(name: str) -> None:
    """One character more than the cap is refused, and the message says what to do."""
    evolve(skill("open doors"), **{name: "x" * CAPS[name]})
    with pytest.raises(SpecError, match="fitted"):
        evolve(skill("open doors"), **{name: "x" * (CAPS[name] + 1)})


def test_a_skill_needs_a_title_and_content() -> None:
    """White space is none."""
    for name in ("title", "content", "category"):
        with pytest.raises(SpecError, match=f"needs a {name}"):
            evolve(skill("open doors"), **{name: "  "})


@given(st.text(min_size=1, max_size=5000).filter(str.strip))
def test_fitted_texts_fit(text: str) -> None:
    """Any text becomes a skill that can be written down, and short ones stay as they are."""
    one = Skill.fitted(Provenance(), title=text, description=text, content=text, category="a")
    assert one.id
    if len(text) < 100 and text.isascii():
        assert one.title == text.strip()


def test_long_texts_are_cut_after_a_word() -> None:
    """No word is cut in two."""
    one = Skill.fitted(Provenance(), title="word " * 40, description="", content="c", category="a")
    assert one.title.endswith("word...")


def test_two_teachers_are_joined() -> None:
    """Tasks, envs and episodes are united; the first round and both outcomes are kept."""
    other = Provenance(("t2", "t1"), ("e1",), ("k2",), 1, "failure")
    joined = LEARNED.joined(other)
    assert joined == Provenance(("t1", "t2"), ("e1",), ("k1", "k2"), 1, "both")
    assert LEARNED.joined(Provenance()).outcome == "success"


def test_markdown_says_what_and_from_where() -> None:
    """Heading, description, content and the tasks are there."""
    text = evolve(skill("open doors"), provenance=LEARNED).to_markdown()
    assert text.startswith("### open doors\n\nWhen open doors matters.\n\nDo open doors.\n\n*")
    assert "round 2, success: t1" in text
