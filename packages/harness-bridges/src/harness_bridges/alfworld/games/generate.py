"""Generating games: seeded rooms, objects and tasks, each with a shortest plan that was played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from harness_bridges.alfworld.games import catalogue
from harness_bridges.alfworld.games.files import Game, game_content, write_game
from harness_bridges.alfworld.games.knobs import Knobs
from harness_bridges.alfworld.games.problem import Problem
from harness_bridges.alfworld.games.room import (
    Receptacle,
    Room,
    Thing,
    build_room,
    place,
    with_doors,
)
from harness_bridges.alfworld.games.task import (
    BY_NAME,
    LOOK,
    Family,
    TaskSpec,
    goal_receptacles,
)
from harness_core.errors import HarnessError, UnknownIdError

TRIES = 200
"""Games that are drawn before none with the wanted plan length is taken to exist."""


def generate_games(
    root: Path,
    *,
    count: int,
    seed: int = 0,
    split: str = "train",
    families: Sequence[str] | None = None,
    rooms: Sequence[str] | None = None,
    receptacles: int | None = None,
    closed: float = 1.0,
    hidden: bool | None = None,
    distractors: int | None = None,
    spares: int | None = None,
    plan_length: tuple[int, int] | None = None,
) -> list[Game]:
    """Writes games into a data root; what is there already is kept.

    The same arguments give the same files, to the byte; a larger `count` adds to them. The
    families take turns. `valid_unseen` has rooms of its own; the others share theirs. Every
    file holds a shortest plan, `walkthrough`, which was played to its end. What is left out is
    as in the benchmark.

    Args:
        root: the data root; it gets the folder `split`.
        count: how many games.
        seed: all the randomness there is.
        split: `"train"`, `"valid_seen"` or `"valid_unseen"`.
        families: a choice of `FAMILIES`; default: all that the rooms offer.
        rooms: a choice of `"kitchen"`, `"livingroom"`, `"bedroom"`, `"bathroom"`; default all.
        receptacles: how many places a room has, 2 to 200. More of them take longer to search.
        closed: the share of the doors that are closed at first, 0 to 1; the others stand open.
        hidden: how deep the target objects lie. True: behind closed doors; False: in plain
            sight; None: either.
        distractors: objects of other types, 0 to 500; default: one to two for each receptacle.
        spares: objects of the target type that the task does not need, 0 to 50, which make it
            easier; default: 0 to 2.
        plan_length: the least and the greatest number of commands of a shortest plan.

    Raises:
        UnknownIdError: an unknown split, family or room.
        HarnessError: a knob out of bounds, or no room has what they ask for together.
    """
    asked = {} if families is None else {"families": families}
    knobs = Knobs(
        rooms, receptacles=receptacles, closed=closed, hidden=hidden, distractors=distractors,
        spares=spares, plan_length=plan_length, **asked,
    )  # fmt: skip
    drawn = list(draw_problems(count, seed=seed, split=split, knobs=knobs))
    return [write_game(Path(root), split, problem, steps) for problem, steps in drawn]


def draw_problems(
    count: int, *, seed: int = 0, split: str = "train", knobs: Knobs | None = None
) -> Iterator[tuple[Problem, list[str]]]:
    """The problems of `generate_games` with their shortest plans."""
    knobs = knobs or Knobs()
    if split not in catalogue.SPLITS:
        raise UnknownIdError("split", split, catalogue.SPLITS)
    for index in range(count):
        family = BY_NAME[knobs.families[index % len(knobs.families)]]
        rng = Random(f"{seed} {split} {index} {family.name}")
        yield _draw(family, split, knobs, rng)


def scenes(kind: str, split: str) -> list[int]:
    """The scene numbers of a room kind in a split."""
    unseen = split == "valid_unseen"
    return [scene for scene in catalogue.SCENES[kind] if (scene in catalogue.UNSEEN) is unseen]


def shortest_plan(problem: Problem) -> list[str]:
    """A shortest plan, which is played on the text that the file will hold.

    Raises:
        HarnessError: there is none.
    """
    from harness_bridges.alfworld.engine import Play, read_world
    from harness_bridges.alfworld.plan import plan

    world = read_world(game_content(problem), problem.trial)
    steps, play = plan(world), Play(world)
    if not steps or [play.act(step).won for step in steps] != [*[False] * (len(steps) - 1), True]:
        raise HarnessError(
            f"The generator made a game that {steps} does not solve; please report it:\n"
            f"{problem.pddl()}"
        )
    return steps


def _draw(family: Family, split: str, knobs: Knobs, rng: Random) -> tuple[Problem, list[str]]:
    """A problem of the family whose shortest plan has the wanted length."""
    lengths = set()
    for _ in range(TRIES):
        problem = _draw_problem(family, split, knobs, rng)
        steps = shortest_plan(problem)
        low, high = knobs.plan_length or (1, len(steps))
        if low <= len(steps) <= high:
            return problem, steps
        lengths.add(len(steps))
    raise HarnessError(
        f"None of {TRIES} games of {family.name} has a shortest plan of {low} to {high} commands; "
        f"theirs have {min(lengths)} to {max(lengths)}. Ask for that, or turn another knob: "
        "hidden and closed add doors."
    )


def _draw_problem(family: Family, split: str, knobs: Knobs, rng: Random) -> Problem:
    """A problem of the family, in the first of the shuffled rooms that offers one."""
    fitting = [kind for kind in family.kinds if kind in knobs.rooms]
    rng.shuffle(fitting)
    for kind in fitting:
        numbers = scenes(kind, split)
        rng.shuffle(numbers)
        for number in numbers:
            room = build_room(number, knobs.receptacles)
            if knobs.closed < 1:
                room = with_doors(room, knobs.closed, rng)
            task = _offer(family, room, knobs, rng)
            if task is not None:
                objects = _furnish(room, task, knobs, rng)
                return Problem(room, objects, task, task.sentence(rng.randrange(2)))
    raise HarnessError(
        f"No {' or '.join(fitting)} of the split {split} has room for {family.name} with {knobs}. "
        "Turn one of these knobs, or allow other rooms."
    )


def _offer(family: Family, room: Room, knobs: Knobs, rng: Random) -> TaskSpec | None:
    """A task of the family that this room can ask for."""
    if family.tool and not any(each.type == family.tool for each in room.receptacles):
        return None
    if family.name == LOOK:
        ends = {thing.type for thing in room.fixtures if thing.type == "DeskLamp"}
    else:
        ends = {receptacle.type for receptacle in room.receptacles}
    stock = catalogue.STOCK[room.kind]
    for object_ in rng.sample(stock, len(stock)):
        if family.objects and object_ not in family.objects:
            continue
        allowed = (
            ends if family.name == LOOK else ends.intersection(goal_receptacles(family, object_))
        )
        tasks = [TaskSpec(family.name, object_, end) for end in sorted(allowed)]
        fitting = [task for task in tasks if _enough(_starts(room, task, knobs), family, knobs)]
        if fitting:
            return rng.choice(fitting)
    return None


def _starts(room: Room, task: TaskSpec, knobs: Knobs) -> list[Receptacle]:
    """Where the target objects may lie at first: not where that would be half the solution."""
    solved = "" if BY_NAME[task.family].verb else task.receptacle
    return [
        each
        for each in room.receptacles
        if task.object in catalogue.HOLDS[each.type]
        and each.type != solved
        and knobs.hidden in (None, each.closed)
    ]


def _enough(starts: Sequence[Receptacle], family: Family, knobs: Knobs) -> bool:
    """Whether all targets find a place there."""
    wide = any(each.type not in catalogue.SINGLE for each in starts)
    return wide or len(starts) >= family.copies + (knobs.spares or 0)


def _furnish(room: Room, task: TaskSpec, knobs: Knobs, rng: Random) -> tuple[Thing, ...]:
    """The objects of the room: those that the task is about, and others of the room's kind."""
    objects: dict[str, Thing] = {}
    spares = rng.choice((0, 0, 1, 2)) if knobs.spares is None else knobs.spares
    starts = _starts(room, task, knobs)
    for _ in range(BY_NAME[task.family].copies + spares):
        _add(task.object, starts, objects, rng)
    places = len(room.receptacles)
    wanted = knobs.distractors
    if wanted is None:
        wanted = rng.randint(places, 9 * places // 5)
    others = [each for each in catalogue.STOCK[room.kind] if each != task.object]
    wanted += len(objects)
    while len(objects) < wanted:
        rng.shuffle(others)
        for type_ in others:
            spots = [each for each in room.receptacles if type_ in catalogue.HOLDS[each.type]]
            for _ in range(min(rng.choice((1, 1, 2, 3)), wanted - len(objects))):
                _add(type_, spots, objects, rng)
    return tuple(objects[id_] for id_ in sorted(objects))


def _add(type_: str, spots: Sequence[Receptacle], objects: dict[str, Thing], rng: Random) -> None:
    """Puts one more object into one of the spots: each receptacle type is equally likely."""
    taken = {thing.receptacle for thing in objects.values()}
    free = [each for each in spots if each.type not in catalogue.SINGLE or each.id not in taken]
    if not free:
        return
    chosen = rng.choice(sorted({receptacle.type for receptacle in free}))
    receptacle = rng.choice([each for each in free if each.type == chosen])
    thing = place(type_, receptacle, rng)
    while thing.id in objects:
        thing = place(type_, receptacle, rng)
    objects[thing.id] = thing
