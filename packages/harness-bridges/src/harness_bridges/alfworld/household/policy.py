"""`HouseholdPolicy`: a competent agent for household tasks, without a model.

It reads what any agent reads: the text and, where they are shown, the admissible commands.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from harness_bridges.alfworld.household import lore
from harness_bridges.alfworld.household.goal import Goal, read_goal
from harness_bridges.alfworld.household.memory import REFUSED, Memory, kind
from harness_core.errors import PolicyError
from harness_core.policies import Decision
from harness_core.values import Action, Observation, Task, Tool

_TASK = re.compile(r"Your task is to: ([^.\n]*)")
_WELCOME = "-= Welcome"
_TRIES = 3
"""How often a command is tried that has no effect."""
SWEEPS = 2
"""How often the whole room is searched."""
_STRAYS = 3
"""How many commands that are not listed may fail before the list is believed."""
_VISITS = 4
"""How often a detour leads through the same place."""


class HouseholdPolicy:
    """Finds the object, treats it if asked to, and puts it where it belongs.

    It searches where such things usually are, in an order that the seed decides among equals. A
    command without effect is tried thrice, then something else. When the whole room has been
    searched twice it gives up.
    """

    beside_env = True

    def __init__(self) -> None:
        self._random = random.Random(0)
        self._enter("")

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        self._random = random.Random(seed)
        self._enter(task.goal)

    def _enter(self, sentence: str) -> None:
        """A room and a goal that nothing is known about yet."""
        self._sentence = sentence
        self.goal = read_goal(sentence)
        self.memory = Memory()
        self._admissible: list[str] = []
        self._failures: Counter[str] = Counter()
        self._visits: Counter[str] = Counter()
        self._order: dict[str, float] = {}
        self._sweeps = 1
        self._strays = 0
        self._last = ""
        self._acted = False

    def act(self, observation: Observation) -> Decision | None:
        """The next command; `None` when nothing is left to try.

        Raises:
            PolicyError: the goal is not understood.
        """
        self._read(observation)
        self._last = self._choose()
        return Decision(Action(text=self._last), text=self._last) if self._last else None

    def _read(self, observation: Observation) -> None:
        text = observation.text
        told = _TASK.findall(text)
        if told and (self._acted or told[-1].strip() != self._sentence):
            self._enter(told[-1].strip())
            text = text[max(0, text.rfind(_WELCOME)) :]  # what comes before is of another room
        before, tried = self._admissible, self._last
        self._admissible = list(observation.data.get("admissible") or ())
        self.memory.read(text, self._admissible)
        if tried and self._worked(tried, tried in before, text):
            self._acted = True
            self._visits[tried] += 1
            if tried.startswith("go to"):
                self._retry_ways()
        elif tried:
            self._note_failure(tried, tried in before, text)

    def _retry_ways(self) -> None:
        """Somewhere else now: each way that was barred deserves one more try."""
        for command in self._failures:
            if command.startswith("go to"):
                self._failures[command] = min(self._failures[command], _TRIES - 1)

    def _note_failure(self, command: str, was_admissible: bool, text: str) -> None:
        hopeless = "Nothing happens" in text and not was_admissible
        self._failures[command] += _TRIES if hopeless else 1
        if self._admissible and not was_admissible:
            self._strays += 1

    def _worked(self, command: str, was_admissible: bool, text: str) -> bool:
        """Whether the last command had its effect, as far as one can tell."""
        verb, *rest = command.split()
        name = " ".join(rest[1:3] if verb == "go" else rest[:2])
        memory = self.memory
        repeatable = verb in lore.TOOLS or verb == "use"
        answered = was_admissible and not REFUSED.search(text)
        if answered and (repeatable or command not in self._admissible):
            memory.believe(verb, name)
        if verb == "go":
            return name in memory.here
        if verb == "open":
            return not memory.places[name].closed
        if verb == "examine":
            return memory.places[name].seen
        if verb == "use":
            return name in memory.lit
        if verb in lore.TOOLS:
            return (verb, name) in memory.treated
        return memory.holding == name if verb == "take" else memory.holding != name

    def _choose(self) -> str:
        """The next command; empty to give up."""
        if self.goal is None:
            raise PolicyError(
                f"The household policy does not understand the task {self._sentence!r}. It knows "
                "the benchmark's twelve sentences, such as 'put a clean mug in desk'."
            )
        while True:
            options = list(dict.fromkeys(self._options(self.goal)))
            command = self._possible(options) or self._unlisted(options) or self._detour(options)
            if command:
                return command
            if self._sweeps == SWEEPS:
                return ""
            self._sweeps += 1
            self._failures.clear()
            self.memory.forget_contents()

    def _possible(self, options: list[str]) -> str:
        """The first option that is listed and has not failed too often."""
        fit = (o for o in options if o in self._admissible and self._failures[o] < _TRIES)
        return next(fit, "")

    def _unlisted(self, options: list[str]) -> str:
        """The first option that is not listed: the list may be withheld, or leave things out."""
        if self._admissible and self._strays >= _STRAYS:
            return ""
        tries = 1 if self._admissible else _TRIES
        return next((option for option in options if self._failures[option] < tries), "")

    def _detour(self, options: list[str]) -> str:
        """Where there is no direct way to go: the least visited of the ways there are."""
        if not any(option.startswith("go to") for option in options):
            return ""
        ways = [each for each in self._admissible if each.startswith("go to")]
        tried = {way: self._visits[way] + self._failures[way] for way in ways}
        return min((way for way in ways if tried[way] < _VISITS), key=tried.__getitem__, default="")

    def _options(self, goal: Goal) -> Iterator[str]:
        """Commands worth trying now, best first."""
        held = self.memory.holding
        if held and kind(held) != goal.object:
            yield from self._drop(held)
        elif held and goal.lamp:
            yield from self._light(goal)
        elif held and goal.verb and (goal.verb, held) not in self.memory.treated:
            for tool in self._nearest(lore.TOOLS[goal.verb]):
                yield from self._at(tool, f"{goal.verb} {held} with {tool}")
        elif held:
            for place in self._targets(goal):
                yield from self._put(held, place)
        else:
            yield from self._fetch(goal)

    def _fetch(self, goal: Goal) -> Iterator[str]:
        kept = self._kept(goal)
        for thing, place in self._known(goal.object):
            if (thing, place) not in kept:
                yield from self._open(place, f"take {thing} from {place}")
        if len(kept) < goal.copies:
            yield from self._search(goal.object)

    def _kept(self, goal: Goal) -> set[tuple[str, str]]:
        """What lies where it belongs."""
        if goal.lamp:
            return set()
        home = self._targets(goal)[0]
        return {
            (thing, place)
            for thing, place in self.memory.whereabouts(goal.object)
            if place == home and (not goal.verb or (goal.verb, thing) in self.memory.treated)
        }

    def _targets(self, goal: Goal) -> list[str]:
        """Where the object belongs: the place with most of its kind first."""
        counts = Counter(place for _, place in self.memory.whereabouts(goal.object))
        if goal.copies == 1:
            counts.clear()
        return sorted(self._nearest(goal.place), key=lambda name: -counts[name])

    def _known(self, wanted: str) -> list[tuple[str, str]]:
        """Where such things were seen, within reach first."""
        here = self.memory.here
        return sorted(self.memory.whereabouts(wanted), key=lambda found: found[1] not in here)

    def _nearest(self, wanted: str) -> list[str]:
        """Receptacles of a type, within reach first; their likely names if none is known."""
        known = self.memory.of_kind(wanted) or [f"{wanted} {number}" for number in (1, 2, 3)]
        here = self.memory.here
        return sorted(known, key=lambda name: (name not in here, int(name.split()[1])))

    def _at(self, place: str, command: str) -> Iterator[str]:
        """A command within reach of a place: the way there first."""
        if self._failures[command] < _TRIES:
            yield command if place in self.memory.here else f"go to {place}"

    def _open(self, place: str, command: str) -> Iterator[str]:
        """A command that needs the place's door open."""
        known = self.memory.places.get(place)
        closed = known is not None and known.closed
        if closed and not self._opens(place):
            return
        yield from self._at(place, f"open {place}" if closed else command)

    def _opens(self, place: str) -> bool:
        return True

    def _put(self, thing: str, place: str) -> Iterator[str]:
        old = f"put {thing} in/on {place}"
        new = f"move {thing} to {place}"
        yield from self._open(place, old if old in self._admissible else new)
        if not self._admissible and place in self.memory.here:
            yield old

    def _drop(self, thing: str) -> Iterator[str]:
        for place in (*self.memory.here, *self._ordered(thing)):
            yield from self._put(thing, place)

    def _light(self, goal: Goal) -> Iterator[str]:
        lamps = dict(self.memory.whereabouts(goal.lamp)) | self.memory.lamps
        for lamp, place in lamps.items():
            if kind(lamp) == goal.lamp and self._visits[f"use {lamp}"] < _TRIES:
                yield from self._at(place, f"use {lamp}")
        yield from self._search(goal.lamp)

    def _search(self, wanted: str) -> Iterator[str]:
        """Looking into every place that no one looked into yet."""
        names = self._ordered(wanted)
        for name in sorted(names, key=lambda name: name not in self.memory.here):
            if not self.memory.places[name].seen:
                yield from self._open(name, f"examine {name}")
        if not self._admissible:
            yield from self._guess(wanted)

    def _guess(self, wanted: str) -> Iterator[str]:
        """Places that no one named, but that a room may have."""
        for place in sorted(lore.PLACES, key=lambda place: lore.rank(place, wanted)):
            yield f"go to {place} {len(self.memory.of_kind(place)) + 1}"

    def _ordered(self, wanted: str) -> list[str]:
        """All receptacles, the likeliest first; the seed decides among equals."""
        for name in self.memory.places:
            if name not in self._order:
                self._order[name] = self._random.random()
        return sorted(
            self.memory.places,
            key=lambda name: (lore.rank(kind(name), kind(wanted)), self._order[name]),
        )
