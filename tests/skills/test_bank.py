"""Banks: operations, versions, capacity and use."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_core.errors import SpecError, UnknownIdError
from harness_skills.bank import Bank, Use
from harness_skills.operations import Kind, Operation
from support.skills import skill


def add(*titles: str, category: str = "strategy") -> list[Operation]:
    return [Operation("add", skill(title, category=category)) for title in titles]


def titles(bank: Bank, number: int | None = None) -> list[str]:
    return [each.title for each in bank.freeze(number).skills]


def id_of(bank: Bank, title: str) -> str:
    return next(each.id for each in bank.freeze().skills if each.title == title)


def test_every_operation_does_what_it_says() -> None:
    """Add, update, merge, remove and skip, each in its own change."""
    bank = Bank()
    bank.apply(add("a", "b", "c"))
    bank.apply([Operation("update", skill("a2"), (id_of(bank, "a"),))])
    assert titles(bank) == ["b", "c", "a2"]
    bank.apply([Operation("merge", skill("bc"), (id_of(bank, "b"), id_of(bank, "c")))])
    assert titles(bank) == ["a2", "bc"]
    bank.apply([Operation("remove", targets=(id_of(bank, "a2"),))])
    bank.apply([Operation("skip", skill("d"), reason="not worth it")])
    assert titles(bank) == ["bc"]
    assert bank.number == 5
    assert bank.log[-1].operations[0].reason == "not worth it"


def test_a_change_happens_as_a_whole_or_not_at_all() -> None:
    """An operation that does not fit leaves skills, log and uses as they were."""
    bank = Bank()
    bank.apply(add("a"))
    before = bank.freeze()
    with pytest.raises(SpecError, match="no such skill"):
        bank.apply([*add("b"), Operation("remove", targets=("nobody",))])
    with pytest.raises(SpecError, match="the same skill already"):
        bank.apply([*add("c"), *add("a")])
    assert (bank.freeze(), bank.number, bank.uses) == (before, 1, {})


@pytest.mark.parametrize(
    ("kind", "with_skill", "targets"),
    [
        ("add", False, ()),
        ("add", True, ("x",)),
        ("update", True, ()),
        ("update", True, ("x", "y")),
        ("merge", True, ()),
        ("merge", False, ("x",)),
        ("merge", True, ("x", "x")),
        ("remove", False, ()),
        ("skip", False, ("x",)),
    ],
)
def test_senseless_operations_are_refused(
    kind: Kind, with_skill: bool, targets: tuple[str, ...]
) -> None:
    """Whatever lacks a skill or a target, or has too many, cannot be made."""
    with pytest.raises(SpecError, match="makes no sense"):
        Operation(kind, skill("a") if with_skill else None, targets)


def test_the_least_used_leaves_a_full_category() -> None:
    """Fewest uses first, then fewest successes, then the oldest; other categories stay."""
    bank = Bank(capacity=3, grace=0)
    bank.apply([*add("a", "b", "c"), *add("other", category="pitfall")])
    bank.credit([id_of(bank, "a"), id_of(bank, "b"), id_of(bank, "c")], solved=False)
    bank.credit([id_of(bank, "b")], solved=True)
    bank.apply(add("d"))
    assert titles(bank) == ["b", "c", "other", "d"]
    assert "least used of a full category (1 uses)" in bank.log[-1].operations[-1].reason
    bank.credit([id_of(bank, "c")], solved=False)
    bank.credit([id_of(bank, "d")] * 3, solved=False)
    bank.apply(add("e"))
    assert titles(bank) == ["b", "other", "d", "e"]


def test_new_skills_are_safe_for_a_while() -> None:
    """A skill without uses outlives the next change where the grace is 1, and no longer."""
    bank = Bank(capacity=2, grace=1)
    bank.apply(add("a", "b"))
    bank.credit([id_of(bank, "a")], solved=True)
    bank.apply(add("c"))
    assert titles(bank) == ["a", "b"]
    assert bank.log[-1].operations[0].kind == "skip"
    assert "first 1 changes" in bank.log[-1].operations[0].reason
    bank.apply(add("d"))
    assert titles(bank) == ["a", "d"]


def test_uses_go_on_to_what_takes_a_skills_place() -> None:
    """A merged skill has the uses of all that it was made of; an earlier version keeps its own."""
    bank = Bank()
    bank.apply(add("a", "b"))
    a, b = id_of(bank, "a"), id_of(bank, "b")
    bank.credit([a, b], solved=True)
    bank.credit([b], solved=False)
    bank.apply([Operation("merge", skill("ab"), (a, b))])
    assert bank.uses[skill("ab").id] == Use(3, 2)
    bank.rollback(1)
    assert bank.uses[b] == Use(2, 1)
    assert bank.uses[b].rate.value == 0.5


def test_use_changes_no_digest() -> None:
    """Reading a bank leaves its version what it was."""
    bank = Bank()
    before = bank.apply(add("a")).digest
    bank.credit([id_of(bank, "a")], solved=True)
    assert bank.freeze().digest == before


def test_a_frozen_version_stays() -> None:
    """What happens to the bank later does not reach it."""
    bank = Bank()
    frozen = bank.apply(add("a"))
    bank.apply(add("b"))
    assert [each.title for each in frozen.skills] == ["a"]
    assert frozen == bank.freeze(1)
    with pytest.raises(UnknownIdError, match="There is no skill"):
        frozen.skill("nobody")


def test_versions_that_are_not_there_are_told() -> None:
    """Rolling back to one, or reading one, names those that exist."""
    bank = Bank()
    bank.apply(add("a"))
    for number in (-1, 2):
        with pytest.raises(SpecError, match="versions 0 to 1"):
            bank.rollback(number)
        with pytest.raises(SpecError, match="versions 0 to 1"):
            bank.freeze(number)


def test_a_rollback_can_be_taken_back() -> None:
    """The log goes on, so the version before the rollback is still there."""
    bank = Bank()
    bank.apply(add("a"))
    full = bank.apply(add("b")).digest
    assert bank.rollback(1).digest == bank.freeze(1).digest
    assert bank.rollback(2).digest == full


def test_markdown_has_a_section_for_each_category() -> None:
    """Every skill is under the heading of its category."""
    bank = Bank()
    text = bank.apply([*add("a"), *add("b", category="pitfall"), *add("c")]).to_markdown()
    order = [text.index(each) for each in ("## pitfall", "### b", "## strategy", "### a", "### c")]
    assert order == sorted(order)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.integers(0, 30), min_size=1, max_size=4)),
        st.tuples(st.just("replace"), st.lists(st.integers(0, 30), min_size=1, max_size=3)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 30), min_size=1, max_size=2)),
        st.tuples(st.just("credit"), st.lists(st.integers(0, 30), min_size=1, max_size=5)),
        st.tuples(st.just("rollback"), st.lists(st.integers(0, 30), min_size=1, max_size=1)),
    ),
    max_size=15,
)


def play(bank: Bank, kind: str, numbers: list[int], step: int) -> None:
    """One arbitrary step in a bank's life."""
    skills = bank.freeze().skills
    named = tuple(dict.fromkeys(skills[n % len(skills)].id for n in numbers)) if skills else ()
    category = f"c{numbers[0] % 3}"
    if kind == "add":
        bank.apply(add(*(f"s{step}-{n}" for n in dict.fromkeys(numbers)), category=category))
    elif kind == "rollback":
        bank.rollback(numbers[0] % (bank.number + 1))
    elif kind == "credit":
        bank.credit(named, numbers[0] % 2 == 0)
    elif kind == "replace" and named:
        bank.apply([Operation("merge", skill(f"m{step}", category=category), named)])
    elif kind == "remove" and named:
        bank.apply([Operation("remove", targets=named)])


