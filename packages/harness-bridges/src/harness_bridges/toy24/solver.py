"""Which states of the 24 game can still be won, and how."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from harness_bridges.toy24.arithmetic import TARGET, Numbers, apply, moves


@lru_cache(maxsize=200_000)
def reachable(numbers: Numbers) -> bool:
    """Whether combining alone can still leave 24."""
    if len(numbers) == 1:
        return numbers[0] == TARGET
    return any(reachable(following) for *_, following in moves(numbers))


def plan(numbers: Numbers, cards: Numbers) -> tuple[str, ...] | None:
    """A shortest list of action texts that solves the puzzle from here, `reset` included.

    Args:
        numbers: on the table now, ascending.
        cards: what `reset` puts back, ascending.

    Returns:
        The actions, none if it is solved already; `None` if the cards cannot make 24.
    """
    if reachable(numbers):
        return _combinations(numbers)
    return ("reset", *_combinations(cards)) if reachable(cards) else None


def distance(numbers: Numbers, cards: Numbers) -> int | None:
    """The length of a shortest solution from here; `None` if there is none."""
    steps = plan(numbers, cards)
    return None if steps is None else len(steps)


def _combinations(numbers: Numbers) -> tuple[str, ...]:
    if len(numbers) == 1:
        return ()
    for left, operator, right, following in moves(numbers):
        if reachable(following):
            return (f"combine {left} {operator} {right}", *_combinations(following))
    raise AssertionError("unreachable numbers have no plan")


def solutions(cards: Numbers) -> tuple[str, ...]:
    """All expressions over `cards` that make 24, sorted, fully parenthesised.

    The operands of a sum or product are written in one order only, so `1 + 2` and `2 + 1` are
    one solution.
    """
    start = tuple(sorted((card, str(card)) for card in cards))
    return tuple(sorted(_expressions(start)))


def _expressions(terms: tuple[tuple[Fraction, str], ...]) -> set[str]:
    if len(terms) == 1:
        last, text = terms[0]
        return {text.removeprefix("(").removesuffix(")")} if last == TARGET else set()
    found: set[str] = set()
    for i, (left, left_text) in enumerate(terms):
        for j, (right, right_text) in enumerate(terms):
            if i == j:
                continue
            rest = tuple(term for k, term in enumerate(terms) if k not in (i, j))
            for operator in "+-*/":
                if operator in "+*" and (left, left_text) > (right, right_text):
                    continue
                value = apply(left, operator, right)
                if value is not None:
                    term = (value, f"({left_text} {operator} {right_text})")
                    found |= _expressions(tuple(sorted((*rest, term))))
    return found
