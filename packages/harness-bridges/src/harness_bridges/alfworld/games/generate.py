"""Generating games: seeded rooms, objects and tasks, each with a plan that was checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness_bridges.alfworld.games import catalogue
from harness_bridges.alfworld.games.files import Game, engine_texts, write_game
from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.room import Receptacle, Room, Size, Thing, build_room, place
from harness_bridges.alfworld.games.solve import plan, solves
from harness_bridges.alfworld.games.task import (
    BY_NAME,
    FAMILIES,
    LOOK,
    Family,
    TaskSpec,
    goal_receptacles,
)
from harness_core.errors import HarnessError, UnknownIdError

OBJECTS = {"small": (8, 10), "full": (16, 30)}
"""How many objects, at least and at most, lie in a room."""


def generate_games(
    root: Path,
    *,
    count: int,
    seed: int = 0,
    split: str = "train",
    families: Sequence[str] = FAMILIES,
    rooms: Sequence[str] | None = None,
    size: Size = "full",
    hidden: bool | None = None,
) -> list[Game]:
    """Writes games into a data root; what is there already is kept.

    The same arguments give the same files, to the byte; a larger `count` adds to them. The
    families take turns. `valid_unseen` has rooms of its own; the others share theirs.

    Args:
        root: the data root; it gets the folder `split`.
        count: how many games.
        seed: all the randomness there is.
        split: `"train"`, `"valid_seen"` or `"valid_unseen"`.
        families: a choice of `FAMILIES`.
        rooms: a choice of `"kitchen"`, `"livingroom"`, `"bedroom"`, `"bathroom"`; default all.
        size: `"full"`: as many receptacles and objects as the benchmark's rooms have;
            `"small"`: about eight to ten of each, which the engine plays several times faster.
        hidden: True: the target objects start behind closed doors; False: in plain sight.

    Raises:
        UnknownIdError: an unknown split, family, room or size.
        HarnessError: no room that is allowed offers a family.
        MissingExtraError: alfworld, whose texts go into the files, is not installed.
    """
    engine_texts()
    problems = draw_problems(
        count, seed=seed, split=split, families=families, rooms=rooms, size=size, hidden=hidden
    )
    return [write_game(Path(root), split, problem, steps) for problem, steps in problems]


def draw_problems(
    count: int,
    *,
    seed: int = 0,
    split: str = "train",
    families: Sequence[str] = FAMILIES,
    rooms: Sequence[str] | None = None,
    size: Size = "full",
    hidden: bool | None = None,
) -> Iterator[tuple[Problem, list[str]]]:
    """The problems of `generate_games` with their walkthroughs; needs nothing installed."""
    kinds = tuple(catalogue.SCENES) if rooms is None else tuple(rooms)
    for noun, asked, known in (
        ("split", [split], catalogue.SPLITS),
        ("family", families, FAMILIES),
        ("room kind", kinds, catalogue.SCENES),
        ("room size", [size], OBJECTS),
    ):
        for each in asked:
            if each not in known:
                raise UnknownIdError(noun, each, known)
    for name in families:
        if not set(kinds) & set(BY_NAME[name].kinds):
            raise HarnessError(
                f"No {' or '.join(kinds)} offers {name}, which needs a "
                f"{' or '.join(BY_NAME[name].kinds)}. Name other rooms, or other families."
            )
    for index in range(count):
        family = BY_NAME[families[index % len(families)]]
        rng = Random(f"{seed} {split} {index} {family.name} {kinds} {size} {hidden}")
        problem = _draw(family, split, kinds, size, hidden, rng)
        text = problem.pddl()
        steps = plan(text, problem.task)
        if steps is None or not solves(text, problem.task, steps):
            raise HarnessError(f"The generator made an unsolvable game; please report:\n{text}")
        yield problem, steps


def scenes(kind: str, split: str) -> list[int]:
    """The scene numbers of a room kind in a split."""
    unseen = split == "valid_unseen"
    return [scene for scene in catalogue.SCENES[kind] if (scene in catalogue.UNSEEN) is unseen]


def _draw(
    family: Family,
    split: str,
    kinds: Sequence[str],
    size: Size,
    hidden: bool | None,
    rng: Random,
) -> Problem:
    """A problem of the family, in the first of the shuffled rooms that offers one."""
    fitting = [kind for kind in family.kinds if kind in kinds]
    rng.shuffle(fitting)
    for kind in fitting:
        numbers = scenes(kind, split)
        rng.shuffle(numbers)
        for number in numbers:
            room = build_room(number, size)
            offers = _offers(family, room, hidden)
            if offers:
                object_ = rng.choice(sorted(offers))
                task = TaskSpec(family.name, object_, rng.choice(offers[object_]))
                objects = _furnish(room, task, size, hidden, rng)
                return Problem(room, objects, task, task.sentence(rng.randrange(2)))
    raise HarnessError(
        f"No room of {', '.join(fitting)} offers {family.name} with hidden={hidden}, "
        f"size={size!r}. Allow more rooms, or leave hidden out."
    )


def _offers(family: Family, room: Room, hidden: bool | None) -> dict[str, list[str]]:
    """What the family can ask for in this room: object type -> receptacle (or lamp) types."""
    if family.name == LOOK:
        goals = {thing.type for thing in room.fixtures if thing.type == "DeskLamp"}
    else:
        goals = {receptacle.type for receptacle in room.receptacles}
    offers = {}
    for object_ in catalogue.STOCK[room.kind]:
        if family.objects and object_ not in family.objects:
            continue
        allowed = (
            goals if family.name == LOOK else goals.intersection(goal_receptacles(family, object_))
        )
        offers[object_] = [
            goal
            for goal in sorted(allowed)
            if _starts(room, TaskSpec(family.name, object_, goal), hidden)
        ]
    return {object_: found for object_, found in offers.items() if found}


def _starts(room: Room, task: TaskSpec, hidden: bool | None) -> list[Receptacle]:
    """Where the target objects may lie at first: not where that would be half the solution."""
    solved = set() if BY_NAME[task.family].verb else {task.receptacle}
    return [
        receptacle
        for receptacle in room.receptacles
        if task.object in catalogue.HOLDS[receptacle.type]
        and receptacle.type not in solved
        and hidden in (None, receptacle.openable)
    ]


def _furnish(
    room: Room, task: TaskSpec, size: Size, hidden: bool | None, rng: Random
) -> tuple[Thing, ...]:
    """The objects of the room: those that the task is about, and others of the room's kind."""
    free = list(room.receptacles)
    targets = BY_NAME[task.family].copies - 1 + rng.choice((1, 1, 2, 3))
    starts = _starts(room, task, hidden)
    objects: list[Thing] = []
    for number in range(targets):
        spots = [each for each in starts if each in free]
        if number < BY_NAME[task.family].copies and not spots:
            spots = starts
        _add(task.object, spots, free, objects, rng)
    wanted = rng.randint(*OBJECTS[size])
    others = [each for each in catalogue.STOCK[room.kind] if each != task.object]
    rng.shuffle(others)
    for type_ in others:
        copies = min(rng.choice((1, 1, 2, 3)), wanted - len(objects))
        for _ in range(copies):
            spots = [each for each in free if type_ in catalogue.HOLDS[each.type]]
            _add(type_, spots, free, objects, rng)
    return tuple(sorted(objects, key=lambda thing: thing.id))


def _add(
    type_: str,
    spots: list[Receptacle],
    free: list[Receptacle],
    objects: list[Thing],
    rng: Random,
) -> None:
    """Puts one more object into one of the spots: each receptacle type is equally likely."""
    if not spots:
        return
    chosen = rng.choice(sorted({receptacle.type for receptacle in spots}))
    receptacle = rng.choice([each for each in spots if each.type == chosen])
    thing = place(type_, receptacle, rng)
    while any(thing.id == other.id for other in objects):
        thing = place(type_, receptacle, rng)
    objects.append(thing)
    if chosen in catalogue.SINGLE and receptacle in free:
        free.remove(receptacle)
