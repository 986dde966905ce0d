"""What can happen to a bank, as data; and what that makes of its skills."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from attrs import frozen

from harness_core.errors import SpecError
from harness_skills.item import Skill

Kind = Literal["add", "update", "merge", "remove", "skip"]


@frozen
class Operation:
    """One thing that happens to a bank.

    Args:
        kind: `"add"` a new skill, `"update"` one, `"merge"` some into one, `"remove"` some, or
            `"skip"`: nothing happens, which is noted.
        skill: what comes in; none for a removal.
        targets: ids of the skills that it takes the place of, or that go.
        reason: why.
    """

    kind: Kind
    skill: Skill | None = None
    targets: tuple[str, ...] = ()
    reason: str = ""

    def __attrs_post_init__(self) -> None:
        needs_skill = self.kind in ("add", "update", "merge")
        count = len(set(self.targets))
        fits = {"add": count == 0, "update": count == 1, "skip": count == 0}.get(
            self.kind, count >= 1
        )
        if not fits or (needs_skill and self.skill is None) or count != len(self.targets):
            raise SpecError(
                f"A {self.kind!r} with the targets {list(self.targets)} and "
                f"{'a' if self.skill else 'no'} skill makes no sense. add: a skill; update: a "
                "skill and 1 target; merge: a skill and the targets that it replaces; remove: "
                "targets; skip: no targets."
            )


@frozen
class Held:
    """A skill in a bank.

    Args:
        skill: itself.
        since: number of the bank's version that it came with; updates do not change it.
    """

    skill: Skill
    since: int


def applied(
    state: dict[str, Held], operations: Iterable[Operation], number: int
) -> dict[str, Held]:
    """What `operations` make of a bank's skills.

    Args:
        state: by id, in the bank's order; it stays as it is.
        operations: one after the other.
        number: of the version that they lead to.

    Raises:
        SpecError: one of them names a skill that is not there, or brings in one that is.
    """
    after = dict(state)
    for operation in operations:
        missing = [id for id in operation.targets if id not in after]
        if missing:
            raise SpecError(f"Cannot {operation.kind} {missing[0]!r}: the bank has no such skill.")
        if operation.kind == "skip":
            continue
        gone = [after.pop(id) for id in operation.targets]
        skill = operation.skill
        if operation.kind == "remove" or skill is None:
            continue
        if skill.id in after:
            raise SpecError(
                f"Cannot {operation.kind} {skill.title!r}: the bank has the same skill already, "
                f"{skill.id}. Merge them."
            )
        after[skill.id] = Held(skill, min((each.since for each in gone), default=number))
    return after
