"""Makes TextWorld remember what it parsed.

For every command of every step, TextWorld parses the same text templates and queries anew and
copies whole contexts deeply. Neither changes what it says: templates are constant, and contexts
are only read. Remembering them makes a step several times faster, with the same answers.
"""

from __future__ import annotations

from copy import copy
from functools import cache, lru_cache
from typing import Any


@cache
def remember_parses() -> None:
    """Patches this process's TextWorld; once."""
    from textworld import logic
    from textworld.envs.pddl import textgen

    parse_template = lru_cache(maxsize=4096)(textgen._parse_and_convert)
    parse_rule = lru_cache(maxsize=4096)(logic._parse_and_convert)

    def template(text: str, rule_name: str, **_: Any) -> list[Any]:
        return [_own(symbol) for symbol in parse_template(text, rule_name=rule_name)]

    def replaced(self: Any, start: Any) -> list[Any]:
        return [_placed(symbol, start.context) for symbol in _first_applicable(self, start).rhs]

    textgen._parse_and_convert = template
    textgen.copy_context = _copy_context
    textgen.Symbol.copy = _placed
    textgen.ContextSensitiveGrammar.replace = replaced
    logic._parse_and_convert = parse_rule


def _first_applicable(grammar: Any, start: Any) -> Any:
    """The production rule that `ContextSensitiveGrammar.replace` applies."""
    from textworld.envs.pddl.textgen import CSGUnknownSymbolError
    from textworld.logic import Rule

    state, mapping = start.context["state"], start.context["mapping"]
    rules = grammar._rules.get(str(start))
    if not rules:
        raise CSGUnknownSymbolError(start)
    for rule in rules:
        query = rule.condition and Rule.parse_conjunctive_query(rule.condition)
        if not query or next(iter(state.all_assignments(query, mapping)), None) is not None:
            return rule
    raise IndexError(f"no rule for {start} applies")


def _own(symbol: Any) -> Any:
    """A copy of a symbol whose context can be set without touching the remembered one."""
    mine = copy(symbol)
    for part in ("symbol", "expression"):
        inner = getattr(mine, part, None)
        if hasattr(inner, "context"):
            setattr(mine, part, _own(inner))
    return mine


def _placed(symbol: Any, context: dict[str, Any]) -> Any:
    mine = _own(symbol)
    mine.context = _copy_context(context)
    return mine


def _copy_context(context: dict[str, Any]) -> dict[str, Any]:
    variables, mapping = dict(context["variables"]), dict(context["mapping"])
    return {**context, "variables": variables, "mapping": mapping}
