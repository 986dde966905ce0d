"""Wall 1, the source: an allow-list over the syntax tree of what a designer wrote.

What it lets through may be silly or slow, but names no way out of its namespace. Every problem is
reported at once, with the line and with what to write instead.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from attrs import frozen

from harness_core.errors import SourceRejected
from harness_core.sandbox.allowed import BUILTINS, HOOKS, MODULES, VALUES, public_names

MAX_BYTES = 64 << 10
MAX_DEPTH = 120


@frozen
class Source:
    """Source text that passed the check.

    Args:
        text: defines exactly one subclass of `Contract`.
        class_name: the name of that class.
        hooks: the names of the hooks that the class defines.
    """

    text: str
    class_name: str
    hooks: frozenset[str]


class Problem(NamedTuple):
    """One reason to reject a source."""

    line: int
    what: str
    instead: str


@lru_cache(maxsize=256)
def check_source(source: str) -> Source:
    """Checks what a designer wrote.

    Raises:
        SourceRejected: the message lists all problems by line, each with what to write instead.
    """
    tree = _parsed(source)
    problems = list(_problems(tree))
    if not problems:
        # What the parser lets through: `return` outside a function, a parameter given twice.
        try:
            compile(source, "<contract>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problems = [_invalid(error)]
    if problems:
        raise _rejected(problems)
    (contract,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    hooks = frozenset(name for name in _methods(contract) if name in HOOKS)
    return Source(source, contract.name, hooks)


def _rejected(problems: Iterable[Problem]) -> SourceRejected:
    lines = [f"  line {p.line}: {p.what}. {p.instead}." for p in sorted(set(problems))]
    return SourceRejected("The contract was rejected:\n" + "\n".join(lines))


def _parsed(source: str) -> ast.Module:
    size = len(source.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        raise _rejected(
            [Problem(1, f"the source has {size} bytes", f"At most {MAX_BYTES} are read")]
        )
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        raise _rejected([_invalid(error)]) from None
    except (RecursionError, MemoryError):
        raise _rejected([Problem(1, "nested too deeply", "Use variables")]) from None
    if (line := _too_deep(tree)) is not None:
        what = f"nested more than {MAX_DEPTH} levels deep"
        raise _rejected([Problem(line, what, "Use variables, loops or str.join")])
    return tree


def _invalid(error: Exception) -> Problem:
    line, message = getattr(error, "lineno", None) or 1, getattr(error, "msg", error)
    return Problem(line, f"invalid Python: {message}", "Correct it")


def _too_deep(tree: ast.Module) -> int | None:
    stack: list[tuple[ast.AST, int, int]] = [(tree, 0, 1)]
    while stack:
        node, depth, line = stack.pop()
        line = getattr(node, "lineno", line)
        if depth > MAX_DEPTH:
            return line
        stack.extend((child, depth + 1, line) for child in ast.iter_child_nodes(node))
    return None


def _problems(tree: ast.Module) -> Iterator[Problem]:
    bound = _bound(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        if not isinstance(node, _ALLOWED):
            word, instead = _SYNTAX.get(type(node), (type(node).__name__.lower(), _PLAIN))
            yield Problem(line, f"`{word}` is not allowed here", instead)
            continue
        attributes = isinstance(node, ast.Attribute | ast.MatchClass)
        for name in _identifiers(node):
            yield from (_attribute_name if attributes else _name)(line, name)
        if isinstance(node, ast.Attribute):
            yield from _assigned_attribute(node)
        elif isinstance(node, ast.Name) and node.id not in bound:
            yield from _builtin(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _import(node)
    yield from _contract(tree)
    yield from _constants(tree)


_ALLOWED = (
    *(ast.Module, ast.ClassDef, ast.FunctionDef, ast.Return, ast.Delete, ast.Assign),
    *(ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Raise, ast.Try, ast.Assert),
    *(ast.Import, ast.ImportFrom, ast.Nonlocal, ast.Expr, ast.Pass, ast.Break, ast.Continue),
    *(ast.BoolOp, ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.Lambda, ast.IfExp, ast.Dict),
    *(ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield),
    *(ast.YieldFrom, ast.Compare, ast.Call, ast.FormattedValue, ast.JoinedStr, ast.Constant),
    *(ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple, ast.Slice),
    *(ast.Match, ast.match_case, ast.pattern, ast.comprehension, ast.ExceptHandler),
    *(ast.arguments, ast.arg, ast.keyword, ast.alias, ast.operator, ast.unaryop, ast.boolop),
    *(ast.cmpop, ast.expr_context, ast.withitem),
)

_PLAIN = "Write it with functions, loops and conditions"
_MEMORY = "Keep memory in env_state.extras, a dict that lasts one episode"
_SYNTAX: dict[type, tuple[str, str]] = {
    ast.Global: ("global", _MEMORY),
    ast.With: ("with", "There is nothing here that could be opened"),
    ast.AsyncFunctionDef: ("async def", "Write a plain function"),
    ast.Await: ("await", "Write a plain function"),
    ast.TryStar: ("except*", "Write a plain `except`"),
}

_ATTRIBUTE_PREFIXES = ("f_", "tb_", "gi_", "cr_", "ag_", "co_", "func_", "im_")
_ATTRIBUTES = {
    "format": 'Use an f-string, such as f"{text} more"',
    "format_map": 'Use an f-string, such as f"{text} more"',
    "vformat": 'Use an f-string, such as f"{text} more"',
    "mro": "Use isinstance to tell classes apart",
    "with_traceback": "Use `raise ... from error`",
    "obj": "Use the value itself",
}
_BUILTINS = {
    "open": "A contract has no files; keep notes in env_state.extras",
    "getattr": "Name the attribute, such as action.text; read a dict with .get()",
    "hasattr": "Name the attribute, such as action.text; ask a dict with `in`",
    "setattr": "Use value.replace(field=...)",
    "delattr": "Use value.replace(field=...)",
    "type": "Use isinstance",
    "super": "Write `return action`, `return response` or `return observation`",
    "vars": "Name the attributes you need",
    "dir": "Name the attributes you need",
    "eval": "Write the code itself, or parse with json.loads",
    "exec": "Write the code itself",
    "compile": "Write the code itself; patterns are made with re.compile",
    "id": "Compare with `is` or ==",
    "hash": "Use the value itself as a key",
    "input": "A contract reads only what its hooks are given",
    "bytearray": "Use str or list",
    "BaseException": "Use Exception",
    "object": "For a missing value, use None or a text of your own",
}


def _identifiers(node: ast.AST) -> Iterator[str]:
    """All names that a node holds; new kinds of nodes are covered without knowing them."""
    if isinstance(node, ast.Constant):
        return
    for _, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item


def _name(line: int, name: str) -> Iterator[Problem]:
    if not name.isascii():
        yield Problem(line, f"the name {name!r} has letters outside ASCII", "Use plain letters")
    elif name == "__init__":
        yield Problem(line, "the method __init__", _MEMORY)
    elif name.startswith("__") and name != "__future__":
        yield Problem(line, f"the name {name}", "Use a name without leading underscores")


def _assigned_attribute(node: ast.Attribute) -> Iterator[Problem]:
    line = node.lineno
    if isinstance(node.ctx, ast.Load):
        return
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        yield Problem(line, f"self.{node.attr} is assigned", _MEMORY)
    else:
        change = f"Values are frozen: make a copy with .replace({node.attr}=...)"
        yield Problem(line, f"the attribute .{node.attr} is assigned", change)


def _attribute_name(line: int, name: str) -> Iterator[Problem]:
    if name.startswith("_"):
        yield Problem(line, f"the attribute .{name}", "Use a name without a leading underscore")
    elif name in _ATTRIBUTES:
        yield Problem(line, f"the attribute .{name}", _ATTRIBUTES[name])
    elif name.startswith(_ATTRIBUTE_PREFIXES):
        yield Problem(line, f"the attribute .{name}", "Frames and code are out of reach; leave it")
    else:
        yield from _name(line, name)


def _builtin(node: ast.Name) -> Iterator[Problem]:
    name = node.id
    if hasattr(builtins, name) and name not in BUILTINS and not name.startswith("__"):
        known = f"Known are {', '.join(sorted(n for n in BUILTINS if n.islower()))}"
        yield Problem(node.lineno, f"`{name}` is not available", _BUILTINS.get(name, known))


def _import(node: ast.Import | ast.ImportFrom) -> Iterator[Problem]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name not in MODULES or "." in alias.name:
                yield Problem(node.lineno, f"`import {alias.name}`", _modules(alias.name))
        return
    module = node.module or ""
    offered = {"__future__": ["annotations"], "harness_core": [*VALUES]}.get(module)
    if module in MODULES:
        offered = public_names(module)
    if node.level or offered is None:
        yield Problem(node.lineno, f"`from {'.' * node.level}{module} import`", _modules(module))
        return
    for alias in node.names:
        if alias.name not in offered:
            what = f"`from {module} import {alias.name}`"
            yield Problem(node.lineno, what, f"It offers {', '.join(offered)}")


def _modules(asked: str) -> str:
    if asked in ("os", "sys", "subprocess", "socket", "pathlib", "io"):
        return "A contract sees only what its hooks are given; leave it out"
    if asked in ("random", "time", "datetime", "secrets", "uuid"):
        return "A contract must answer the same each time; count calls in env_state.extras"
    return f"There are {', '.join(sorted(MODULES))}"


def _bound(tree: ast.AST) -> set[str]:
    """All names that the source itself gives a meaning, anywhere."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
    return names


