import ast
from pathlib import Path

import pytest

from harness_bridges.toy24 import helpers
from harness_core import Action

FIVE = {"left": 5, "operator": "-", "right": "1/5"}


@pytest.mark.parametrize(
    ("action", "parts"),
    [
        (Action("combine 5 - 1/5"), ("5", "-", "1/5")),
        (Action(tool="combine", arguments=FIVE), ("5", "-", "1/5")),
        (Action("reset"), None),
        (Action("combine 5 -"), None),
        (Action(tool="stop"), None),
    ],
)
def test_both_forms_of_combine_are_read(action, parts):
    """A contract gets the same three texts from a tool call and from its text."""
    assert helpers.combine_parts(action) == parts


def test_both_forms_of_stop_are_recognised():
    """`stop` is recognised as a text and as a tool, and nothing else is."""
    assert helpers.is_stop(Action("stop"))
    assert helpers.is_stop(Action(tool="stop"))
    assert not helpers.is_stop(Action("reset"))
    assert not helpers.is_stop(Action("stop", tool="combine"))


def test_the_source_stands_alone():
    """The module imports nothing but the contract's own values, so its text can be lent."""
    tree = ast.parse(Path(helpers.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [getattr(node, "module", None) for node in imports] == ["harness_core"]
