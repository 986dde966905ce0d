"""Which domain and grammar texts the engine knows: it plays those, and refuses all others.

A game file brings the rules and the words with it. They are recognised by their content, the
domain without comments, blanks and case, the grammar without its task sentence. Two wordings are
known: today's `move X to Y`, and the older `put X in/on Y`, which has no `help` and names the
location on arrival. ALFWorld's script that brought the older files up to date says how they
differ: scripts/patch_games.py of its repository.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256

from attrs import frozen

from harness_core.errors import EnvError


@frozen
class Dialect:
    """What differs between the known texts.

    Args:
        wording: `"move"` or `"put"`: how the game words putting down.
        sinks: receptacle types that clean.
    """

    wording: str
    sinks: tuple[str, ...]


_BASINS, _SINKS = ("sinkbasintype",), ("sinktype", "sinkbasintype")

DOMAINS = {
    "915e118f4f32b4d8": _BASINS,
    "e733dcfa5154f9d5": _SINKS,
    "0c42dbe9f67ce247": _SINKS,
    "7239bf57f6ba09ca": _BASINS,
}
"""Digest of a domain text -> the receptacle types that clean. In this order: of the alfworld
package 0.4, of the published game files, of the older files, of generated games."""

GRAMMARS = {
    "ee21e0962165e4c8": "move",
    "245b6dabb51d7e1d": "move",
    "700b44143b6b5e4c": "put",
    "97c04f605c3cb201": "move",
}
"""Digest of a grammar text -> its wording, in the same order."""

_TASK = re.compile(r'"(Your task is to:(?: [\w.,\'-]+)+)"')
"""Plain words: the grammar would read more into other signs."""


def dialect_of(domain: str, grammar: str) -> tuple[Dialect, str]:
    """The dialect of a game, and its task sentence.

    Raises:
        EnvError: the engine does not know one of the two texts; the message names it.
    """
    tasks: list[str] = _TASK.findall(grammar)
    if len(tasks) != 1:
        raise EnvError(f"its grammar has {len(tasks)} lines 'Your task is to: ...' instead of one")
    wording = GRAMMARS.get(digest_of_grammar(grammar))
    sinks = DOMAINS.get(digest_of_domain(domain))
    if sinks is None:
        raise _unknown("pddl_domain")
    if wording is None:
        raise _unknown("grammar")
    return Dialect(wording, sinks), tasks[0]


def _unknown(text: str) -> EnvError:
    return EnvError(
        f"the native engine does not know its {text!r}, and does not guess at rules; "
        "engine='textworld' plays any"
    )


@lru_cache(maxsize=32)
def digest_of_domain(text: str) -> str:
    """Sixteen hex digits for the rules of a domain text."""
    bare = re.sub(r";[^\n]*", "", text).lower()
    return _digest(" ".join(re.sub(r"([()])", r" \1 ", bare).split()))


@lru_cache(maxsize=32)
def digest_of_grammar(text: str) -> str:
    """Sixteen hex digits for the words of a grammar text without its task sentence."""
    return _digest("\n".join(_TASK.sub('""', text).splitlines()))


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