def _methods(contract: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in contract.body if isinstance(node, ast.FunctionDef)}


def _contract(tree: ast.Module) -> Iterator[Problem]:
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    if len(classes) != 1 or classes[0] not in tree.body:
        line = classes[1].lineno if len(classes) > 1 else 1
        what = f"the source defines {len(classes)} classes"
        if len(classes) == 1:
            what = "the class is not at the top level"
        instead = "Define exactly one class, `class Name(Contract):`, and plain functions beside it"
        yield Problem(line, what, instead)
        return
    (contract,) = classes
    line = contract.lineno
    bases = [base.id if isinstance(base, ast.Name) else "?" for base in contract.bases]
    if bases != ["Contract"] or contract.keywords or contract.decorator_list:
        what = "the class has other bases than Contract, keywords or decorators"
        yield Problem(line, what, f"Write `class {contract.name}(Contract):`")
    for name, node in _stores(tree):
        if name in ("Contract", contract.name):
            yield Problem(node.lineno, f"{name} gets another meaning", "Use another name")
    yield from _hooks(contract)


def _stores(tree: ast.AST) -> Iterator[tuple[str, ast.Name | ast.FunctionDef]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node


def _hooks(contract: ast.ClassDef) -> Iterator[Problem]:
    for name, node in _stores(contract):
        if name in HOOKS and node not in contract.body:
            instead = f"Write `def {name}({', '.join(HOOKS[name])}):` in the class"
            yield Problem(node.lineno, f"{name} is no plain method", instead)
    for name, method in _methods(contract).items():
        if name in HOOKS:
            yield from _signature(method)
        elif near := get_close_matches(name, HOOKS, n=1, cutoff=0.8):
            what = f"{name} is no hook and would never be called"
            yield Problem(method.lineno, what, f"Rename it to {near[0]}")


def _signature(method: ast.FunctionDef) -> Iterator[Problem]:
    wanted, given = HOOKS[method.name], method.args
    count = len(given.posonlyargs) + len(given.args)
    more = given.vararg or given.kwonlyargs or given.kwarg or method.decorator_list
    if count != len(wanted) or more:
        what = f"{method.name} has other parameters than a hook, or a decorator"
        yield Problem(method.lineno, what, f"Write `def {method.name}({', '.join(wanted)}):`")
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(method)):
        yield Problem(method.lineno, f"{method.name} yields", "Return one value")


