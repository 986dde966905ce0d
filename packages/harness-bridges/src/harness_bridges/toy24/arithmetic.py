"""The rules of the 24 game, on exact numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from attrs import field, frozen

TARGET = Fraction(24)
OPERATORS = ("*", "+", "-", "/")
HIGHEST_CARD = 13

Numbers = tuple[Fraction, ...]
"""The numbers on the table, ascending: the whole state of the world."""


def apply(left: Fraction, operator: str, right: Fraction) -> Fraction | None:
    """`left operator right`, or `None` for a division by zero."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left / right if right else None


def moves(numbers: Numbers) -> Iterator[tuple[Fraction, str, Fraction, Numbers]]:
    """Every possible combination, as (left, operator, right, the numbers that result)."""
    seen: set[tuple[Fraction, Fraction]] = set()
    for i, left in enumerate(numbers):
        for j, right in enumerate(numbers):
            if i == j or (left, right) in seen:
                continue
            seen.add((left, right))
            rest = [number for k, number in enumerate(numbers) if k not in (i, j)]
            for operator in OPERATORS:
                result = apply(left, operator, right)
                if result is not None:
                    yield left, operator, right, tuple(sorted([*rest, result]))


@frozen
class Table:
    """What one state of the world looks like.

    Args:
        numbers: ascending.
        texts: the numbers as written, `"8"`, `"-2"`, `"1/5"`.
        following: the numbers after each possible `combine` text.
        admissible: all texts that the env accepts, sorted.
    """

    numbers: Numbers
    texts: tuple[str, ...] = field(eq=False)
    following: dict[str, Numbers] = field(eq=False)
    admissible: tuple[str, ...] = field(eq=False)

    @property
    def solved(self) -> bool:
        """Whether 24 is all that is left."""
        return self.numbers == (TARGET,)

    @property
    def words(self) -> str:
        """The observation's text."""
        shown = f"Numbers: {', '.join(self.texts)}."
        if len(self.numbers) > 1:
            return shown
        return f"{shown} {'Solved.' if self.solved else 'Not 24: reset or stop.'}"


@lru_cache(maxsize=20_000)
def table(numbers: Numbers) -> Table:
    """The table with these numbers on it."""
    following = {
        f"combine {left} {operator} {right}": result
        for left, operator, right, result in moves(numbers)
    }
    return Table(
        numbers,
        tuple(map(str, numbers)),
        following,
        tuple(sorted([*following, "reset", "stop"])),
    )
