"""Reading what models write."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_core.models.answers import Unusable
from harness_skills.answers import read_items, text_in, texts_in

ITEMS = [{"title": "a", "content": "b {c} ```d```"}, {"title": "e"}]
WHOLE = json.dumps({"skills": ITEMS})


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        json.dumps({"skills": ITEMS}, indent=2),
        f"Here you are:\n```json\n{json.dumps({'skills': ITEMS}).replace('```', '')}\n```\nDone.",
        f"I think {{so}}. {WHOLE} That is all.",
        f'<think>{{"skills": []}} or not?</think>{WHOLE}',
        f'First try: {{"skills": []}}\nBetter: {WHOLE}',
        WHOLE.replace('"skills"', '"Skills"').replace('"title"', '"Title"'),
        json.dumps(ITEMS),
    ],
)
def test_wrapping_does_not_matter(text: str) -> None:
    """Prose, fences, thoughts, drafts, case and a missing outer object."""
    found = read_items(text, "skills")
    assert [each["title"] for each in found] == ["a", "e"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("<think>hm</think>  ", "empty"),
        ("I have no idea.", "one JSON object"),
        ('{"skill": []}', "no whole JSON object"),
        ('{"skills": "none"}', "no whole JSON object"),
        ('{"skills": ["open doors"]}', "no JSON object"),
    ],
)
def test_what_is_no_answer_is_told(text: str, told: str) -> None:
    """The message says what to write instead."""
    with pytest.raises(Unusable, match=told):
        read_items(text, "skills")


def test_an_answer_that_was_cut_is_none() -> None:
    """Wherever it was cut, nothing of it is used, even if some of its items are whole."""
    for length in range(len(WHOLE)):
        with pytest.raises(Unusable):
            read_items(WHOLE[:length], "skills")


def test_fields_are_read_with_patience() -> None:
    """Lists become lines, one text counts as a list, and anything else as nothing."""
    item = {"content": ["open", "look"], "new": "N1", "targets": [" S1 ", 3], "title": 5}
    assert text_in(item, "content") == "- open\n- look"
    assert text_in(item, "title") == ""
    assert texts_in(item, "new") == ["N1"]
    assert texts_in(item, "targets") == ["S1"]


@given(st.one_of(st.text(), st.text(alphabet='{}[]":,\\`skil \n').map(lambda t: t * 3)))
def test_no_text_breaks_the_reader(text: str) -> None:
    """Whatever a model writes is items or an explanation."""
    with suppress(Unusable):
        assert all(isinstance(item, dict) for item in read_items(text, "skills"))


def test_half_a_character_cannot_get_in() -> None:
    """An escape that stands for half a character is replaced: it could not be kept."""
    (item,) = read_items('{"skills": [{"title": "a \\ud83d", "tags": ["\\ud83d"]}]}', "skills")
    assert json.dumps(item, ensure_ascii=False).encode()
