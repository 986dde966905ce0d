"""Hypothesis strategies that several laws share."""

from __future__ import annotations

from hypothesis import strategies as st

from harness_core import Action
from harness_core.testing.corridor import WORDS
from harness_core.testing.strategies import JUNK

seeds = st.integers(0, 50)

_texts = st.sampled_from(WORDS).map(Action)
_calls = st.sampled_from(
    [
        Action(tool="walk", arguments={"way": "left"}),
        Action(tool="walk", arguments={"way": "right"}),
        Action(tool="switch"),
        Action(tool="walk", arguments={"way": 3}),
    ]
)
_forward = st.sampled_from(["right", "switch"]).map(Action)

walks = st.lists(_forward | _texts | _calls | JUNK.map(Action), max_size=12)
"""Actions for a corridor: in both forms, good and bad, mostly forward so that some are solved."""
