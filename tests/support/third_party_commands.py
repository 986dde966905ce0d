"""Commands of a third party. Says when it is imported."""

from __future__ import annotations

import sys

from cyclopts import App

print("third_party_commands imported", file=sys.stderr)


def greet(name: str, *, loud: bool = False, fail: bool = False) -> int:
    """Greets somebody.

    For example::

        harness greet Ada --loud

    Args:
        name: of whom to greet.
        loud: in capitals.
        fail: raise an error that nobody expects.
    """
    if fail:
        raise ZeroDivisionError("nobody expects this")
    print(f"HELLO {name.upper()}" if loud else f"Hello {name}")
    return 5


tower = App(name="tower", help="A command with commands.")


@tower.command
def height() -> None:
    """Says how high it is."""
    print("300 m")
