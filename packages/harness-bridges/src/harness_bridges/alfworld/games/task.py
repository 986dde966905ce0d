"""The six families of tasks: what they ask for, and how the goal reads in words and in PDDL."""

from __future__ import annotations

from attrs import frozen

from harness_bridges.alfworld.games import catalogue


@frozen
class Family:
    """One kind of task.

    Args:
        name: as in the benchmark's folder names.
        kinds: the room kinds that offer it.
        sentences: the two ways to ask for it.
        objects: the object types that it can be about; empty: all.
        verb: what has to be done with the object before it is put down.
        tool: the receptacle type that does it.
        copies: how many objects of the type have to be moved.
    """

    name: str
    kinds: tuple[str, ...]
    sentences: tuple[str, str]
    objects: frozenset[str] = frozenset()
    verb: str = ""
    tool: str = ""
    copies: int = 1


ALL_KINDS = tuple(catalogue.SCENES)
LOOK = "look_at_obj_in_light"
TWO = "pick_two_obj_and_place"

BY_NAME = {
    family.name: family
    for family in (
        Family(
            "pick_and_place_simple",
            ALL_KINDS,
            ("put a {object} in {receptacle}", "put some {object} on {receptacle}"),
        ),
        Family(
            LOOK,
            ("bedroom", "livingroom"),
            (
                "look at {object} under the {receptacle}",
                "examine the {object} with the {receptacle}",
            ),
        ),
        Family(
            "pick_clean_then_place_in_recep",
            ("kitchen", "bathroom"),
            (
                "put a clean {object} in {receptacle}",
                "clean some {object} and put it in {receptacle}",
            ),
            catalogue.CLEANABLE,
            "clean",
            "SinkBasin",
        ),
        Family(
            "pick_heat_then_place_in_recep",
            ("kitchen",),
            (
                "put a hot {object} in {receptacle}",
                "heat some {object} and put it in {receptacle}",
            ),
            catalogue.HEATABLE,
            "heat",
            "Microwave",
        ),
        Family(
            "pick_cool_then_place_in_recep",
            ("kitchen",),
            (
                "put a cool {object} in {receptacle}",
                "cool some {object} and put it in {receptacle}",
            ),
            catalogue.COOLABLE,
            "cool",
            "Fridge",
        ),
        Family(
            TWO,
            ALL_KINDS,
            (
                "put two {object} in {receptacle}",
                "find two {object} and put them in {receptacle}",
            ),
            copies=2,
        ),
    )
}

FAMILIES = tuple(BY_NAME)

_NOT_A_GOAL = frozenset({"SinkBasin", "BathtubBasin"})


@frozen
class TaskSpec:
    """A family with its parameters: the object type, and the receptacle (or lamp) type."""

    family: str
    object: str
    receptacle: str

    def sentence(self, form: int) -> str:
        """The task in words, in one of its two forms."""
        return (
            BY_NAME[self.family]
            .sentences[form]
            .format(object=self.object.lower(), receptacle=self.receptacle.lower())
        )

    def goal(self) -> str:
        """The goal as PDDL, built as in the benchmark's files."""
        if self.family == LOOK:
            return _LOOK_GOAL.format(object=self.object, lamp=self.receptacle)
        verb = BY_NAME[self.family].verb
        able, state = _ABLE.get(verb, ""), _STATE.get(verb, "")
        if self.family == TWO:
            return _TWO_GOAL.format(object=self.object, receptacle=self.receptacle)
        return _PLACE_GOAL.format(
            able=able, state=state, object=self.object, receptacle=self.receptacle
        )

    def parameters(self) -> dict[str, str | bool]:
        """`pddl_params` of the file `traj_data.json`."""
        look = self.family == LOOK
        return {
            "mrecep_target": "",
            "object_sliced": False,
            "object_target": self.object,
            "parent_target": "" if look else self.receptacle,
            "toggle_target": self.receptacle if look else "",
        }


def goal_receptacles(family: Family, object_: str) -> tuple[str, ...]:
    """The receptacle types that a task of this family may ask to put the object in."""
    barred = _NOT_A_GOAL | {family.tool} | (catalogue.SINGLE if family.copies > 1 else set())
    return tuple(
        type_ for type_, held in catalogue.HOLDS.items() if object_ in held and type_ not in barred
    )


_ABLE = {"clean": "(cleanable ?o) ", "heat": "(heatable ?o) ", "cool": "(coolable ?o) "}
_STATE = {"clean": "(isClean ?o) ", "heat": "(isHot ?o) ", "cool": "(isCool ?o) "}

_PLACE_GOAL = """\
(and
    (exists (?r - receptacle)
        (exists (?o - object)
            (and
                {able}(objectType ?o {object}Type) (receptacleType ?r {receptacle}Type)
                {state}(inReceptacle ?o ?r)
            ))))"""

_TWO_GOAL = """\
(and
    (exists (?r - receptacle)
        (exists (?o1 - object)
            (and
                (objectType ?o1 {object}Type) (receptacleType ?r {receptacle}Type)
                (inReceptacle ?o1 ?r)
                (exists (?o2 - object)
                    (and
                        (not (= ?o1 ?o2))
                        (objectType ?o2 {object}Type) (receptacleType ?r {receptacle}Type)
                        (inReceptacle ?o2 ?r)
                    ))))))"""

_LOOK_GOAL = """\
(and
    (exists (?ot - object ?r - receptacle ?a - agent ?l - location)
        (and
            (objectType ?ot {lamp}Type) (toggleable ?ot) (isToggled ?ot)
            (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)
        ))
    (exists (?o - object ?a - agent)
        (and (objectType ?o {object}Type) (holds ?a ?o))))"""
