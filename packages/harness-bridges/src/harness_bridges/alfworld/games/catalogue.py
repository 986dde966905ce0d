"""What stands in the rooms of ALFWorld, what lies in them, and what can be done with it.

The facts are those of the benchmark's own games: the type names, which receptacle may contain
which object (`canContain`), the properties, and how many of each a room usually has.
"""

from __future__ import annotations

from attrs import frozen

SCENES = {
    "kitchen": range(1, 31),
    "livingroom": range(201, 231),
    "bedroom": range(301, 331),
    "bathroom": range(401, 431),
}
"""The scene numbers of each room kind."""

UNSEEN = frozenset({9, 10, 29, 215, 219, 226, 308, 315, 325, 404, 424, 425})
"""The scenes that only the split `valid_unseen` has: the benchmark's own choice."""

SPLITS = ("train", "valid_seen", "valid_unseen")


FURNITURE: dict[str, dict[str, tuple[int, ...]]] = {
    "kitchen": {
        "CounterTop": (1, 1, 2, 2, 2, 3, 3, 3, 4),
        "Fridge": (1,),
        "SinkBasin": (1,),
        "Microwave": (1,),
        "Cabinet": (4, 9, 10, 11, 13, 15, 20, 21, 26),
        "Drawer": (1, 3, 3, 4, 4, 5, 6, 9, 13),
        "StoveBurner": (4,),
        "GarbageCan": (1,),
        "DiningTable": (0, 0, 0, 0, 1, 1, 1, 1, 2),
        "CoffeeMachine": (1,),
        "Toaster": (1,),
        "Shelf": (0, 0, 0, 0, 0, 0, 0, 0, 3),
        "SideTable": (0, 0, 0, 0, 0, 0, 0, 0, 1),
    },
    "livingroom": {
        "Sofa": (1, 1, 1, 1, 1, 1, 1, 2, 2),
        "CoffeeTable": (0, 1, 1, 1, 1, 1, 1, 2, 2),
        "SideTable": (0, 0, 1, 1, 1, 2, 2, 3, 3),
        "Drawer": (0, 0, 1, 1, 4, 4, 6, 7, 12),
        "GarbageCan": (1,),
        "ArmChair": (0, 1, 1, 1, 1, 1, 2, 2, 2),
        "DiningTable": (0, 0, 0, 0, 1, 1, 1, 1, 2),
        "Shelf": (0, 0, 0, 0, 0, 0, 3, 6, 13),
        "TVStand": (0, 0, 0, 0, 0, 1, 1, 1, 2),
        "Dresser": (0, 0, 0, 0, 0, 0, 1, 1, 1),
        "Cabinet": (0, 0, 0, 0, 0, 0, 0, 0, 4),
        "Ottoman": (0, 0, 0, 0, 0, 0, 0, 0, 1),
        "Safe": (0, 0, 0, 0, 0, 0, 0, 0, 1),
    },
    "bedroom": {
        "Bed": (1, 1, 1, 1, 1, 1, 1, 1, 2),
        "SideTable": (0, 0, 0, 1, 1, 1, 1, 2, 2),
        "Desk": (0, 0, 0, 1, 1, 1, 1, 1, 2),
        "Drawer": (2, 2, 2, 3, 5, 5, 8, 11, 16),
        "GarbageCan": (1,),
        "Dresser": (0, 0, 0, 0, 0, 1, 1, 1, 2),
        "Shelf": (0, 0, 0, 1, 1, 2, 5, 7, 12),
        "ArmChair": (0, 0, 0, 0, 0, 0, 0, 1, 2),
        "LaundryHamper": (0, 0, 0, 0, 0, 0, 0, 1, 1),
        "Safe": (0, 0, 0, 0, 0, 0, 0, 0, 1),
        "Cabinet": (0, 0, 0, 0, 0, 0, 0, 0, 4),
        "DiningTable": (0, 0, 0, 0, 0, 0, 0, 0, 1),
    },
    "bathroom": {
        "SinkBasin": (1, 1, 1, 1, 1, 2, 2, 2, 2),
        "CounterTop": (0, 1, 1, 1, 1, 1, 1, 1, 2),
        "Toilet": (1,),
        "Cabinet": (0, 0, 0, 0, 0, 4, 4, 4, 5),
        "GarbageCan": (1,),
        "Drawer": (0, 0, 0, 0, 1, 2, 4, 6, 8),
        "BathtubBasin": (0, 0, 0, 1, 1, 1, 1, 1, 1),
        "Shelf": (0, 0, 0, 0, 0, 0, 0, 1, 3),
        "HandTowelHolder": (1, 1, 1, 1, 1, 2, 2, 2, 2),
        "TowelHolder": (1, 1, 1, 1, 1, 1, 2, 2, 2),
        "ToiletPaperHanger": (1,),
        "Cart": (0, 0, 0, 0, 0, 0, 0, 0, 1),
        "SideTable": (0, 0, 0, 0, 0, 0, 0, 0, 1),
        "Dresser": (0, 0, 0, 0, 0, 0, 0, 0, 1),
    },
}
"""Room kind -> receptacle type -> how many a room has: one of these numbers, each equally
likely. They are ninths of the benchmark's rooms. What a room needs most comes first."""


