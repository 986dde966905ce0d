"""`ChatPolicy`: what all policies on a chat model have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast, get_args

from attrs import frozen

from harness_core.errors import ContextTooLong, SpecError
from harness_core.models.policies.conversation import Conversation
from harness_core.models.policies.prompts import admissible_list
from harness_core.models.values import Message, Reply, Request, Role
from harness_core.policies import Decision
from harness_core.values import Action, JsonDict, Observation, Task, Tool

if TYPE_CHECKING:
    from harness_core.models.session import ModelSession

SHORTER = 3
"""How often a conversation is halved that is too long for the model."""


@frozen
class Answer:
    """What a policy made of a reply.

    Args:
        message: the reply, as the conversation keeps it.
        action: `None` if the reply holds none.
        problem: why it holds none, for the model.
        note: what else the model should know; shown with the next observation.
    """

    message: Message
    action: Action | None = None
    problem: str = ""
    note: str = ""


class ChatPolicy(ABC):
    """Shows a model the conversation so far and does what it answers.

    An answer that is no action costs a step and tells the model why. `Decision.info` keeps the
    reasoning and, where the endpoint gives them, token ids and log-probabilities.

    Args:
        model: in litellm's form, such as `"openai/gpt-4o-mini"`; `None` for the one that the
            session names for the role.
        role: whose account the calls go on.
        temperature: 0 for the likeliest answer.
        max_tokens: of an answer, thoughts included.
        context_tokens: of the conversation, by a cautious guess. Beyond, the oldest observations
            are shortened, then the oldest turns left out.
        show_admissible: list the admissible actions, where the env does.
        logprobs: ask for the log-probabilities of the sampled tokens.
        models: makes the calls; `None` for a session of the policy's own.

    Raises:
        HarnessError: no model is named for the role.
        SpecError: an option that makes no sense.
    """

    needs_model = True
    stop: ClassVar[tuple[str, ...]] = ()
    """Texts that end an answer."""

    def __init__(
        self,
        *,
        model: str | None = None,
        role: str = "policy",
        temperature: float = 1.0,
        max_tokens: int = 1024,
        context_tokens: int = 16_000,
        show_admissible: bool = True,
        logprobs: bool = False,
        models: ModelSession | None = None,
    ) -> None:
        from harness_core.models.session import ModelSession

        if role not in get_args(Role):
            raise SpecError(f"There is no role {role!r}. Roles: {', '.join(get_args(Role))}.")
        if max_tokens < 1 or context_tokens < 1:
            raise SpecError(f"max_tokens={max_tokens} and context_tokens={context_tokens}: from 1.")
        self._client = (models or ModelSession()).client(cast(Role, role), model)
        self._temperature, self._max_tokens = temperature, max_tokens
        self._budget, self._show_admissible = context_tokens, show_admissible
        self._logprobs = logprobs
        self._task, self._tools, self._seed = Task(""), tuple[Tool, ...](), 0
        self._talk: Conversation | None = None
        self._note = ""

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        """An episode starts. The same seed gets the same answers, for free."""
        self._task, self._tools, self._seed = task, tuple(tools), seed
        self._talk, self._note = None, ""

    def act(self, observation: Observation) -> Decision:
        """The model's next action.

        Raises:
            HarnessError: as `ModelClient` says.
        """
        admissible = observation.data.get("admissible")
        listed = [str(each) for each in admissible] if isinstance(admissible, list) else None
        if self._talk is None:
            texts = listed is not None and self._show_admissible
            self._talk = Conversation(self._system(self._task, texts), self._budget)
        self._talk.see("\n\n".join(filter(None, [self._note, observation.text])))
        shown = admissible_list(listed) if listed and self._show_admissible else ""
        reply = self._reply(self._talk, shown)
        answer = self._read(reply, listed)
        self._talk.say(answer.message)
        self._note = answer.note
        return Decision(
            answer.action or Action(),
            reply.text,
            reply.usage,
            invalid=answer.problem,
            info=_info(reply),
        )

    def _reply(self, talk: Conversation, aside: str) -> Reply:
        for _ in range(SHORTER):
            try:
                return self._ask(talk, aside)
            except ContextTooLong:
                talk.budget //= 2
        return self._ask(talk, aside)

    def _ask(self, talk: Conversation, aside: str) -> Reply:
        request = Request(
            talk.messages(aside),
            tools=self._offered(),
            temperature=self._temperature,
            max_tokens=self._max_tokens,
            stop=self.stop,
            logprobs=self._logprobs,
        )
        return self._client.chat(request, sample=self._seed)

    def _offered(self) -> tuple[Tool, ...]:
        """The tools that the model may call in the protocol's own way."""
        return ()

    @abstractmethod
    def _system(self, task: Task, texts: bool) -> str:
        """The system prompt; `texts` tells whether the model will see texts of actions."""

    @abstractmethod
    def _read(self, reply: Reply, admissible: Sequence[str] | None) -> Answer:
        """What the reply holds."""


def said(text: str) -> Message:
    """An answer without a call; endpoints refuse an empty one."""
    return Message("assistant", text if text.strip() else "(no answer)")


def cut_off(reply: Reply) -> str:
    """Why an answer has no action that ends before it is whole."""
    return (
        f"The answer was cut off after {reply.usage.output_tokens} tokens, before its action was "
        "whole. Think more briefly."
    )


def _info(reply: Reply) -> JsonDict:
    given = {
        "reasoning": reply.reasoning,
        "tool_calls": [
            {"name": call.name, "arguments": call.arguments} for call in reply.tool_calls
        ],
        "finish": "" if reply.finish in ("stop", "tool_calls") else reply.finish,
    }
    info: JsonDict = {name: value for name, value in given.items() if value}
    if reply.token_ids is not None:
        info["token_ids"] = list(reply.token_ids)
    if reply.logprobs is not None:
        info["logprobs"] = list(reply.logprobs)
    return info
