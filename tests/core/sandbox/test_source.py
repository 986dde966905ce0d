"""Wall 1: what the check reads out of a good source, and how it teaches about a bad one."""

from __future__ import annotations

from textwrap import indent

import pytest

from harness_core.errors import ContractError, SourceRejected
from harness_core.sandbox import ContractSession, check_source
from harness_core.values import Action, Blocked, EnvState

GOOD = '''
"""A designer's contract."""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from harness_core import Action, Blocked, Contract, Observation, StepResult

ROOMS = ("kitchen", "hall")
_LIMIT: int = 3
_WORD = re.compile(r"[a-z]+", re.IGNORECASE | re.ASCII)
_DOORS = frozenset({"hall", "cellar"}) | frozenset(ROOMS)
_MESSAGE = f"{_LIMIT:>3} is enough"
_BEST = -_LIMIT * 2, ROOMS[0]


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 1]


class _Contract(Contract):
    """Counts and refuses."""

    verbs = ("take", "put")

    def filter_action(self, action: Action, env_state: Any) -> Action | Blocked:
        counts = env_state.extras.setdefault("counts", {})
        match action:
            case Action(text=text) if text.startswith(self.verbs):
                counts[text] = counts.get(text, 0) + 1
        if (n := sum(counts.values())) > _LIMIT:
            return Blocked(f"{n:>3} is enough")
        return self.twice(action)

    @staticmethod
    def twice(action):
        try:
            return action.replace(text=" ".join(_words(action.text)))
        except (ValueError, KeyError) as error:
            raise RuntimeError("no") from error

    def filter_observation(self, observation, env_state):
        seen = Counter(_words(observation.text))
        seen.update(room for room in ROOMS)
        return observation.replace(data={**observation.data, "seen": dict(seen)})
'''


def test_reads_the_class_and_its_hooks():
    """A source of ordinary Python passes, with the class's name and the hooks that it defines."""
    source = check_source(GOOD)
    assert source.class_name == "_Contract"
    assert source.hooks == {"filter_action", "filter_observation"}
    assert source.text == GOOD


def test_the_published_example_passes():
    """The example of a designer's contract, which uses lent helpers, passes as it is."""
    source = check_source(
        "class _Contract(Contract):\n"
        "    def modify_transition(self, action, response, env_state):\n"
        "        cmd = bash_command(action)\n"
        '        if "pytest" in cmd or "runtests.py" in cmd:\n'
        '            env_state.extras["ran_tests"] = True\n'
        '        if is_submission(cmd) and not env_state.extras.get("ran_tests"):\n'
        '            return failed(response, "githook: run the tests before submitting.")\n'
        "        return response\n"
    )
    assert source.hooks == {"modify_transition"}


def test_tells_all_problems_at_once():
    """Three mistakes give three lines, in order, each with its own advice."""
    text = (
        "import os\n"
        "class C(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        "        self.seen = getattr(action, 'text')\n"
        "        return action\n"
    )
    with pytest.raises(SourceRejected) as raised:
        check_source(text)
    lines = str(raised.value).splitlines()[1:]
    assert [line.split(":")[0].strip() for line in lines] == ["line 1", "line 4", "line 4"]
    assert "import os" in lines[0]
    assert "getattr" in lines[1]
    assert "action.text" in lines[1]
    assert "self.seen" in lines[2]
    assert "env_state.extras" in lines[2]


def test_a_contract_without_hooks_passes():
    """A class without hooks is the identity, and says so."""
    assert check_source("class C(Contract):\n    pass\n").hooks == frozenset()


def test_local_names_may_shadow_builtins():
    """A variable called `input` or `id` is the source's own name, not the builtin."""
    check_source(
        "class C(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        "        input = id = action.text\n"
        "        return action.replace(text=input + id)\n"
    )


