"""Reading what a model wrote."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness_core.models.answers import Unusable
from harness_rigger.designer.answers import read_opinion, read_proposal
from support.designing import candidate, diagnosis, stage

PLAIN = candidate(stage("up"), rationale="one rung")
SOURCE = 'class C(Contract):\n    """Says \\"no\\"."""\n'


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"```json\n{PLAIN}\n```",
        f"Let me think. {{not json}} Here it is:\n\n```\n{PLAIN}\n```\nI hope it helps.",
        f"Sure! {PLAIN} Done.",
        f'First {{"rationale": "draft", "components": [{{"kind": "stage"}}]}}, no, better: {PLAIN}',
        json.dumps({"rationale": "one rung", "components": stage("up")}),
    ],
)
def test_a_candidate_is_found_however_it_is_wrapped(text: str) -> None:
    """Fences, prose, thoughts and drafts around the answer do not hide it; the last one counts."""
    proposal = read_proposal(text)
    assert proposal.rationale == "one rung"
    assert proposal.components == (stage("up"),)


def test_source_with_bare_line_breaks_is_read() -> None:
    """A model that writes real line breaks inside a JSON text is understood."""
    text = '{"rationale": "r", "components": [{"kind": "contract", "source": "class C:\n  pass"}]}'
    assert read_proposal(text).components[0]["source"] == "class C:\n  pass"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("no", "Answer with one JSON object"),
        ('{"components": [', "not whole"),
        ('{"rationale": "r", "components": []}', "at least one component"),
        ('{"components": ["up"]}', "Component 1 is no JSON object"),
        ('{"candidate": {}}', 'no whole JSON object with "components"'),
        ("{" * 100_000, "JSON"),
    ],
)
def test_an_unusable_candidate_is_told_why(text: str, told: str) -> None:
    """The message names what is missing or wrong."""
    with pytest.raises(Unusable, match=told):
        read_proposal(text)


def test_a_diagnosis_is_read_in_any_case() -> None:
    """Direction and reason are words; a single step of evidence needs no list."""
    opinion = read_opinion(diagnosis("HARDER ", evidence="step 3"))
    assert (opinion.direction, opinion.evidence, opinion.skip) == ("harder", ("step 3",), None)
    skipped = read_opinion(diagnosis("Skip", reason="No-Lever", evidence=[]))
    assert (skipped.direction, skipped.skip) == (None, "no-lever")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"direction": "up"}, '"harder", "easier" or "skip", not \'up\''),
        ({"evidence": []}, "at least one step"),
        ({"weakness": " "}, '"weakness" is a sentence'),
        ({"direction": "skip", "reason": "bored"}, "hopeless, no-weakness, no-lever"),
    ],
)
def test_an_unusable_diagnosis_is_told_why(more: dict[str, object], told: str) -> None:
    """Every field that does not fit is named."""
    with pytest.raises(Unusable, match=told):
        read_opinion(json.dumps({**json.loads(diagnosis()), **more}))


json_like = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("components"), inner),
)


@given(st.text() | json_like.map(json.dumps) | st.just("direction").map(lambda k: f'{{"{k}": 1}}'))
@example('{"components": [{"kind": {}}], "rationale": {"a": 1}}')
@example('{"direction": [1], "evidence": 3, "weakness": {}}')
def test_no_text_makes_a_reader_fail(text: str) -> None:
    """Whatever a model writes, it is read or found unusable."""
    for read in (read_proposal, read_opinion):
        with suppress(Unusable):
            read(text)
