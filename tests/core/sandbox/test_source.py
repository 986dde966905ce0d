"""Wall 1: what the check reads out of a good source, and how it teaches about a bad one."""

from __future__ import annotations

import pytest

from harness_core.errors import SourceRejected
from harness_core.sandbox import check_source

GOOD = '''
"""A designer's contract."""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from harness_core import Action, Blocked, Contract, Observation, StepResult

ROOMS = ["kitchen", "hall"]
_LIMIT: int = 3


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
        "def f(items, table={}):\n"
        "    items.append(1)\n"
        "    found = {}\n"
        "    found['x'] = items\n"
        "    return found\n"
        "class C(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        "        env_state.extras.update(f([]))\n"
        "        return action\n"
    )
