"""The policy `react`."""

from __future__ import annotations

from harness_core.models.policies.reading import Found, find_labelled
from harness_core.models.policies.writing import WritingPolicy


class ReActPolicy(WritingPolicy):
    """Writes `Thought: ...` and `Action: ...` in turns, with any chat model.

    The options are those of `ChatPolicy`. Source: ReAct, arXiv 2210.03629.
    """

    form = (
        "Thought: what you make of it, and what to do next\n"
        "Action: one action\n\n"
        "Write nothing after the action: the observation is the environment's to tell."
    )
    reminder = 'End with a line "Action: one action".'
    stop = ("\nObservation:",)

    def _find(self, text: str) -> Found:
        return find_labelled(text)
