"""Walks: the commands that engines are compared on, sensible and not, the same for one seed.

A walk is a generator: it yields a command and is sent the answer. It knows a game from its
answers alone, so that it can lead any engine, and it never ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from random import Random

from harness_bridges.alfworld.frame import Frame

Walk = Generator[str, Frame, None]

_NAME = re.compile(r"\w+ \d+")


def start_walk(kind: str, seed: str, plan: Sequence[str], frame: Frame) -> Walk:
    """A walk through a game from its first answer on.

    Args:
        kind: a key of `KINDS`.
        seed: all the randomness there is.
        plan: the game's stored walkthrough, which a directed walk follows.
        frame: the engine's first answer.
    """
    return KINDS[kind](frame, plan, Random(seed))


def _random(frame: Frame, plan: Sequence[str], rng: Random) -> Walk:
    """Admissible commands."""
    while True:
        frame = yield _pick(frame, rng)


def _adversarial(frame: Frame, plan: Sequence[str], rng: Random) -> Walk:
    """Admissible commands, and as many that are almost admissible, or nothing of the kind."""
    seen: dict[str, None] = {}
    while True:
        seen |= dict.fromkeys(_NAME.findall(frame.text))
        tricky = rng.random() < 0.5
        frame = yield rng.choice(_TRICKS)(frame, [*seen], rng) if tricky else _pick(frame, rng)


def _directed(frame: Frame, plan: Sequence[str], rng: Random) -> Walk:
    """The stored plan with disturbances; after its end anything, so that the win may be undone."""
    for command in plan:
        while rng.random() < 0.3:
            frame = yield _disturbance(frame, rng)
        frame = yield command
    yield from _random(frame, plan, rng)


def _scripted(frame: Frame, plan: Sequence[str], rng: Random) -> Walk:
    """The scenes below, in random order."""
    while True:
        frame = yield "inventory"
        took: dict[str, str] = {}
        for part in re.split("; *", rng.choice(SCENES)):
            roam = part.startswith("@")
            pattern = part.removeprefix("@").format_map(_Blank(took))
            if roam:
                frame = yield from _roam(frame, pattern, rng)
            if found := _matching(frame, pattern):
                command = rng.choice(found)
                took[command.split()[0]] = _NAME.findall(command)[0] if " " in command else ""
                frame = yield command


KINDS: dict[str, Callable[[Frame, Sequence[str], Random], Walk]] = {
    "random": _random,
    "adversarial": _adversarial,
    "directed": _directed,
    "scripted": _scripted,
}

_PUT = "(move|put) .*"
_AGAIN = f"{_PUT}; look; take {{take}}; look"
_TOOL = "go to (fridge|microwave|sinkbasin)"
_TREAT = "heat|cool|clean"
_FOOD = "(apple|bread|cup|egg|mug|plate|potato|tomato)"

SCENES = (
    f"@take; examine; {_AGAIN}; {_AGAIN}; {_AGAIN}; {_PUT}; take; look",
    (
        f"@take {_FOOD}; go to microwave; close; heat; examine; go to fridge; open; cool; examine;"
        f"go to sinkbasin; clean; examine; go to microwave; heat; examine; open; {_AGAIN}; examine"
    ),
    (
        f"@take; {_TOOL}; {_TREAT}; examine {{take}}; {_TOOL}; {_TREAT}; {_TREAT}; examine;"
        f"open; {_PUT}; look; close; take {{take}}; examine; {_TOOL}; {_TREAT}; examine {{take}}"
    ),
    (
        f"@take (butter)?knife; @slice; slice {{slice}}; examine; {_PUT}; @take {{slice}}; examine;"
        f"{_TOOL}; {_TREAT}; examine; {_TOOL}; {_TREAT}; examine; open; {_PUT}; look"
    ),
    f"@use; look; take {{use}}; examine; {_PUT}; use; take {{use}}; examine; go to; look",
    f"@take; go to; @use; examine {{take}}; {_PUT}; take {{use}}; examine {{use}}",
    f"open; open; look; take; close; close; examine; {_PUT}; open; {_PUT}; look",
)
"""Each part is a pattern for the start of a command; one of those that match and are admissible is
played, else the part is left out. `{take}` is the object last taken. With `@` the walk goes
around and opens things until the part can be played."""


class _Blank(dict[str, str]):
    """What no earlier part named matches anything."""

    def __missing__(self, key: str) -> str:
        return ""


def _matching(frame: Frame, pattern: str) -> list[str]:
    return [command for command in frame.admissible if re.match(pattern, command)]


def _roam(frame: Frame, pattern: str, rng: Random) -> Generator[str, Frame, Frame]:
    """Goes to place after place, and opens each, until a command matches."""
    places = _matching(frame, "go to ")
    rng.shuffle(places)
    for place in places:
        if _matching(frame, pattern):
            break
        frame = yield place
        for command in _matching(frame, "open "):
            frame = yield command
    return frame


def _pick(frame: Frame, rng: Random) -> str:
    """An admissible command, mostly of a verb drawn first: most commands go somewhere."""
    commands = frame.admissible
    if rng.random() < 0.7:
        verb = rng.choice(sorted({command.split()[0] for command in commands}))
        commands = [command for command in commands if command.split()[0] == verb]
    return rng.choice(commands)


def _disturbance(frame: Frame, rng: Random) -> str:
    """Mostly something that leaves a plan feasible."""
    if rng.random() < 0.1:
        return _pick(frame, rng)
    harmless = _matching(frame, "look|inventory|help|examine|open|heat|cool|clean|use|slice")
    return rng.choice([*harmless, " look ", "Look", "dance"])


def _respelled(frame: Frame, seen: list[str], rng: Random) -> str:
    command = _pick(frame, rng)
    ways = (
        *(command.upper(), command.title(), f"  {command}", f"{command}\n", f"\t{command} "),
        *(command.replace(" ", "  "), f"{command}.", f"'{command}'", command.replace(" 1", " 01")),
        *(command[:-1], command.rpartition(" ")[0], f"{command} {command}", f"{command}\0"),
        *(command.replace("o", "\u043e"), command.replace(" ", "\u00a0"), f"\u2003{command}"),
    )
    return rng.choice(ways)


def _renamed(frame: Frame, seen: list[str], rng: Random) -> str:
    """An admissible command with another name for one of its things."""
    command = _pick(frame, rng)
    names = _NAME.findall(command)
    return command.replace(rng.choice(names), _any(seen, rng)) if names else command


def _stay(frame: Frame, seen: list[str], rng: Random) -> str:
    """Where the agent stands already."""
    here = _matching(frame, "examine ") or ["examine"]
    return rng.choice(here).replace("examine", "go to")


def _verb(frame: Frame, seen: list[str], rng: Random) -> str:
    """A verb with names that need not suit it, such as something seen that is not held."""
    form = rng.choice(_FORMS)
    return form.format(_any(seen, rng), _any(seen, rng))


_FORMS = (
    *("examine {}", "examine {}", "open {}", "close {}", "use {}", "go to {}", "look at {}"),
    *("take {} from {}", "move {} to {}", "put {} in/on {}", "put {} in {}", "take {}"),
    *("heat {} with {}", "cool {} with {}", "clean {} with {}", "slice {} with {}", "turn on {}"),
)


def _reworded(frame: Frame, seen: list[str], rng: Random) -> str:
    """An admissible command in other words, such as those of the other wording."""
    return " ".join(_WORDS.get(word, word) for word in _pick(frame, rng).split(" "))


_WORDS = {
    "move": "put",
    "put": "move",
    "to": "in/on",
    "in/on": "to",
    "take": "get",
    "use": "toggle",
}


def _nonsense(frame: Frame, seen: list[str], rng: Random) -> str:
    return rng.choice(_NONSENSE)


_NONSENSE = (
    *(
        "",
        " ",
        "\n",
        "go",
        "go to",
        "go to nowhere 1",
        "go to loc 1",
        "take",
        "take all",
        "help me",
    ),
    *("dance", "LOOK", "look look", "look; inventory", "inventory ", "i", "examine agent1", "quit"),
    *("None", "0", "{}", "{o.name}", "#task#", "\u2603", "a" * 10_000),
)

_TRICKS = (_respelled, _renamed, _renamed, _stay, _verb, _verb, _reworded, _nonsense)


def _any(names: list[str], rng: Random) -> str:
    return rng.choice(names) if names else "desk 1"
