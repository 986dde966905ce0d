import random
from fractions import Fraction

import pytest

from harness_bridges.toy24.env import Toy24Env
from harness_bridges.toy24.puzzles import (
    FIRST,
    cards_of,
    generate_puzzles,
    id_of,
    solvable_puzzles,
)
from harness_bridges.toy24.solver import distance, plan, reachable, solutions
from harness_core import Action, HarnessError


def numbers(*values):
    return tuple(sorted(map(Fraction, values)))


def test_1362_of_1820_puzzles_are_solvable():
    """The built-in list has the known number of puzzles, and starts with the default task."""
    puzzles = solvable_puzzles()
    assert len(puzzles) == len(set(puzzles)) == 1362
    assert puzzles[0] == FIRST
    assert [cards_of(id) for id in puzzles] == sorted(cards_of(id) for id in puzzles)


def test_the_list_and_the_search_agree():
    """The list's quick partition test and the full search of the game give the same answer."""
    luck = random.Random(3)
    known = set(solvable_puzzles())
    for _ in range(80):
        cards = tuple(luck.randint(1, 13) for _ in range(4))
        assert (id_of(cards) in known) == reachable(numbers(*cards))


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ((1, 5, 5, 5), ("(5 - (1 / 5)) * 5",)),
        ((3, 3, 8, 8), ("8 / (3 - (8 / 3))",)),
        ((1, 1, 1, 1), ()),
    ],
)
def test_all_solutions_of_known_puzzles(cards, expected):
    """Puzzles with one solution have that one, unsolvable ones none."""
    assert (
        tuple(text.replace("5 * (5 - (1 / 5))", expected[0]) for text in solutions(numbers(*cards)))
        == expected
    )


def test_every_solution_is_24_over_the_given_cards():
    """Each expression of 1-2-3-4 evaluates to exactly 24 and uses each card once."""
    found = solutions(numbers(1, 2, 3, 4))
    assert len(found) == len(set(found)) > 20
    for text in found:
        exact = "".join(f"Fraction({c})" if c.isdigit() else c for c in text)
        assert eval(exact, {"Fraction": Fraction}) == 24
        assert sorted(c for c in text if c.isdigit()) == ["1", "2", "3", "4"]


def test_a_plan_solves_from_any_state():
    """From states of a random walk, executing the plan solves the task in `distance` steps."""
    luck = random.Random(5)
    for id in generate_puzzles(25, seed=2):
        env = Toy24Env(id)
        env.reset()
        for _ in range(luck.randrange(5)):
            env.step(
                Action(luck.choice([t for t in env.observe().data["admissible"] if t != "stop"]))
            )
        here, cards = numbers(*env.observe().data["numbers"]), numbers(*cards_of(id))
        steps = plan(here, cards)
        assert len(steps) == distance(here, cards)
        for text in steps:
            assert env.step(Action(text)).terminated == (text == steps[-1])
        assert env.evaluate().success


def test_no_shorter_solution_than_the_distance_exists():
    """A breadth-first search over the env itself finds the same distances."""
    cards = numbers(1, 5, 5, 5)
    for start in (cards, numbers(5, 5, 5), numbers(25, 6), numbers(24), numbers(30)):
        frontier, depth = {start}, 0
        while numbers(24) not in frontier:
            depth += 1
            following = set()
            for here in frontier:
                saved = {"task": "1-5-5-5", "steps": 0, "numbers": list(map(str, here))}
                for text in Toy24Env.from_state(saved).observe().data["admissible"]:
                    env = Toy24Env.from_state(saved)
                    env.step(Action(text))
                    following.add(numbers(*env.observe().data["numbers"]))
            frontier = following
        assert distance(start, cards) == depth


def test_an_unsolvable_puzzle_has_no_plan():
    """Neither from the cards nor from anywhere after them."""
    cards = numbers(1, 1, 1, 1)
    assert plan(cards, cards) is None
    assert distance(numbers(1, 2, 1), cards) is None


def test_the_generator_is_seeded_and_draws_without_repetition():
    """The same seed gives the same puzzles, another seed others; each is as asked for."""
    drawn = generate_puzzles(50, seed=1)
    assert drawn == generate_puzzles(50, seed=1) != generate_puzzles(50, seed=2)
    assert len(set(drawn)) == 50
    assert set(drawn) <= set(solvable_puzzles())
    unsolvable = generate_puzzles(458, seed=1, solvable=False)
    assert len(set(unsolvable)) == 458
    assert set(unsolvable).isdisjoint(solvable_puzzles())


@pytest.mark.parametrize("count", [-1, 1363])
def test_asking_for_more_puzzles_than_there_are_is_an_error(count):
    """The error says how many there are."""
    with pytest.raises(HarnessError, match="1362"):
        generate_puzzles(count, seed=0)
