"""Every error the framework raises, grouped by the boundary it crosses.

`fault` says whom an episode that ends with the error counts against:

- `"policy"`: the policy's own doing; the episode counts as failed.
- `"component"`: a harness component misbehaved; the episode counts against the component.
- `"infrastructure"`: nobody's doing; the episode is retried and left out of success rates.
- `"caller"`: the program was asked for something it cannot do; nothing was run.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar, Literal

Fault = Literal["policy", "component", "infrastructure", "caller"]


class HarnessError(Exception):
    """Base of all errors raised on purpose. The message says what to do next."""

    fault: ClassVar[Fault] = "caller"


# -- what the caller asked for ---------------------------------------------------------------


class UnknownIdError(HarnessError):
    """An id (env, task, component, policy, ...) that nobody registered."""

    def __init__(self, kind: str, asked: str, known: Iterable[str], hint: str = "") -> None:
        ids = sorted(known)
        near = get_close_matches(asked, _alike(asked, ids), n=3, cutoff=0.5)
        if near:
            guess = "Did you mean " + " or ".join(map(repr, near)) + "?"
        elif ids:
            guess = f"Known: {', '.join(ids[:10])}{', ...' if len(ids) > 10 else ''}."
        else:
            guess = f"No {kind} is registered."
        super().__init__(f"There is no {kind} {asked!r}. {guess}{' ' + hint if hint else ''}")
        self.kind, self.asked, self.near = kind, asked, tuple(near)


def _alike(asked: str, ids: list[str]) -> list[str]:
    """The ids to compare with: of thousands, those that begin alike, since comparing is slow."""
    if len(ids) <= 400:
        return ids
    places = {bisect(ids, asked[: len(asked) - cut]) for cut in range(8)}
    near = {number for place in places for number in range(max(0, place - 50), place + 50)}
    return [ids[number] for number in sorted(near) if number < len(ids)]


class UnknownTaskError(UnknownIdError):
    """A task id that the env does not have. Another task is never chosen in its place."""

    def __init__(self, asked: str, known: Iterable[str], env: str) -> None:
        super().__init__("task", asked, known, f"`harness list tasks {env}` shows all.")


class MissingExtraError(HarnessError):
    """A registered id whose optional dependencies are not installed."""


class RegistrationError(HarnessError):
    """A plugin that is broken, or two that claim one id."""


class SpecError(HarnessError):
    """A stack description that cannot be read, built or written."""


class StrategyError(HarnessError):
    """A rigger's strategy raised, or wrote something that is no candidate."""


class StoreError(HarnessError):
    """A run store that cannot be read or written. What was committed before stays."""


class CloseError(HarnessError):
    """Some parts of an env failed to close; all of them were tried."""


class ModelRefused(HarnessError):
    """An endpoint says that the request itself is wrong: an unknown model, a bad key."""


class SpendLimitReached(HarnessError):
    """A limit of calls, tokens or money. What was answered is kept; a larger limit goes on."""


# -- the policy's side -----------------------------------------------------------------------


class PolicyError(HarnessError):
    """The policy raised or answered with something that is no action."""

    fault = "policy"


class InvalidAction(HarnessError):
    """An action outside the env's action space. Nothing happened in the env; a step is charged."""

    fault = "policy"


class ContextTooLong(PolicyError):
    """A conversation that is longer than the model reads."""


class ContentFiltered(PolicyError):
    """The endpoint's content filter stopped the request or the answer."""


# -- components ------------------------------------------------------------------------------


class ComponentError(HarnessError):
    """A component broke its own rules."""

    fault = "component"


class StageError(ComponentError):
    """A replay that has no effect, ends the episode or already solves the task."""


class ContractError(ComponentError):
    """A contract's hook raised, or returned what a hook may not return."""


class ChainError(ComponentError):
    """A route switched to a segment that does not exist or has ended."""


class SandboxError(ComponentError):
    """Generated code was stopped."""


class SourceRejected(SandboxError):
    """Generated code that never ran: the message names the line and what to write instead."""


class SandboxViolation(SandboxError):
    """Generated code reached for something outside its walls."""


class SandboxTimeout(SandboxError):
    """Generated code used more wall-clock or CPU time than one call may."""


class SandboxCrash(SandboxError):
    """The process that ran generated code died."""


class WireError(SandboxError):
    """Generated code answered with something that may not cross the wire."""


# -- infrastructure --------------------------------------------------------------------------


class InfrastructureError(HarnessError):
    """Something under the env failed: a process, an engine, a network, a disk."""

    fault = "infrastructure"


class EnvError(InfrastructureError):
    """An env raised a plain exception, or its process died."""


class EnvTimeout(InfrastructureError):
    """An env did not answer within the limit; what hung was killed."""


class ModelError(InfrastructureError):
    """No endpoint gave a whole answer, in all tries."""


class RateLimited(ModelError):
    """All endpoints still asked to wait, in all tries."""


def message_of(error: BaseException) -> str:
    """`str(error)`, even where that raises or is no Unicode: the error may be foreign code's."""
    try:
        return as_unicode(str(error))
    except Exception:
        return "(its message cannot be read: its __str__ raises)"


def told(error: BaseException) -> str:
    """The type and the message of a foreign error."""
    return f"{type(error).__name__}: {message_of(error)}"


def as_unicode(text: str) -> str:
    """`text`, with what is no Unicode written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
