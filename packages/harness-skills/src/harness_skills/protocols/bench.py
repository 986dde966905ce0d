"""The tasks of a protocol: some to learn from, others held out, families in equal shares."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from harness_core.errors import SpecError
from harness_core.registry import load
from harness_core.spec import StackSpec, make
from harness_core.values import JsonDict, Task

TRAIN = "train"
"""The split to learn from, where the env has splits; all others are held out."""


@frozen
class Bench:
    """Tasks of one env.

    Args:
        env: its id.
        options: of its constructor.
        train: to learn from.
        test: never learned from.
    """

    env: str
    options: JsonDict
    train: tuple[Task, ...]
    test: tuple[Task, ...]

    @property
    def families(self) -> tuple[str, ...]:
        """Of the held-out tasks, ordered by name."""
        return tuple(sorted({task.family for task in self.test}))

    def stacks(self, tasks: Sequence[Task]) -> tuple[StackSpec, ...]:
        """The tasks as they are."""
        return tuple(StackSpec(self.env, task.id, options=self.options) for task in tasks)

    def without(self, family: str) -> Bench:
        """To learn from: all families but one; held out: that one."""
        return Bench(
            self.env,
            self.options,
            tuple(task for task in self.train if task.family != family),
            tuple(task for task in self.test if task.family == family),
        )


def draw(env: str, options: JsonDict, train: int, test: int, seed: int) -> Bench:
    """Draws tasks of an env, the families in turn.

    Where the env has a split `"train"`, the held-out tasks are of the other splits; else they are
    other tasks than those that are learned from.

    Raises:
        SpecError: there are too few.
    """
    with make(env, **options) as made:
        known = list(made.list_tasks())
    learn = [task for task in known if task.split == TRAIN]
    held = [task for task in known if task.split != TRAIN]
    if learn and held:
        learned, held_out = _in_turn(learn, train, seed), _in_turn(held, test, seed)
    else:
        drawn = _in_turn(known, train + test, seed)
        held_out, learned = drawn[:test], drawn[test:]
    if len(learned) < train or len(held_out) < test:
        raise SpecError(
            f"Env {env!r} has {len(learned)} tasks to learn from and {len(held_out)} to hold out; "
            f"{train} and {test} are asked for. Choose a smaller scale, or other options."
        )
    return Bench(env, options, tuple(learned), tuple(held_out))


def generated(env: str, folder: Path, train: int, test: int, seed: int, **knobs: object) -> Bench:
    """Tasks that the env itself generates, all of them new, into `folder`.

    Raises:
        SpecError: the env generates none.
    """
    make_tasks = getattr(load("env", env), "generate_tasks", None)
    if make_tasks is None:
        raise SpecError(f"Env {env!r} generates no tasks: leave --option generate=true out.")
    drawn: list[Task] = list(make_tasks(folder, train + test, seed=seed, **knobs))
    held_out = _in_turn(drawn, test, seed)
    taken = {task.id for task in held_out}
    learned = [task for task in drawn if task.id not in taken]
    return Bench(env, {"games": str(folder)}, tuple(learned), tuple(held_out))


def _in_turn(tasks: Sequence[Task], count: int, seed: int) -> list[Task]:
    """`count` of the tasks: one of each family, then the next of each, drawn by the seed."""
    families: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda task: task.id):
        families.setdefault(task.family, []).append(task)
    chance = random.Random(seed)
    for members in families.values():
        chance.shuffle(members)
    longest = max(map(len, families.values()), default=0)
    turns = [
        members[turn] for turn in range(longest) for members in families.values()
        if turn < len(members)
    ]  # fmt: skip
    return turns[:count]
