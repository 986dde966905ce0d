"""Policies whose model writes its action into its text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from harness_core.models.policies.chat import Answer, ChatPolicy, cut_off, said
from harness_core.models.policies.prompts import actions_section, system_prompt
from harness_core.models.policies.reading import Found, listed_action, read_action
from harness_core.models.values import Reply
from harness_core.values import Task


class WritingPolicy(ChatPolicy):
    """Reads the action out of the text. The options are those of `ChatPolicy`."""

    form: ClassVar[str]
    """How an answer looks, for the system prompt."""
    reminder: ClassVar[str]
    """The same in one sentence, for an answer that looked otherwise."""

    def _system(self, task: Task, texts: bool) -> str:
        actions = actions_section(self._tools, texts)
        return system_prompt(task, ("Actions", actions), ("Form of an answer", self.form))

    def _read(self, reply: Reply, admissible: Sequence[str] | None) -> Answer:
        message, text = said(reply.text), reply.text.rstrip()
        found = self._find(text)
        written = found.action or listed_action(text, admissible or ())
        if reply.finish == "length" and (not written or text.endswith(written)):
            return Answer(message, problem=cut_off(reply))
        if not written:
            return Answer(message, problem=f"{found.problem} {self.reminder}")
        action = read_action(written, self._tools, admissible)
        if isinstance(action, str):
            return Answer(message, problem=action)
        note = f"(The answer held {found.several} actions; only the first was done.)"
        return Answer(message, action, note=note if found.several > 1 else "")

    @abstractmethod
    def _find(self, text: str) -> Found:
        """The action in an answer."""
