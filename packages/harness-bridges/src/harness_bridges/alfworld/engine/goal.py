"""The six kinds of goals: recognised in the problem's text, and checked on a state."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from harness_bridges.alfworld.engine.state import NOTHING, State

Form = tuple[Any, ...] | str
"""A part of the problem's text: a word, or the forms between two brackets."""


_LOOK_VERBS = frozenset({"go", "take", "put", "use"})
_PLACE_VERBS = frozenset({"take", "put", "clean", "heat", "cool"})


@frozen
class Goal:
    """What is wanted, in the numbers of one game.

    Args:
        kind: `"put"`, `"two"`, `"clean"`, `"heat"`, `"cool"` or `"look"`.
        objects: those of the wanted type, a set; with a treatment, that can have it.
        receptacles: those of the wanted type.
        lamps: for `"look"`: toggleable objects of the wanted type, a set.
    """

    kind: str
    objects: int
    receptacles: tuple[int, ...] = ()
    lamps: int = 0

    @property
    def verbs(self) -> frozenset[str]:
        """The acts after which the goal may hold that did not, or the reverse."""
        return _LOOK_VERBS if self.kind == "look" else _PLACE_VERBS

    def holds(self, state: State, here: tuple[int, ...]) -> bool:
        """Whether the state is as wanted; `here`: the receptacles at the agent's location."""
        if self.kind == "look":
            if state.held == NOTHING or not self.objects >> state.held & 1:
                return False
            lit = self.lamps & state.on
            return any(state.inside[place] & lit for place in here)
        wanted = self.objects
        if self.kind != "put" and self.kind != "two":
            wanted &= treated(state, self.kind)
        inside = state.inside
        if self.kind == "two":
            for place in self.receptacles:
                found = inside[place] & wanted
                if found & (found - 1):
                    return True
            return False
        return any(inside[place] & wanted for place in self.receptacles)

    def share(self, state: State, here: tuple[int, ...]) -> float:
        """The share of the goal's conditions that hold, for the object that is furthest.

        The conditions: `"put"`: the object is there. `"two"`: the first is there; the second
        is. A treatment: the object has it; it is there. `"look"`: it is held; the lamp beside
        is on.
        """
        if self.kind == "look":
            held = state.held != NOTHING and self.objects >> state.held & 1
            lit = self.lamps & state.on
            return (bool(held) + any(state.inside[place] & lit for place in here)) / 2
        if self.kind == "two":
            found = [(state.inside[place] & self.objects).bit_count() for place in self.receptacles]
            return min(2, max(found, default=0)) / 2
        placed = 0
        for place in self.receptacles:
            placed |= state.inside[place] & self.objects
        if self.kind == "put":
            return float(bool(placed))
        done = treated(state, self.kind) & self.objects
        return (2 if placed & done else 1 if placed | done else 0) / 2


def treated(state: State, kind: str) -> int:
    """The objects that had a treatment, a set."""
    return state.clean if kind == "clean" else state.hot if kind == "heat" else state.cool


def _put(*conditions: Form) -> Form:
    inner = (("objecttype", "?o", "O"), ("receptacletype", "?r", "R"), ("inreceptacle", "?o", "?r"))
    body = ("and", *inner, *conditions)
    objects = ("exists", ("?o", "-", "object"), body)
    return ("and", ("exists", ("?r", "-", "receptacle"), objects))


_SECOND = (
    "and",
    ("not", ("=", "?o1", "?o2")),
    ("objecttype", "?o2", "O"),
    ("receptacletype", "?r", "R"),
    ("inreceptacle", "?o2", "?r"),
)
_FIRST = (
    "and",
    ("objecttype", "?o1", "O"),
    ("receptacletype", "?r", "R"),
    ("inreceptacle", "?o1", "?r"),
    ("exists", ("?o2", "-", "object"), _SECOND),
)
_LAMP = (
    "and",
    ("objecttype", "?ot", "R"),
    ("toggleable", "?ot"),
    ("istoggled", "?ot"),
    ("receptacleatlocation", "?r", "?l"),
    ("atlocation", "?a", "?l"),
    ("inreceptacle", "?ot", "?r"),
)
_LAMP_NAMES = (
    "?ot", "-", "object", "?r", "-", "receptacle", "?a", "-", "agent", "?l", "-", "location",
)  # fmt: skip

GOALS: dict[str, Form] = {
    "put": _put(),
    "clean": _put(("cleanable", "?o"), ("isclean", "?o")),
    "heat": _put(("heatable", "?o"), ("ishot", "?o")),
    "cool": _put(("coolable", "?o"), ("iscool", "?o")),
    "two": (
        "and",
        ("exists", ("?r", "-", "receptacle"), ("exists", ("?o1", "-", "object"), _FIRST)),
    ),
    "look": (
        "and",
        ("exists", _LAMP_NAMES, _LAMP),
        (
            "exists",
            ("?o", "-", "object", "?a", "-", "agent"),
            ("and", ("objecttype", "?o", "O"), ("holds", "?a", "?o")),
        ),
    ),
}
"""The goals of the benchmark's six families; `O` and `R` stand for the wanted types."""


def recognise(goal: Form) -> tuple[str, str, str] | None:
    """The kind of a goal, its object type and its receptacle (or lamp) type.

    The order of conditions within one `and` is free. `None` for any other goal.
    """
    wanted = _sorted(goal)
    for kind, form in GOALS.items():
        types: dict[str, str] = {}
        if _matches(_sorted(form), wanted, types):
            return kind, types["O"], types["R"]
    return None


def _sorted(form: Form) -> Form:
    if isinstance(form, str):
        return form
    parts = [_sorted(part) for part in form]
    if parts[:1] == ["and"]:
        parts[1:] = sorted(parts[1:], key=_order)
    return tuple(parts)


def _order(form: Form) -> str:
    """Types come last in their conditions, so that they do not disturb the order."""
    if isinstance(form, tuple) and form[:1] in (("objecttype",), ("receptacletype",)):
        form = form[:2]
    return str(form)


def _matches(form: Form, found: Form, types: dict[str, str]) -> bool:
    if form in ("O", "R"):
        assert isinstance(form, str)
        return isinstance(found, str) and types.setdefault(form, found) == found
    if isinstance(form, str) or isinstance(found, str):
        return form == found
    return len(form) == len(found) and all(map(_matches, form, found, [types] * len(form)))
