"""`Bank`: skills, and every change that led to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from attrs import frozen

from harness_core.errors import SpecError, UnknownIdError
from harness_core.rates import Rate
from harness_core.serial import digest_of, to_data
from harness_skills.item import Skill
from harness_skills.operations import Held, Operation, applied


@frozen
class Change:
    """What led from one version of a bank to the next.

    Args:
        operations: in order, evictions included.
        restores: number of an earlier version that is taken back to; then nothing else happens.
        note: who changed it, and why.
    """

    operations: tuple[Operation, ...] = ()
    restores: int | None = None
    note: str = ""


@frozen(slots=False)
class BankVersion:
    """The skills of a bank at one time. It never changes, so evaluations read this.

    Args:
        number: how many changes led to it.
        skills: in the bank's order.
    """

    number: int
    skills: tuple[Skill, ...]

    @cached_property
    def digest(self) -> str:
        """Content hash of the skills, 64 hexadecimal digits."""
        return digest_of([to_data(skill) for skill in self.skills])

    @property
    def categories(self) -> Mapping[str, int]:
        """How many skills each category has, ordered by name."""
        return dict(sorted(Counter(skill.category for skill in self.skills).items()))

    def skill(self, id: str) -> Skill:
        """One skill.

        Raises:
            UnknownIdError: it is not in this version.
        """
        for skill in self.skills:
            if skill.id == id:
                return skill
        raise UnknownIdError("skill", id, [skill.id for skill in self.skills])

    def to_markdown(self) -> str:
        """A page with a section for each category."""
        parts = [f"# Skills, version {self.number}\n\n{len(self.skills)} skills, {self.digest}\n"]
        for category in self.categories:
            parts.append(f"## {category}\n")
            parts += [each.to_markdown() for each in self.skills if each.category == category]
        return "\n".join(parts)


@frozen
class Use:
    """How often a skill was given to a policy, and how often that solved the task."""

    shown: int = 0
    solved: int = 0

    def __add__(self, other: Use) -> Use:
        return Use(self.shown + other.shown, self.solved + other.solved)

    @property
    def rate(self) -> Rate:
        """Of the episodes that it was given in."""
        return Rate(self.solved, self.shown)


class Bank:
    """Skills in categories, each of limited size.

    A change is a list of operations that happens as a whole or not at all. Where it makes a
    category too large, the skills that were used least leave it; new ones are safe at first, since
    they had no chance to be of use. Use is counted beside the versions: reading changes no digest.

    Args:
        capacity: skills of a category.
        grace: changes that a new skill outlives in any case.

    Raises:
        SpecError: a capacity below 1 or a grace below 0.
    """

    def __init__(self, capacity: int = 80, grace: int = 1) -> None:
        if capacity < 1 or grace < 0:
            raise SpecError(
                f"A bank has a capacity from 1 and a grace from 0; got {capacity} and {grace}."
            )
        self.capacity, self.grace = capacity, grace
        self._changes: list[Change] = []
        self._state: dict[str, Held] = {}
        self.uses: dict[str, Use] = {}

    @property
    def number(self) -> int:
        """Of the current version: how many changes there were."""
        return len(self._changes)

    @property
    def log(self) -> tuple[Change, ...]:
        """Every change; the first leads to version 1."""
        return tuple(self._changes)

    def freeze(self, number: int | None = None) -> BankVersion:
        """The current version, or an earlier one, rebuilt from the log.

        Raises:
            SpecError: there is no such version.
        """
        state = self._state if number is None else self._at(number)
        skills = tuple(held.skill for held in state.values())
        return BankVersion(self.number if number is None else number, skills)

    def apply(self, operations: Iterable[Operation], note: str = "") -> BankVersion:
        """Changes the bank by all of `operations`; nothing happens where one of them fails.

        Operations that would crowd a category with skills that may not leave it yet are turned
        into skips, the last ones first.

        Raises:
            SpecError: an operation that does not fit the bank.
        """
        wanted = list(operations)
        state = applied(self._state, wanted, self.number + 1)
        while crowded := self._crowded(state):
            category, count = crowded
            places = [at for at, each in enumerate(wanted) if _brings_into(each, category)]
            for at in places[-count:]:
                reason = f"{category} is full of skills in their first {self.grace} changes"
                wanted[at] = Operation("skip", wanted[at].skill, reason=reason)
            state = applied(self._state, wanted, self.number + 1)
        evictions = self._evictions(state)
        state = applied(state, evictions, self.number + 1)
        self._take(Change((*wanted, *evictions), note=note), state)
        return self.freeze()

    def rollback(self, number: int, note: str = "") -> BankVersion:
        """Makes an earlier version the current one. The log goes on, so this can be undone too.

        Raises:
            SpecError: there is no such version.
        """
        self._take(Change(restores=number, note=note), self._at(number))
        return self.freeze()

    def credit(self, ids: Iterable[str], solved: bool) -> None:
        """Notes that an episode was given these skills, and how it ended."""
        for id in ids:
            self.uses[id] = self.uses.get(id, Use()) + Use(1, int(solved))

    def resume(self, changes: Iterable[Change], uses: Mapping[str, Use]) -> None:
        """Takes over the log and the uses of another bank in place of its own.

        Raises:
            SpecError: a change does not fit those before it; nothing happened.
        """
        log = list(changes)
        state = _replayed(log)
        self._changes, self._state, self.uses = log, state, dict(uses)

    def _take(self, change: Change, state: dict[str, Held]) -> None:
        self._state = state
        self._changes.append(change)
        for operation in change.operations:
            if operation.skill and operation.kind in ("update", "merge"):
                before = [self.uses.get(id, Use()) for id in operation.targets]
                self.uses[operation.skill.id] = sum(before, Use())

    def _at(self, number: int) -> dict[str, Held]:
        if not 0 <= number <= self.number:
            raise SpecError(f"The bank has the versions 0 to {self.number}, not {number}.")
        return _replayed(self._changes[:number])

    def _categories(self, state: dict[str, Held]) -> Iterator[tuple[str, int, list[str]]]:
        """Each category with how many skills it has too many, and those that may leave it."""
        inside: dict[str, list[str]] = {}
        for id, held in state.items():
            inside.setdefault(held.skill.category, []).append(id)
        for category, ids in sorted(inside.items()):
            leaving = [id for id in ids if self.number + 1 - state[id].since > self.grace]
            yield category, max(0, len(ids) - self.capacity), leaving

    def _crowded(self, state: dict[str, Held]) -> tuple[str, int] | None:
        """A category that stays too large whoever leaves it, and by how many."""
        for category, surplus, leaving in self._categories(state):
            if surplus > len(leaving):
                return category, surplus - len(leaving)
        return None

    def _evictions(self, state: dict[str, Held]) -> list[Operation]:
        evictions = []
        for _, surplus, leaving in self._categories(state):
            for id in sorted(leaving, key=self._worth)[:surplus]:
                uses = self.uses.get(id, Use()).shown
                reason = f"least used of a full category ({uses} uses)"
                evictions.append(Operation("remove", targets=(id,), reason=reason))
        return evictions

    def _worth(self, id: str) -> tuple[int, int]:
        """The first to leave has the smallest: fewest uses, then fewest successes."""
        use = self.uses.get(id, Use())
        return use.shown, use.solved


def _brings_into(operation: Operation, category: str) -> bool:
    skill = operation.skill
    return operation.kind != "skip" and skill is not None and skill.category == category


def _replayed(changes: list[Change]) -> dict[str, Held]:
    """The skills after all of `changes`."""
    wanted = {change.restores for change in changes}
    state: dict[str, Held] = {}
    kept = {0: state}
    for number, change in enumerate(changes, start=1):
        if change.restores is None:
            state = applied(state, change.operations, number)
        elif change.restores in kept:
            state = kept[change.restores]
        else:
            raise SpecError(f"Change {number} restores version {change.restores}: there is none.")
        if number in wanted:
            kept[number] = state
    return state
