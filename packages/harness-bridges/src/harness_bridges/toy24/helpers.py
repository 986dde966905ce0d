"""What a contract may call to read an action of the 24 game. Pure and self-contained."""

from harness_core import Action


def combine_parts(action: Action) -> tuple[str, ...] | None:
    """The left number, operator and right number of a combine in either form; else `None`."""
    if action.tool == "combine":
        return tuple(str(action.arguments.get(name)) for name in ("left", "operator", "right"))
    words = action.text.split()
    if action.tool or len(words) != 4 or words[0] != "combine":
        return None
    return tuple(words[1:])


def is_stop(action: Action) -> bool:
    """Whether the action gives up."""
    return action.tool == "stop" or (not action.tool and action.text.split() == ["stop"])
