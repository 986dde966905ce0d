"""The strategy itself: builds conversations from what the loop knows, and reads the answers.

It keeps nothing between its calls: every conversation is made from the case alone. So a run that
was killed asks the same questions again, and finds their answers in the store.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

from attrs import field, frozen

from harness_core.errors import (
    ContentFiltered,
    ContextTooLong,
    SpecError,
    as_unicode,
    message_of,
)
from harness_core.models.answers import Unusable
from harness_core.values import JsonDict
from harness_rigger.designer.answers import (
    CANDIDATE,
    DIAGNOSIS,
    Opinion,
    read_opinion,
    read_proposal,
)
from harness_rigger.designer.building import build
from harness_rigger.designer.prompts import DIAGNOSE, writing
from harness_rigger.designer.telling import conclusion, feedback, situation
from harness_rigger.strategy import Broken, Candidate, Case, Diagnosis

if TYPE_CHECKING:
    from harness_core.models import ModelSession, Reply

T = TypeVar("T")

SHRINKS = 3
"""How often a conversation that is too long for the model is halved."""

AGAIN = "Your answer cannot be used: {problem}\n\nAnswer again in whole."
NO_ANSWER = "(no answer)"

Talk = list[tuple[Literal["system", "user", "assistant"], str]]
"""Messages: who speaks, and what."""


@frozen
class LlmStrategy:
    """A model diagnoses, writes, repairs and refines.

    Args:
        model: in litellm's form; `None`: the one that is set for the role `designer`.
        tokens: of what a prompt tells of rollouts and state, by a cautious guess.
        repairs: unusable answers in a row, to one question, before it gives up.
        extensions: ids of training tasks of the same env that a `Chain` may lead to. With none,
            no chain is offered. Never name a held-out task.
        in_distribution: ask that all texts read like the env's own.
        temperature: of the model.
        max_tokens: of an answer; `None` leaves it to the endpoint.
        sample: another number draws other answers.
        models: makes the calls; `None`: a session from the environment, which keeps nothing.
    """

    needs_model: ClassVar[bool] = True

    model: str | None = None
    tokens: int = 24_000
    repairs: int = 3
    extensions: tuple[str, ...] = field(default=(), converter=tuple[str, ...])
    in_distribution: bool = False
    temperature: float = 1.0
    max_tokens: int | None = None
    sample: int = 0
    models: ModelSession | None = field(default=None, eq=False, repr=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.tokens < 500 or self.repairs < 0:
            raise SpecError(
                f"tokens is at least 500 and repairs at least 0; got {self.tokens}, {self.repairs}."
            )

    @cached_property
    def _session(self) -> ModelSession:
        from harness_core.models import ModelSession

        return self.models or ModelSession()

    def diagnose(self, case: Case) -> Diagnosis:
        """Asks for the root cause; asks nothing where the rollouts alone decide."""
        if not case.baseline.rate.n:
            return Diagnosis(None, "no rollout counts", skip="no-evidence")
        standing = case.objective.standing(case.baseline)
        if standing.side == 0:
            return Diagnosis(None, "in the target as it is")
        wanted = case.objective.direction(standing)

        def read(text: str) -> Opinion:
            opinion = read_opinion(text)
            if opinion.direction not in (None, wanted):
                raise Unusable(f'the target lies in the direction "{wanted}": say it, or "skip".')
            return opinion

        exchanges: list[tuple[str, str]] = []
        problem = ""
        try:
            for _ in range(self.repairs + 1):
                reply = self._ask(lambda tokens: _diagnosing(case, exchanges, tokens), DIAGNOSIS)
                answer = as_unicode(reply.text)
                try:
                    opinion = _read(reply, read)
                except Unusable as unusable:
                    problem = str(unusable)
                    exchanges.append((answer, problem))
                    continue
                kept = _kept([*exchanges, (answer, "")], reply.model)
                return Diagnosis(
                    opinion.direction, opinion.weakness, opinion.evidence, opinion.skip, kept
                )
        except (ContextTooLong, ContentFiltered) as refused:
            problem = message_of(refused)
        told = f"no usable answer: {problem}"
        return Diagnosis(None, told, skip="unanswered", parameters=_kept(exchanges, ""))

    def write(self, case: Case, diagnosis: Diagnosis) -> Candidate | Broken | None:
        """Asks for the next candidate, with what became of the others."""
        if self._given_up(case):
            return None
        kept: JsonDict = {}
        rationale = f"answer {len(case.trials) + 1}"
        try:
            reply = self._ask(lambda tokens: self._writing(case, diagnosis, tokens), CANDIDATE)
            kept = {"answer": as_unicode(reply.text), "model": reply.model}
            proposal = _read(reply, read_proposal)
            rationale = as_unicode(proposal.rationale)
            components = build(proposal, case.stack, self.extensions)
            case.stack.wrapped(*components).to_json()
        except (Unusable, ContextTooLong, ContentFiltered, SpecError) as problem:
            return Broken(message_of(problem), rationale, kept)
        return Candidate(components, rationale, kept, probe=True)

    def _writing(self, case: Case, diagnosis: Diagnosis, tokens: int) -> Talk:
        """The conversation so far; only the latest candidate's rollouts are told again."""
        talk: Talk = [
            ("system", writing(case.stack, self.extensions, self.in_distribution)),
            ("user", f"{situation(case, tokens)}\n\n{conclusion(diagnosis)}"),
        ]
        for number, trial in enumerate(case.trials):
            latest = number == len(case.trials) - 1
            answer = str(trial.candidate.parameters.get("answer") or NO_ANSWER)
            talk.append(("assistant", answer))
            talk.append(("user", feedback(case, number, tokens // 2 if latest else 0)))
        return talk

    def _given_up(self, case: Case) -> bool:
        """Whether the last answers, one more than the repairs, came to no rollout."""
        latest = case.trials[-self.repairs - 1 :]
        return len(latest) > self.repairs and not any(t.evidence.episodes for t in latest)

    def _ask(self, talk: Callable[[int], Talk], schema: JsonDict) -> Reply:
        """The model's answer to `talk(tokens)`, with ever fewer tokens if it is too long.

        Raises:
            ContextTooLong: it is too long even so.
            HarnessError: the model cannot be asked.
        """
        from harness_core.models import Message, Request

        client = self._session.client("designer", self.model)
        tokens = self.tokens
        while True:
            request = Request(
                tuple(Message(role, text) for role, text in talk(tokens)),
                schema=schema,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
            )
            try:
                return client.chat(request, sample=self.sample)
            except ContextTooLong:
                tokens //= 2
                if tokens < self.tokens >> SHRINKS:
                    raise


def _diagnosing(case: Case, exchanges: list[tuple[str, str]], tokens: int) -> Talk:
    talk: Talk = [("system", DIAGNOSE), ("user", situation(case, tokens))]
    for answer, problem in exchanges:
        talk += [("assistant", answer or NO_ANSWER), ("user", AGAIN.format(problem=problem))]
    return talk


def _kept(exchanges: list[tuple[str, str]], model: str) -> JsonDict:
    """What was answered, with the problem of each answer; empty for the one that was taken."""
    said = [{"answer": answer, "problem": problem} for answer, problem in exchanges]
    return {"answers": said, "model": model}


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    """What the reply says.

    Raises:
        Unusable: why it cannot be used.
    """
    try:
        return read(as_unicode(reply.text))
    except Unusable as problem:
        if reply.finish == "length":
            raise Unusable(f"{problem} It was cut off: answer more briefly.") from problem
        raise
