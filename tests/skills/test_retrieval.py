"""Which skills a task gets."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_core.errors import SpecError
from harness_core.models.transcript import tokens_of
from harness_skills.embedders import StaticEmbedder
from harness_skills.item import Provenance, Skill
from harness_skills.retrieval import By, Retrieval, Retriever, told
from support.skills import skill

WAYS: tuple[By, ...] = get_args(By)

DRAWERS = skill("open drawers", "Open every closed drawer before you look elsewhere.")
WASHING = skill("wash things", "Take the dirty plate to the sinkbasin and clean it.")
WINDOWS = skill("windows", "A window is no receptacle.")
COUNTING = skill("two objects", "Count how many objects are wanted, then bring both.", "pitfall")
SKILLS = (DRAWERS, WASHING, WINDOWS, COUNTING)


def first(by: By, query: str, **options: Any) -> str:
    found = Retriever(SKILLS, Retrieval(by, each=1, categories=("strategy",), **options))
    return found.find(query).skills[0].title


@pytest.mark.parametrize("by", WAYS)
def test_what_speaks_of_the_same_things_comes_first(by: By) -> None:
    """Each way finds the skill whose words the goal shares."""
    assert first(by, "look for a knife in the drawer") == "open drawers"
    assert first(by, "put a clean plate on the table") == "wash things"


def test_words_are_matched_whole() -> None:
    """A goal with 'wind' or 'win' does not call for what speaks of a window."""
    retriever = Retriever(SKILLS, Retrieval("lexical"))
    assert retriever.find("wind cow win").skills == ()
    assert retriever.find("the window").skills[0] == WINDOWS


def test_parts_of_words_are_near() -> None:
    """By embedding, other forms of a word find the skill as well."""
    assert first("embedding", "opening") == "open drawers"
    assert first("embedding", "washed plates") == "wash things"


@pytest.mark.parametrize("by", WAYS)
def test_each_category_gives_its_best(by: By) -> None:
    """At most so many of each category, the best first."""
    found = Retriever(SKILLS, Retrieval(by, each=2)).find("bring two clean objects, open drawer")
    categories = [each.category for each in found.skills]
    assert categories.count("pitfall") == 1
    assert 1 <= categories.count("strategy") <= 2
    assert found.left_out == ()


@pytest.mark.parametrize("by", WAYS)
def test_a_tasks_own_skills_are_left_out(by: By) -> None:
    """What was learned from the task, alone or with others, is not given to it."""
    own = skill("clean plates", "Clean the plate first.", "strategy", "t1", "t2")
    other = skill("clean cups", "Clean the cup first.", "strategy", "t3")
    retriever = Retriever([own, other], Retrieval(by))
    assert own in retriever.find("clean the plate", "t9").skills
    assert own not in retriever.find("clean the plate", "t1").skills
    assert own not in retriever.find("clean the plate", "t2").skills
    assert other in retriever.find("clean the plate", "t2").skills


def test_among_equals_the_newest_comes_first() -> None:
    """New skills are shown, or nobody would ever know what they are worth."""
    twins = [skill(f"drawers {name}", "Open the drawer.") for name in ("a", "b", "c")]
    found = Retriever(twins, Retrieval("lexical", each=1)).find("drawer")
    assert found.skills == (twins[-1],)


def test_the_text_keeps_to_its_tokens() -> None:
    """The best of each category go in first; what there is no room for is named."""
    retriever = Retriever(SKILLS, Retrieval(each=3, tokens=60))
    found = retriever.find("open the drawer and bring two objects")
    assert tokens_of(found.text) <= 60
    assert found.left_out
    assert {DRAWERS, COUNTING} & set(found.skills)
    assert found.text == told(found.skills)


def test_a_category_that_is_not_there_is_an_error() -> None:
    """It is never passed over in silence."""
    with pytest.raises(SpecError, match=r"no skill of the category 'general'.*pitfall"):
        Retriever(SKILLS, Retrieval(categories=("general",)))


def test_a_bank_that_is_loaded_in_part_is_an_error() -> None:
    """An embedder that gives fewer vectors than there are skills is told."""

    class Lossy(StaticEmbedder):
        def vectors(self, texts: Any) -> Any:
            return super().vectors(texts)[:-1]

    with pytest.raises(SpecError, match="4 skills are in the bank; 3 loaded"):
        Retriever(SKILLS, Retrieval("embedding"), Lossy())


def test_an_empty_bank_has_nothing_to_say() -> None:
    """Nothing is found, and nothing breaks."""
    assert Retriever([]).find("anything").text == ""


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=40).filter(str.strip), st.sampled_from("abc")),
        max_size=12,
    ),
    st.text(max_size=60),
    st.sampled_from(WAYS),
    st.integers(1, 3),
)
def test_laws_of_retrieval(texts: list[tuple[str, str]], query: str, by: By, each: int) -> None:
    """Any words: no more than asked for, none twice, none of one's own, twice the same."""
    skills = list(
        dict.fromkeys(
            Skill(text, "", text, category, Provenance((f"t{place % 3}",)))
            for place, (text, category) in enumerate(texts)
        )
    )
    retriever = Retriever(skills, Retrieval(by, each=each))
    found = retriever.find(query, "t1")
    assert len(set(found.skills)) == len(found.skills)
    for category in "abc":
        assert sum(one.category == category for one in found.skills) <= each
    assert not any("t1" in one.provenance.tasks for one in found.skills)
    assert found == Retriever(skills, Retrieval(by, each=each)).find(query, "t1")