def test_local_objects_may_change():
    """Only objects that outlive the call are refused; a local list or dict may grow."""
    check_source(
        "def f(items, limit=3):\n"
        "    items.append(1)\n"
        "    found = {}\n"
        "    found['x'] = items\n"
        "    return found\n"
        "class C(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        "        env_state.extras.update(f([]))\n"
        "        return action\n"
    )


LASTING = {
    "counter": "N = count()",
    "iterator": "N = iter((1, 2))",
    "generator": "N = (x for x in (1, 2))",
    "list": "N = []",
    "dict": "N: dict = {}",
    "set": "N = {1}",
    "list in a tuple": "N = (1, ([],))",
    "list in a frozenset": "N = frozenset((1, iter(())))",
    "list comprehension": "N = [i for i in range(5)]",
    "lambda": "N = lambda x=[]: x",
    "object by call": "N = Counter()",
    "condition": "N = 1 if 0 else []",
    "two at once": "A, N = 1, []",
    "starred": "*N, A = (1, 2)",
    "augmented": "N = ()\nN += (count(),)",
    "walrus": "(N := count())",
    "walrus in an annotation": "x: (N := count()) = 1",
    "walrus in a parameter": "def f(a: (N := count())): pass",
    "walrus in a result": "def f() -> (N := count()): pass",
    "default": "def f(a, seen=[]): pass",
    "keyword default": "def f(*, seen=count()): pass",
    "decorator": "@iter\ndef f(): pass",
    "decorator by call": "@partial(map, iter)\ndef f(): pass",
    "loop": "for N in (iter(()),): pass",
    "block": "if 1:\n    N = count()",
    "handler": "try:\n    pass\nexcept ValueError:\n    pass",
    "shadowed frozenset": "def frozenset(x): return iter(x)\nN = frozenset((1,))",
    "imported frozenset": "from itertools import chain as frozenset\nN = frozenset((1,))",
    "shadowed property": "def property(x): return iter(())\n@property\ndef f(): pass",
    "object": "N = object()",
}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", LASTING)
def test_nothing_outside_the_hooks_can_remember(name, inside):
    """Beside the class and in its body stand constants and functions; each other kind of value
    is rejected with a line and what to write instead."""
    text = LASTING[name]
    imports = "from itertools import count\nfrom collections import Counter\n"
    imports += "from functools import partial\n"
    if inside:
        source = f"{imports}class C(Contract):\n" + indent(text, "    ")
    else:
        source = f"{imports}{text}\nclass C(Contract):\n    pass\n"
    with pytest.raises(SourceRejected, match=r"line \d+: .+\. .+\.$"):
        check_source(source)


def test_the_value_of_a_name_is_named_with_the_way_out():
    """The message has the name, what is allowed, and where memory belongs."""
    with pytest.raises(SourceRejected, match=r"value of SEEN is no constant.*tuples.*extras"):
        check_source("SEEN = {}\nclass C(Contract):\n    pass\n")


def answered(body: str) -> Action | Blocked:
    """What `filter_action` with this body answers."""
    source = f"class C(Contract):\n    def filter_action(self, action, env_state):\n{body}"
    session = ContractSession(source)
    try:
        return session.filter_action(Action("go"), EnvState)
    finally:
        session.close()


@pytest.mark.parametrize("value", ["action", "Blocked", "Observation", "StepResult", "Action"])
def test_stand_ins_cannot_be_changed(value):
    """The table of a stand-in's fields is read-only, so that it is no memory either."""
    for change in ("['seen'] = 1", ".update(seen=1)"):
        with pytest.raises(ContractError, match=r"TypeError|AttributeError"):
            answered(f"        {value}.types{change}\n        return action\n")


def test_what_hooks_are_given_prints_the_same_every_time():
    """Neither the contract itself, its state nor a value shows an address."""
    shown = answered("        return action.replace(text=f'{self} {env_state!r} {[action]}')\n")
    assert shown == Action("C() EnvState(...) [Action(text='go', tool='', arguments={})]")
