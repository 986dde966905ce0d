"""The policy `think-action`."""

from __future__ import annotations

from harness_core.models.policies.reading import Found, find_tagged
from harness_core.models.policies.writing import WritingPolicy


class ThinkActionPolicy(WritingPolicy):
    """Thinks in `<think>...</think>` and acts in `<action>...</action>`, with any chat model.

    The options are those of `ChatPolicy`.
    """

    form = (
        "<think>what you make of it, and what to do next</think>\n"
        "<action>one action</action>\n\n"
        "Write nothing after it."
    )
    reminder = "Write <action>one action</action> after your thoughts."

    def _find(self, text: str) -> Found:
        return find_tagged(text)
