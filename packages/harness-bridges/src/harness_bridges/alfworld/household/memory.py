"""What a policy remembers of a room: only what texts and admissible commands told it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from attrs import define, field

from harness_bridges.alfworld.household.lore import RECEPTACLES

_NAME = r"(\w+ \d+)"
_NAMES = re.compile(_NAME)
_ARRIVED = re.compile(rf"You arrive at {_NAME}\.")
_FACING = re.compile(r"You are facing the ([^.]*)\.")
_ROOM = re.compile(r"Looking quickly around you, you see ([^.]*)")
_CLOSED = re.compile(rf"The {_NAME} is closed\.|You close the {_NAME}\.")
_OPEN = re.compile(rf"The {_NAME} is open\.|You open the {_NAME}\.")
_INSIDE = re.compile(rf"(?:On the {_NAME}|The {_NAME} is open\. In it), you see ([^.]*)")
_TOOK = re.compile(rf"You pick up the {_NAME} from the {_NAME}\.")
_PUT = re.compile(rf"You (?:put|move) the {_NAME} (?:in/on|to) the {_NAME}\.")
_TREATED = re.compile(rf"You (clean|heat|cool) the {_NAME} using the {_NAME}\.")
_LIT = re.compile(rf"You turn on the {_NAME}\.")
_CARRYING = re.compile(rf"You are carrying: a {_NAME}\.|You are (not carrying) anything\.")

_COMMAND = re.compile(
    rf"(go to|open|close|examine|use|take|move|put|clean|heat|cool) {_NAME}"
    rf"(?: (?:from|to|in/on|with) {_NAME})?"
)
REFUSED = re.compile(r"Nothing happens|You are facing the|You are in the middle of a room")
"""What a text that follows a refused action says."""


@lru_cache(maxsize=8192)
def kind(name: str) -> str:
    """The type of a thing or place: `"mug"` for `"mug 1"`."""
    return name.partition(" ")[0]


@define
class Place:
    """One receptacle.

    Args:
        contents: what was seen in it.
        seen: whether someone looked inside.
        closed: whether its door is known to be closed.
    """

    contents: set[str] = field(factory=set)
    seen: bool = False
    closed: bool = False


@define
class Memory:
    """One room.

    Args:
        places: the receptacles, by name.
        here: those within reach.
        holding: the held thing; empty if none is known.
        treated: (verb, thing) of everything cleaned, heated or cooled.
        lit: the lamps turned on.
        lamps: lamp -> a place within whose reach it is.
    """

    places: dict[str, Place] = field(factory=dict)
    here: list[str] = field(factory=list)
    holding: str = ""
    treated: set[tuple[str, str]] = field(factory=set)
    lit: set[str] = field(factory=set)
    lamps: dict[str, str] = field(factory=dict)

    def read(self, text: str, admissible: Iterable[str]) -> None:
        """Takes in an observation."""
        self._read_text(text)
        self._read_commands(list(admissible))

    def believe(self, verb: str, name: str) -> None:
        """Takes it that a command worked whose answer does not say so."""
        if verb == "take":
            self._take(name)
        elif verb in ("move", "put"):
            self.holding = ""
        elif verb == "use":
            self.lit.add(name)
        elif verb in ("clean", "heat", "cool"):
            self.treated.add((verb, name))

    def of_kind(self, wanted: str) -> list[str]:
        """The known receptacles of a type."""
        return [name for name in self.places if kind(name) == wanted]

    def whereabouts(self, wanted: str) -> list[tuple[str, str]]:
        """Every (thing, place) seen, for things of a type."""
        return [
            (thing, name)
            for name, place in self.places.items()
            if place.contents
            for thing in sorted(each for each in place.contents if kind(each) == wanted)
        ]

    def forget_contents(self) -> None:
        """As if no one had looked anywhere yet."""
        for place in self.places.values():
            place.seen = False
            place.contents.clear()
        self.treated.clear()
        self.lit.clear()

    def _place(self, name: str) -> Place:
        if name not in self.places:
            self.places[name] = Place()
        return self.places[name]

    def _read_text(self, text: str) -> None:
        for listed in _ROOM.findall(text):
            for name in _NAMES.findall(listed):
                self._place(name)
        for name in _ARRIVED.findall(text):
            self.here = [name]
        for listed in _FACING.findall(text):
            self.here = _NAMES.findall(listed)
        for name in _each(_CLOSED, text):
            self._place(name).closed = True
        for name in _each(_OPEN, text):
            self._place(name).closed = False
        for plain, opened, listed in _INSIDE.findall(text):
            place = self._place(plain or opened)
            place.contents, place.seen = set(_NAMES.findall(listed)), True
            place.closed = False
        for thing, _ in _TOOK.findall(text):
            self._take(thing)
        for thing, name in _PUT.findall(text):
            self.holding = ""
            self._place(name).contents.add(thing)
        for verb, thing, _ in _TREATED.findall(text):
            self.treated.add((verb, thing))
        self.lit.update(_LIT.findall(text))
        for thing, _ in _CARRYING.findall(text):
            self.holding = thing

    def _take(self, thing: str) -> None:
        self.holding = thing
        for place in self.places.values():
            place.contents.discard(thing)

    def _read_commands(self, admissible: list[str]) -> None:
        commands = [words for words in map(_words, admissible) if words]
        far = {thing for verb, thing, _ in commands if verb == "go to"}
        for name in sorted(far):
            self._place(name)
        near = [name for verb, thing, name in commands if name] + [
            thing for verb, thing, _ in commands if verb in ("open", "close", "examine")
        ]
        reached = [name for name in dict.fromkeys(near) if kind(name) in RECEPTACLES]
        self.here = [name for name in reached or self.here if name not in far]
        for verb, thing, name in commands:
            if verb in ("open", "close"):
                self._place(thing).closed = verb == "open"
            elif verb == "take":
                self._place(name).contents.add(thing)
                self.holding = ""
            elif verb in ("move", "put", "clean", "heat", "cool"):
                self._take(thing)
            elif verb == "use" and self.here:
                self.lamps[thing] = self.here[0]
            elif verb == "examine" and kind(thing) not in RECEPTACLES:
                self._take(thing)  # only what is held can be examined


@lru_cache(maxsize=8192)
def _words(command: str) -> tuple[str, str, str] | None:
    """Verb, thing and place of a command, the last empty if missing; None for other commands."""
    match = _COMMAND.fullmatch(command)
    return (match[1], match[2], match[3] or "") if match else None


def _each(pattern: re.Pattern[str], text: str) -> list[str]:
    """The first group that is there, of every match."""
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]
