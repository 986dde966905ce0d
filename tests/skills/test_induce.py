"""Skills from episodes, through a real server and litellm."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness_core import Chain, StackSpec
from harness_core.errors import ModelRefused
from harness_core.models import ModelSession
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool, Unit
from harness_core.serial import digest_of
from harness_core.store import RunStore
from harness_core.testing.model_server import ModelServer, Say, Seen
from harness_skills.induce import Experience, Inducer, experiences
from harness_skills.item import CAPS
from harness_skills.writer import Writer
from support.skills import episode

Serve = Callable[..., tuple[ModelServer, ModelSession]]


def answer(*titles: str, **more: str) -> str:
    skills = [
        {"title": title, "description": "d", "content": "c", "category": "pitfall", **more}
        for title in titles
    ]
    return json.dumps({"skills": skills})


def seen_of(task: str, *outcomes: bool) -> list[Experience]:
    stack = StackSpec("ladder", task).to_dict()
    return [
        Experience(episode(task, success, f"act {number}"), stack, f"{task}-{number}")
        for number, success in enumerate(outcomes)
    ]


def named(seen: Seen) -> str:
    """Names a skill by the kind of prompt that asks for it."""
    system = str(seen.messages[0]["content"])
    kinds = ("in every episode below. Say what made", "failed at this task in every", "Compare")
    (kind,) = [number for number, words in enumerate(kinds) if words in system]
    return answer(("won", "lost", "compared")[kind])


def test_successes_failures_and_both_are_told_apart(serve: Serve) -> None:
    """Each kind has its own instruction; provenance says tasks, envs, episodes, round, outcome."""
    _, session = serve(named)
    given = [*seen_of("t1", True, True), *seen_of("t2", False), *seen_of("t3", True, False)]
    found = Inducer(Writer(session)).induce(given, round_number=4)
    assert [each.title for each in found.skills] == ["won", "lost", "compared"]
    assert [each.provenance.outcome for each in found.skills] == ["success", "failure", "both"]
    assert [each.provenance.tasks for each in found.skills] == [("t1",), ("t2",), ("t3",)]
    assert found.skills[2].provenance.episodes == ("t3-0", "t3-1")
    assert found.skills[2].provenance.envs == (digest_of(given[-1].stack),)
    assert found.skills[2].provenance.round == 4
    assert (found.returned, found.problems) == ((), ())


def test_without_contrast_each_kind_is_asked_about_on_its_own(serve: Serve) -> None:
    """A task with both kinds gets two questions."""
    server, session = serve(named)
    found = Inducer(Writer(session), contrast=False).induce(seen_of("t", True, False, True))
    assert [each.title for each in found.skills] == ["won", "lost"]
    assert [text.count("<episode>") for text in sorted(each.last for each in server.seen)] == [2, 1]


def test_a_question_holds_so_many_episodes_within_so_many_tokens(serve: Serve) -> None:
    """Successes and failures take turns in each; the order of the input does not matter."""
    server, session = serve(lambda seen: answer("a"))
    given = seen_of("t", True, True, True, False, False, False)
    inducer = Inducer(Writer(session), at_once=4, tokens=1200)
    inducer.induce(given)
    texts = sorted((each.last for each in server.seen), key=len)
    assert [text.count("<episode>") for text in texts] == [2, 4]
    assert all(text.count("solved it.") == text.count("did not solve it.") for text in texts)
    inducer.induce(given[::-1])
    assert len(server.seen) == 2, "the same questions are in the cache"


def test_unusable_answers_are_asked_again_with_the_reason(serve: Serve) -> None:
    """Prose, then a cut answer, then a good one: the model is told what was wrong each time."""
    server, session = serve(
        ["Open doors.", Say(answer("a")[:-9], finish="length"), f"```json\n{answer('a')}\n```"]
    )
    found = Inducer(Writer(session)).induce(seen_of("t", True))
    assert [each.title for each in found.skills] == ["a"]
    assert "no whole JSON object" in server.seen[1].last
    assert "The answer was cut" in server.seen[2].last


@pytest.mark.parametrize(
    "bad",
    [
        Say(answer("a", "b")[:-9], finish="length"),
        Say(""),
        Say('{"skills": [{"title": "no content"}]}'),
        Say("x", finish="content_filter"),
        Say("busy", status=503),
    ],
    ids=["cut", "empty", "incomplete", "filtered", "down"],
)
def test_nothing_is_lost_by_a_bad_answer(serve: Serve, bad: Say) -> None:
    """Evidence comes back whole, with the reason; the other tasks are learned from."""

    def script(seen: Seen) -> Say | str:
        return bad if "act 1" in seen.text else answer("fine")

    _, session = serve(script)
    given = [*seen_of("t1", True, False), *seen_of("t2", True)]
    found = Inducer(Writer(session, attempts=2)).induce(given)
    assert [each.title for each in found.skills] == ["fine"]
    assert set(found.returned) == set(given[:2])
    (problem,) = found.problems
    assert problem.fault == ("infrastructure" if bad.status == 503 else "policy")


def test_what_stops_a_run_is_raised(serve: Serve) -> None:
    """A refused model is the caller's to mend, so no round goes by without a word."""
    _, session = serve(lambda seen: Say("no such model", status=404))
    with pytest.raises(ModelRefused):
        Inducer(Writer(session)).induce(seen_of("t", True))


def test_an_empty_list_is_an_answer(serve: Serve) -> None:
    """Where episodes teach nothing, they are used up all the same."""
    _, session = serve(lambda seen: '{"skills": []}')
    found = Inducer(Writer(session)).induce(seen_of("t", True))
    assert (found.skills, found.returned, found.problems) == ((), (), ())


def test_what_is_too_long_or_of_no_category_is_put_right(serve: Serve) -> None:
    """Texts are cut after a word, and an unknown category becomes the first."""
    long = answer("t " * 200, content="word " * 1000, category="nonsense")
    _, session = serve(lambda seen: long)
    (skill,) = Inducer(Writer(session)).induce(seen_of("t", True)).skills
    assert len(skill.title) <= CAPS["title"]
    assert skill.content.endswith("word...")
    assert skill.category == "strategy"


def test_the_answer_keeps_to_the_number_asked_for(serve: Serve) -> None:
    """What is beyond it is not taken, and equal skills are one."""
    _, session = serve(lambda seen: answer("a", "a", "b", "c"))
    found = Inducer(Writer(session), most=3).induce(seen_of("t", True))
    assert [each.title for each in found.skills] == ["a", "b"]


def test_a_run_is_evidence(tmp_path: Any) -> None:
    """Every episode that counts, with the tasks of chained envs; what broke is left out."""
    chained = StackSpec("ladder", "rung-1").wrapped(Chain(StackSpec("ladder", "rung-2")))
    broken = StackSpec("ladder", "rung-3", options={"trouble": "raise"})
    policy = PolicySpec("scripted", {"actions": ["up"] * 3})
    with (
        RunStore(tmp_path / "run.db") as store,
        RolloutPool(store=store, retries=0) as pool,
    ):
        pool.run([Unit(chained, policy), Unit(broken, policy)])
        (seen,) = experiences(store)
    assert seen.tasks == ("rung-1", "rung-2")
    assert seen.key == Unit(chained, policy).key
