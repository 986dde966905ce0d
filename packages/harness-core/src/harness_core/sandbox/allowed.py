"""What generated code may name: the one list behind the check and the worker's namespace.

Standard library only: the worker reads it without the package around it.
"""

from __future__ import annotations

import importlib

HOOKS: dict[str, tuple[str, ...]] = {
    "filter_action": ("self", "action", "env_state"),
    "modify_transition": ("self", "action", "response", "env_state"),
    "filter_observation": ("self", "observation", "env_state"),
}
"""The hooks of a contract and their parameters."""

VALUES = ("Action", "Blocked", "Contract", "Observation", "StepResult")
"""What `from harness_core import ...` may name, and what is there without an import."""

BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "callable",
        "chr",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "tuple",
        "zip",
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "Exception",
        "IndexError",
        "KeyError",
        "LookupError",
        "NotImplementedError",
        "OverflowError",
        "RecursionError",
        "RuntimeError",
        "StopIteration",
        "TypeError",
        "UnicodeError",
        "ValueError",
        "ZeroDivisionError",
    ]
)

# An empty text stands for all public names. Left out on purpose: `functools.update_wrapper` and
# `operator` (attributes by name), `string.Formatter` (attributes in format strings),
# `shlex.shlex` (opens files), `typing.get_type_hints` (evaluates text), anything with a clock,
# a random source or memory outside the episode.
MODULES: dict[str, str] = {
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "collections.abc": "Callable Collection Hashable Iterable Iterator Mapping Sequence Set Sized",
    "fractions": "Fraction",
    "functools": "cmp_to_key partial reduce",
    "itertools": "",
    "json": "dumps loads JSONDecodeError",
    "math": "",
    "re": "A ASCII DOTALL I IGNORECASE M MULTILINE Match Pattern S VERBOSE X compile error escape "
    "findall finditer fullmatch match search split sub subn",
    "shlex": "join quote split",
    "statistics": "fmean geometric_mean harmonic_mean mean median median_high median_low mode "
    "multimode pstdev pvariance quantiles stdev variance",
    "string": "ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits octdigits "
    "printable punctuation whitespace",
    "textwrap": "dedent fill indent shorten wrap",
    "typing": "Any Callable Dict Final FrozenSet Iterable Iterator List Literal Mapping Optional "
    "Sequence Set TYPE_CHECKING Tuple Union",
}


def public_names(module: str) -> list[str]:
    """The names of an allowed module that generated code may use."""
    listed = MODULES[module].split()
    if listed:
        return listed
    return [name for name in dir(importlib.import_module(module)) if not name.startswith("_")]
