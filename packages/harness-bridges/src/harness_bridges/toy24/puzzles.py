"""Puzzle ids, the built-in list, and a seeded generator.

An id is the four cards in ascending order, `"1-5-5-5"`: one puzzle, one id.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

from harness_bridges.toy24.arithmetic import HIGHEST_CARD, TARGET, Numbers, apply
from harness_core.errors import HarnessError, UnknownTaskError

Cards = tuple[int, ...]

FIRST = "1-1-1-8"
"""The first of `solvable_puzzles()`."""


def cards_of(id: str) -> Cards:
    """The cards that a puzzle id names; solvable or not.

    Raises:
        UnknownTaskError: `id` is not four ascending whole numbers from 1 to 13 joined by `-`.
    """
    parts = id.split("-")
    cards = tuple(int(part) for part in parts if part in _CARD_TEXTS)
    well_formed = len(parts) == len(cards) == 4
    if well_formed and id == id_of(cards):
        return cards
    raise UnknownTaskError(id, [id_of(cards)] if well_formed else solvable_puzzles(), "toy24")


_CARD_TEXTS = frozenset(map(str, range(1, HIGHEST_CARD + 1)))


def id_of(cards: Cards) -> str:
    """The id of the puzzle with these cards, in any order."""
    return "-".join(map(str, sorted(cards)))


@cache
def solvable_puzzles() -> tuple[str, ...]:
    """The ids of all 1362 puzzles that can be solved, in ascending order of their cards."""
    return tuple(id_of(cards) for cards in _deals(4) if _makes_target(cards))


def generate_puzzles(count: int, seed: int, *, solvable: bool = True) -> tuple[str, ...]:
    """`count` different puzzle ids, drawn evenly.

    Args:
        count: how many; there are 1362 solvable and 458 unsolvable puzzles.
        seed: same seed, same puzzles, in the same order.
        solvable: draw among those that can be solved, or among those that cannot.

    Raises:
        HarnessError: there are not that many.
    """
    winnable = solvable_puzzles()
    if solvable:
        pool = winnable
    else:
        known = set(winnable)
        pool = tuple(id for id in map(id_of, _deals(4)) if id not in known)
    if not 0 <= count <= len(pool):
        raise HarnessError(f"Asked for {count} puzzles, but there are {len(pool)}: ask for fewer.")
    return tuple(random.Random(seed).sample(pool, count))


def _deals(count: int) -> Iterator[Cards]:
    return combinations_with_replacement(range(1, HIGHEST_CARD + 1), count)


def _makes_target(cards: Cards) -> bool:
    """Splits the cards in two and looks up the partner that each value of one part needs."""
    for i in range(4):
        single = Fraction(cards[i])
        if not _partners(single).isdisjoint(_values(cards[:i] + cards[i + 1 :])):
            return True
    for i in (1, 2, 3):
        rest = tuple(card for k, card in enumerate(cards) if k not in (0, i))
        others = _values(rest)
        if any(not _partners(value).isdisjoint(others) for value in _values((cards[0], cards[i]))):
            return True
    return False


@cache
def _values(cards: Cards) -> frozenset[Fraction]:
    """Everything that up to three cards can make."""
    if len(cards) == 1:
        return frozenset({Fraction(cards[0])})
    made: set[Fraction] = set()
    for i, card in enumerate(cards):
        for value in _values(cards[:i] + cards[i + 1 :]):
            made.update(_results(Fraction(card), value))
    return frozenset(made)


def _results(one: Fraction, other: Fraction) -> Numbers:
    pairs = ((one, "+", other), (one, "-", other), (other, "-", one), (one, "*", other))
    quotients = ((one, "/", other), (other, "/", one))
    made = (apply(*pair) for pair in (*pairs, *quotients))
    return tuple(value for value in made if value is not None)


@cache
def _partners(value: Fraction) -> frozenset[Fraction]:
    """Every number that makes 24 together with `value`."""
    partners = {TARGET - value, TARGET + value, value - TARGET}
    if value:
        partners |= {TARGET / value, TARGET * value, value / TARGET}
    return frozenset(partners)
