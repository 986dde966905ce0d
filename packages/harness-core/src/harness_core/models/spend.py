"""What model calls cost, and how much they may."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from harness_core.errors import HarnessError, SpendLimitReached


@frozen
class Spend:
    """What the calls of one role cost.

    Args:
        role: whose calls.
        calls: that were paid for.
        cached: that were answered from the store, in this session.
        input_tokens: of the paid calls.
        output_tokens: of the paid calls.
        cost: US dollars, by litellm's price list.
    """

    role: str
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.role,
            self.calls + other.calls,
            self.cached + other.cached,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
        )


@frozen
class SpendLimit:
    """How much a store's calls may cost in all, those of earlier sessions included.

    Tokens and cost of a call are known when it is answered, so both limits may be passed by the
    calls that are under way: at most one for every worker.

    Args:
        tokens: read and written; `None` for no limit.
        cost: US dollars. A model without a known price costs nothing.
        calls: paid ones.
    """

    tokens: int | None = None
    cost: float | None = None
    calls: int | None = None

    def __attrs_post_init__(self) -> None:
        if any(each is not None and not each >= 0 for each in (self.tokens, self.cost, self.calls)):
            raise HarnessError(f"Limits are numbers from 0; got {self}.")

    def check(self, spent: Spend, under_way: int) -> None:
        """Says whether one more call may be made.

        Args:
            spent: by all roles.
            under_way: calls that are not answered yet.

        Raises:
            SpendLimitReached: it may not.
        """
        used = {
            "calls": (spent.calls + under_way, self.calls),
            "tokens": (spent.input_tokens + spent.output_tokens, self.tokens),
            "US dollars": (spent.cost, self.cost),
        }
        for what, (amount, limit) in used.items():
            if limit is not None and amount >= limit:
                raise SpendLimitReached(
                    f"The limit of {limit:g} {what} is reached ({amount:g} used). Every answer so "
                    "far is kept: run the same again with a larger limit to go on."
                )


class Account:
    """Adds up by role.

    Args:
        before: what earlier sessions spent.
    """

    def __init__(self, before: Iterable[Spend]) -> None:
        self._roles = {each.role: each for each in before}

    def add(self, spend: Spend) -> None:
        """Books one call."""
        self._roles[spend.role] = self._roles.get(spend.role, Spend(spend.role)) + spend

    def rows(self) -> list[Spend]:
        """By role, ordered by name."""
        return [self._roles[role] for role in sorted(self._roles)]

    def total(self) -> Spend:
        """Of all roles together."""
        return evolve(sum(self._roles.values(), Spend("all")), role="all")
