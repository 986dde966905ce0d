"""How new skills enter a bank."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from harness_core.models import ModelSession
from harness_core.testing.model_server import ModelServer, Say, Seen
from harness_skills.bank import Bank
from harness_skills.consolidate import CountingRules, ModelConsolidator
from harness_skills.operations import Operation
from harness_skills.writer import Writer
from support.skills import skill

Serve = Callable[..., tuple[ModelServer, ModelSession]]

DOORS = skill("open doors", "Open every closed door.", "strategy", "t1")
COUNT = skill("count", "Bring both objects.", "pitfall", "t2")
WASH = skill("wash", "Take the plate to the sinkbasin.", "strategy", "t3")


@pytest.fixture
def bank() -> Bank:
    bank = Bank()
    bank.apply([Operation("add", DOORS), Operation("add", COUNT)])
    return bank


def contents(bank: Bank) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {each.title: (each.content, each.provenance.tasks) for each in bank.freeze().skills}


def operations(*items: dict[str, Any]) -> str:
    return json.dumps({"operations": list(items)})


def test_rules_add_what_is_new_and_merge_what_is_known(bank: Bank) -> None:
    """Repetition joins the episodes that taught it, in the bank and among the new ones."""
    again = skill("open doors", "Open every closed door.", "strategy", "t8")
    washes = [WASH, skill("wash", "Take the plate to the sinkbasin!", "strategy", "t9")]
    left = CountingRules().consolidate(bank, [again, *washes], notes=["a note"])
    assert contents(bank) == {
        "open doors": (DOORS.content, ("t1", "t8")),
        "count": (COUNT.content, ("t2",)),
        "wash": (WASH.content, ("t3", "t9")),
    }
    assert bank.number == 2
    assert (left.returned, left.notes) == ((), ("a note",))


def test_rules_remove_what_clearly_does_harm(bank: Bank) -> None:
    """Twenty failures where others succeed are enough; two are not."""
    bank.credit([DOORS.id] * 12, solved=True)
    bank.credit([DOORS.id] * 8, solved=False)
    bank.credit([COUNT.id] * 2, solved=False)
    CountingRules().consolidate(bank, [])
    assert bank.number == 1
    bank.credit([COUNT.id] * 18, solved=False)
    CountingRules().consolidate(bank, [])
    assert list(contents(bank)) == ["open doors"]
    assert "solved 0.0%" in bank.log[-1].operations[0].reason


def test_a_model_decides(bank: Bank, serve: Serve) -> None:
    """Each operation does what it says; texts that are left out are those of what it names."""
    bank.credit([DOORS.id], solved=True)
    server, session = serve(
        lambda seen: operations(
            {"op": "Merge", "targets": ["S1"], "new": ["n1"], "content": "Open all doors."},
            {"op": "add", "new": ["N2"]},
            {"op": "skip", "new": ["N3"], "reason": "known"},
            {"op": "remove", "targets": ["[S2]"], "reason": "wrong"},
        )
    )
    new = [skill("doors", "Doors!", "strategy", "t8"), WASH, skill("other")]
    left = ModelConsolidator(Writer(session)).consolidate(bank, new, ["look up"])
    assert contents(bank) == {
        "open doors": ("Open all doors.", ("t1", "t8")),
        "wash": (WASH.content, ("t3",)),
    }
    assert left.returned == left.notes == ()
    assert [each.reason for each in bank.log[-1].operations] == ["", "", "known", "wrong"]
    prompt = server.seen[0].last
    assert "S1 [strategy] (given 1 times, solved 1) open doors" in prompt
    assert "N2 [strategy] wash" in prompt
    assert "- look up" in prompt
    assert server.seen[0].schema is not None


def test_an_update_writes_a_skill_anew(bank: Bank, serve: Serve) -> None:
    """It takes the old one's place; a category that nobody knows leaves the old one's."""
    text = {"title": "count first", "content": "Count.", "category": "?"}
    _, session = serve([operations({"op": "update", "targets": ["S2"], "new": [], **text})])
    ModelConsolidator(Writer(session)).consolidate(bank, [], ["a note"])
    assert contents(bank)["count first"] == ("Count.", ("t2",))
    assert [each.category for each in bank.freeze().skills] == ["strategy", "pitfall"]


def test_what_the_model_forgets_comes_back(bank: Bank, serve: Serve) -> None:
    """A new skill that no operation names is not lost."""
    _, session = serve([operations({"op": "add", "new": ["N1"]})])
    left = ModelConsolidator(Writer(session)).consolidate(bank, [WASH, skill("other")])
    assert left.returned == (skill("other"),)
    assert left.problem is None


def test_the_same_skill_added_again_is_merged(bank: Bank, serve: Serve) -> None:
    """Equal texts are one skill, taught by more episodes."""
    _, session = serve([operations({"op": "add", "new": ["N1"]})])
    again = skill("open doors", "Open every closed door.", "strategy", "t8")
    ModelConsolidator(Writer(session)).consolidate(bank, [again])
    assert contents(bank)["open doors"] == (DOORS.content, ("t1", "t8"))


BAD = {
    "cut": operations({"op": "add", "new": ["N1"]}, {"op": "skip", "new": ["N2"]})[:-20],
    "unknown": operations({"op": "add", "new": ["N9"]}),
    "twice": operations({"op": "add", "new": ["N1"]}, {"op": "skip", "new": ["N1"]}),
    "senseless": operations({"op": "update", "new": ["N1"], "targets": ["S1", "S2"]}),
    "gone": operations(
        {"op": "remove", "targets": ["S1"]}, {"op": "merge", "new": ["N1"], "targets": ["S1"]}
    ),
    "kind": operations({"op": "explode", "targets": ["S1"]}),
    "bare": operations({"op": "add"}),
    "filtered": Say("", finish="content_filter"),
    "down": Say("busy", status=503),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_answer_changes_and_consumes_nothing(
    bank: Bank, serve: Serve, bad: str | Say
) -> None:
    """The bank stays, and skills and notes come back with the reason."""
    _, session = serve(lambda seen: bad)
    before = bank.freeze()
    writer = Writer(session, attempts=2)
    left = ModelConsolidator(writer).consolidate(bank, [WASH, skill("other")], ["a note"])
    assert (bank.freeze(), bank.number) == (before, 1)
    assert left.returned == (WASH, skill("other"))
    assert left.notes == ("a note",)
    assert left.problem is not None


def test_a_bad_answer_is_told_what_is_wrong(bank: Bank, serve: Serve) -> None:
    """The second answer counts, and nothing of the first was applied."""
    server, session = serve([BAD["gone"], operations({"op": "add", "new": ["N1"]})])
    ModelConsolidator(Writer(session)).consolidate(bank, [WASH])
    assert list(contents(bank)) == ["open doors", "count", "wash"]
    assert "the bank has no such skill" in server.seen[1].last


def test_of_a_large_bank_what_is_near_is_shown(serve: Serve) -> None:
    """Within its tokens, the prompt holds the skills that are like the new ones."""
    bank = Bank(capacity=200)
    bank.apply([Operation("add", skill(f"topic{n} thing{n}")) for n in range(200)])
    shown: list[str] = []

    def script(seen: Seen) -> str:
        shown.append(seen.last)
        return operations({"op": "skip", "new": ["N1"]})

    _, session = serve(script)
    new = skill("topic77 thing77", "Do it well.")
    ModelConsolidator(Writer(session), tokens=300).consolidate(bank, [new])
    assert "topic77 thing77 | When" in shown[0].partition("New skills")[0]
    assert 5 < shown[0].count("[strategy]") < 40


def test_nothing_new_asks_nobody(bank: Bank, serve: Serve) -> None:
    """No skill and no note cost no call."""
    server, session = serve([])
    ModelConsolidator(Writer(session)).consolidate(bank, [])
    assert server.seen == []


def test_many_new_skills_are_asked_about_in_turn(bank: Bank, serve: Serve) -> None:
    """However many there are, no question is longer than its budget, and all are decided."""

    def decide(seen: Seen) -> str:
        labels = re.findall(r"^(N\d+) ", seen.text, re.MULTILINE)
        return operations(*({"op": "add", "new": [label]} for label in labels))

    server, session = serve(decide)
    new = [skill(f"lesson {number}", f"Do {number} " + "and so on " * 20) for number in range(30)]
    left = ModelConsolidator(Writer(session), tokens=600).consolidate(bank, new)
    assert left.returned == ()
    assert {each.title for each in new} <= contents(bank).keys()
    assert len(server.seen) > 3