def _words(table: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(text.split()) for key, text in table.items()}


_HELD = _words(
    {
        "ArmChair": """
            Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow RemoteControl
        """,
        "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
        "Bed": "BaseballBat BasketBall Book CellPhone Laptop Pillow TennisRacket",
        "Cabinet": """
            Book Bowl Box CD Candle Cloth Cup DishSponge Glassbottle HandTowel Kettle Ladle Mug
            Newspaper Pan PepperShaker Plate Plunger Pot SaltShaker SoapBar SoapBottle
            SprayBottle TissueBox ToiletPaper Vase WateringCan WineBottle
        """,
        "Cart": """
            Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle TissueBox
            ToiletPaper
        """,
        "CoffeeMachine": "Mug",
        "CoffeeTable": """
            Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil Plate
            RemoteControl Statue TissueBox Vase Watch WateringCan
        """,
        "CounterTop": """
            AlarmClock Apple Book Bowl Bread ButterKnife CD Candle CellPhone Cloth CreditCard
            Cup DishSponge Egg Fork Glassbottle HandTowel Kettle KeyChain Knife Ladle Laptop
            Lettuce Mug Pan Pen Pencil PepperShaker Plate Pot Potato RemoteControl SaltShaker
            SoapBar SoapBottle Spatula Spoon SprayBottle Statue TissueBox ToiletPaper Tomato
            Vase WineBottle
        """,
        "Desk": """
            AlarmClock BasketBall Book Bowl Box CD CellPhone Cloth CreditCard KeyChain Laptop
            Mug Pen Pencil RemoteControl Statue TennisRacket TissueBox Vase Watch WateringCan
        """,
        "DiningTable": """
            AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle
            CellPhone Cloth CreditCard Cup DishSponge Egg Fork Glassbottle Kettle KeyChain Knife
            Ladle Laptop Lettuce Mug Newspaper Pan Pen Pencil PepperShaker Plate Pot Potato
            RemoteControl SaltShaker SoapBottle Spatula Spoon SprayBottle Statue TennisRacket
            TissueBox Tomato Vase Watch WateringCan WineBottle
        """,
        "Drawer": """
            Book ButterKnife CD Candle CellPhone Cloth CreditCard DishSponge Fork HandTowel
            KeyChain Knife Ladle Newspaper Pen Pencil PepperShaker RemoteControl SaltShaker
            SoapBar SoapBottle Spatula Spoon SprayBottle TissueBox ToiletPaper Watch WateringCan
        """,
        "Dresser": """
            AlarmClock BasketBall Book Bowl Box CD Candle CellPhone Cloth CreditCard KeyChain
            Laptop Mug Newspaper Pen Pencil Plate RemoteControl SprayBottle Statue TennisRacket
            TissueBox ToiletPaper Vase Watch WateringCan
        """,
        "Fridge": """
            Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato
            WineBottle
        """,
        "GarbageCan": """
            Apple Bread CD Cloth DishSponge Egg HandTowel Lettuce Newspaper Pen Pencil Potato
            SoapBar SoapBottle SprayBottle TissueBox ToiletPaper Tomato WineBottle
        """,
        "HandTowelHolder": "HandTowel",
        "LaundryHamper": "Cloth",
        "Microwave": "Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato",
        "Ottoman": """
            Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl
        """,
        "Safe": "CD CellPhone CreditCard KeyChain Statue Vase",
        "Shelf": """
            AlarmClock Book Bowl Box CD Candle CellPhone Cloth CreditCard Cup DishSponge
            Glassbottle HandTowel Kettle KeyChain Mug Newspaper Pen Pencil PepperShaker Plate
            Pot RemoteControl SaltShaker SoapBar SoapBottle SprayBottle Statue TissueBox
            ToiletPaper Vase Watch WateringCan WineBottle
        """,
        "SideTable": """
            AlarmClock Apple BaseballBat BasketBall Book Bowl Box Bread ButterKnife CD Candle
            CellPhone Cloth CreditCard Cup DishSponge Egg Fork HandTowel Kettle KeyChain Knife
            Laptop Lettuce Mug Newspaper Pan Pen Pencil PepperShaker Plate Pot Potato
            RemoteControl SaltShaker SoapBar SoapBottle Spatula Spoon SprayBottle Statue
            TennisRacket TissueBox ToiletPaper Tomato Vase Watch WateringCan WineBottle
        """,
        "SinkBasin": """
            Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Glassbottle HandTowel Kettle
            Knife Ladle Lettuce Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato
        """,
        "Sofa": """
            Book Box CellPhone CreditCard KeyChain Laptop Newspaper Pillow RemoteControl
        """,
        "StoveBurner": "Kettle Pan Pot",
        "TVStand": "TissueBox",
        "Toaster": "",
        "Toilet": """
            Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox
            ToiletPaper
        """,
        "ToiletPaperHanger": "ToiletPaper",
        "TowelHolder": "Towel",
    }
)
HOLDS = {type_: frozenset(held) for type_, held in _HELD.items()}
"""Receptacle type -> the object types that may be put there."""