@settings(deadline=None)
@given(STEPS, st.integers(1, 4), st.integers(0, 3))
def test_laws_of_a_banks_life(
    steps: list[tuple[str, list[int]]], capacity: int, grace: int
) -> None:
    """No category is ever too large; each version stays what it was; the log replays to it."""
    bank = Bank(capacity, grace)
    seen = [bank.freeze()]
    for step, (kind, numbers) in enumerate(steps):
        play(bank, kind, numbers, step)
        assert all(count <= capacity for count in bank.freeze().categories.values())
        if bank.number == len(seen):
            seen.append(bank.freeze())
    assert [bank.freeze(number) for number in range(bank.number + 1)] == seen
    copy = Bank(capacity, grace)
    copy.resume(bank.log, bank.uses)
    assert copy.freeze() == bank.freeze()
    for number in range(bank.number + 1):
        bank.rollback(number)
        assert bank.freeze().digest == seen[number].digest


@settings(deadline=None)
@given(STEPS, st.integers(1, 4), st.integers(0, 3))
def test_nobody_is_evicted_within_the_grace(
    steps: list[tuple[str, list[int]]], capacity: int, grace: int
) -> None:
    """A skill that came in leaves by an eviction only after more than `grace` further changes."""
    bank = Bank(capacity, grace)
    since: dict[str, int] = {}
    for step, (kind, numbers) in enumerate(steps):
        if kind == "rollback":
            continue
        play(bank, kind, numbers, step)
        for operation in bank.log[-1].operations if bank.log else ():
            if operation.kind == "add" and operation.skill:
                since.setdefault(operation.skill.id, bank.number)
            if operation.reason.startswith("least used"):
                (gone,) = operation.targets
                assert bank.number - since.get(gone, -99) > grace
