"""Common sense about homes: what opens, what treats things, and where things usually are."""

from __future__ import annotations

OPENABLE = frozenset({"cabinet", "drawer", "fridge", "microwave", "safe"})
TOOLS = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}

SURFACES = (
    *("diningtable", "countertop", "desk", "coffeetable", "dresser", "sidetable", "bed", "sofa"),
    *("tvstand", "shelf", "armchair", "toilet", "cart", "bathtubbasin", "stoveburner"),
    *("sinkbasin", "ottoman", "fridge", "garbagecan", "microwave", "safe"),
)
"""Receptacle types by how soon a look there pays, for a thing that may be anywhere."""

PLACES = (*SURFACES, "cabinet", "drawer")
"""The types to guess at in a room that no one described."""

_USUAL = {
    "bed": "book cellphone laptop pillow baseballbat basketball tennisracket",
    "bathtubbasin": "cloth dishsponge soapbar",
    "coffeemachine": "mug",
    "coffeetable": "book box cellphone creditcard keychain newspaper remotecontrol wateringcan",
    "countertop": "candle cloth dishsponge knife pen soapbottle spraybottle tissuebox toiletpaper",
    "desk": "alarmclock bowl cd creditcard mug pen pencil statue",
    "dresser": "alarmclock cd cellphone creditcard keychain newspaper soapbottle statue vase",
    "fridge": "apple cup egg glassbottle lettuce plate potato tomato winebottle",
    "garbagecan": "apple dishsponge egg potato soapbar spraybottle toiletpaper tomato winebottle",
    "handtowelholder": "handtowel",
    "shelf": "bowl candle mug pen pencil peppershaker soapbottle statue vase",
    "sidetable": "alarmclock cd keychain pen pencil remotecontrol soapbar soapbottle spraybottle",
    "sinkbasin": "cup egg fork glassbottle potato spoon tomato",
    "sofa": "box creditcard laptop newspaper pillow remotecontrol",
    "stoveburner": "kettle pan pot",
    "toilet": "candle soapbar soapbottle spraybottle toiletpaper",
    "toiletpaperhanger": "toiletpaper",
    "towelholder": "towel",
    "tvstand": "bowl remotecontrol watch",
}
"""Receptacle type -> the things it is the first place to look for, besides tables."""

RECEPTACLES = frozenset({*PLACES, *_USUAL, "laundryhamper", "toaster"})
"""All types of receptacles."""

_USUAL_SETS = {place: frozenset(things.split()) for place, things in _USUAL.items()}


def rank(place: str, thing: str) -> int:
    """How late to look for a thing of a type in a receptacle of a type; 0 is first."""
    if thing in _USUAL_SETS.get(place, ()):
        return 0
    if place in ("diningtable", "countertop"):
        return 1
    return 2 + SURFACES.index(place) if place in SURFACES else 2 + len(SURFACES)