STOCK = _words(
    {
        "kitchen": """
            Apple Book Bowl Bread ButterKnife CellPhone CreditCard Cup DishSponge Egg Fork
            Glassbottle Kettle Knife Ladle Lettuce Mug Pan Pen Pencil PepperShaker Plate Pot
            Potato SaltShaker SoapBottle Spatula Spoon SprayBottle Statue Tomato Vase WineBottle
        """,
        "livingroom": """
            Book Bowl Box Candle CellPhone CreditCard KeyChain Laptop Newspaper Pen Pencil
            Pillow Plate RemoteControl Statue TissueBox Vase Watch WateringCan
        """,
        "bedroom": """
            AlarmClock BaseballBat BasketBall Book Bowl Box CD CellPhone CreditCard KeyChain
            Laptop Mug Pen Pencil Pillow RemoteControl Statue TennisRacket TissueBox Vase Watch
        """,
        "bathroom": """
            Candle Cloth DishSponge HandTowel Plunger SoapBar SoapBottle SprayBottle TissueBox
            ToiletPaper Towel
        """,
    }
)
"""Room kind -> the object types that are found there."""


@frozen
class Fixture:
    """A thing that no one can pick up: where it may stand, and in how many rooms it does.

    Args:
        type: the thing's type.
        on: receptacle types, the first that the room has is taken; empty: it stands by itself.
        chance: the share of rooms that have one.
    """

    type: str
    on: tuple[str, ...]
    chance: float = 1.0