_CONSTANTS = (
    "Write literals, tuples, frozenset(...) or re.compile(...); make the rest inside the hook that "
    "needs it. Memory belongs in env_state.extras"
)


def _constants(tree: ast.Module) -> Iterator[Problem]:
    """What outlives a call must not change: it would be memory beside the extras."""
    bound = _bound(tree)
    for node in tree.body:
        for each in [node, *(node.body if isinstance(node, ast.ClassDef) else [])]:
            yield from _lasting(each, bound)


def _lasting(node: ast.stmt, bound: set[str]) -> Iterator[Problem]:
    outside: list[ast.AST | None] = []
    match node:
        case ast.Import() | ast.ImportFrom() | ast.ClassDef() | ast.Pass():
            pass
        case ast.Expr(value=ast.Constant()):
            pass
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            if value is not None and not _constant(value, bound):
                names = ", ".join(sorted(_bound(node))) or "this"
                yield Problem(node.lineno, f"the value of {names} is no constant", _CONSTANTS)
            outside += node.targets if isinstance(node, ast.Assign) else [node.annotation]
        case ast.FunctionDef(args=args):
            for default in (*args.defaults, *args.kw_defaults):
                if default is not None and not _constant(default, bound):
                    what = f"a default value of {node.name} is no constant"
                    yield Problem(default.lineno, what, "Write None, and make it in the function")
            if not {ast.unparse(each) for each in node.decorator_list} <= _DECORATORS - bound:
                what = f"{node.name} has a decorator other than staticmethod or property"
                yield Problem(node.lineno, what, "Call the function where it is needed")
            outside = [args, node.returns]
        case _:
            what = "only constants, functions, imports and the class stand outside the hooks"
            yield Problem(node.lineno, what, "Move this into a hook or a function")
    for part in outside:
        for inner in ast.walk(part) if part else ():
            if isinstance(inner, ast.NamedExpr | ast.Starred):
                yield Problem(inner.lineno, "this hides an assignment", "Write it on its own line")


_DECORATORS = {"staticmethod", "property"}
_UNCHANGING = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.Subscript),
    *(ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.operator, ast.unaryop, ast.expr_context),
)


def _constant(value: ast.AST, bound: set[str]) -> bool:
    """Whether a value never changes, as that of every name outside the hooks."""
    parts: Iterable[ast.AST] = ast.iter_child_nodes(value)
    match value:
        case ast.Call(func=ast.Name(id="frozenset" | "tuple" as name), args=args, keywords=[]):
            if name in bound:
                return False
            displays = [arg.elts if isinstance(arg, ast.List | ast.Set) else [arg] for arg in args]
            parts = [item for items in displays for item in items]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile")):
            parts = [*value.args, *(keyword.value for keyword in value.keywords)]
        case _ if not isinstance(value, _UNCHANGING):
            return False
    return all(_constant(part, bound) for part in parts)