FIXTURES = {
    "kitchen": (Fixture("HousePlant", ("CounterTop",), 0.3),),
    "livingroom": (
        Fixture("DeskLamp", ("SideTable",)),
        Fixture("FloorLamp", ()),
        Fixture("HousePlant", ("CoffeeTable",), 0.5),
        Fixture("Television", ("TVStand", "Dresser", "CoffeeTable"), 0.8),
    ),
    "bedroom": (
        Fixture("DeskLamp", ("Desk", "SideTable", "Dresser", "Shelf")),
        Fixture("HousePlant", ("Shelf", "SideTable"), 0.2),
    ),
    "bathroom": (Fixture("HousePlant", ("SideTable", "CounterTop"), 0.1),),
}

OPENABLE = frozenset({"Cabinet", "Drawer", "Fridge", "Microwave", "Safe"})
SOMETIMES_OPENABLE = frozenset({"Cabinet", "Drawer", "Safe"})
"""About one in six of these has no door: its contents are in plain sight."""

SINGLE = frozenset(
    {"CoffeeMachine", "HandTowelHolder", "StoveBurner", "ToiletPaperHanger", "TowelHolder"}
)
"""Receptacles that start with at most one object."""

CLEANABLE = frozenset(
    [
        "Apple",
        "Bowl",
        "ButterKnife",
        "Cloth",
        "Cup",
        "DishSponge",
        "Egg",
        "Fork",
        "Kettle",
        "Knife",
        "Ladle",
        "Lettuce",
        "Mug",
        "Pan",
        "Plate",
        "Pot",
        "Potato",
        "SoapBar",
        "Spatula",
        "Spoon",
        "Tomato",
    ]
)
HEATABLE = frozenset(["Apple", "Bread", "Cup", "Egg", "Mug", "Plate", "Potato", "Tomato"])
COOLABLE = frozenset(
    [
        "Apple",
        "Bowl",
        "Bread",
        "Cup",
        "Egg",
        "Lettuce",
        "Mug",
        "Pan",
        "Plate",
        "Pot",
        "Potato",
        "Tomato",
        "WineBottle",
    ]
)
SLICEABLE = frozenset(["Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato"])
TOGGLEABLE = frozenset({"DeskLamp", "FloorLamp"})
CONTAINERS = frozenset(["Bowl", "Box", "Cup", "Mug", "Pan", "Plate", "Pot"])
"""Objects that are receptacles themselves (`isReceptacleObject`)."""

WHERE = {
    "ArmChair": (0.0, 60),
    "BathtubBasin": (0.3, 60),
    "Bed": (0.0, 45),
    "Cabinet": (0.5, 60),
    "Cart": (0.0, 60),
    "CoffeeMachine": (0.9, 45),
    "CoffeeTable": (0.0, 60),
    "CounterTop": (0.95, 45),
    "Desk": (0.0, 60),
    "DiningTable": (0.0, 60),
    "Drawer": (0.65, 45),
    "Dresser": (0.0, 60),
    "Fridge": (0.0, 60),
    "GarbageCan": (0.0, 60),
    "HandTowelHolder": (1.65, 0),
    "LaundryHamper": (0.0, 60),
    "Microwave": (0.95, 45),
    "Ottoman": (0.0, 60),
    "Safe": (0.0, 60),
    "Shelf": (0.7, 45),
    "SideTable": (0.0, 60),
    "SinkBasin": (0.9, 45),
    "Sofa": (0.0, 60),
    "StoveBurner": (0.95, 45),
    "TVStand": (0.0, 60),
    "Toaster": (0.9, 45),
    "Toilet": (0.0, 60),
    "ToiletPaperHanger": (0.9, 45),
    "TowelHolder": (1.35, 15),
}
"""Receptacle type -> its height in metres, and how many degrees down one looks at it."""
