"""Game files that are broken, absurd or unknown: refused at once, with the file and the place."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_bridges.alfworld.diff import read_traces
from harness_bridges.alfworld.engine import Play, load_world, read_world
from harness_bridges.alfworld.engine.reader import MAX_CHARACTERS, MAX_THINGS
from harness_core.errors import EnvError
from harness_core.values import JsonDict
from support.alfworld_odd import facts_of, with_fact, without_fact
from support.alfworld_traces import WALKS

GAME: JsonDict = next(
    trace.game
    for trace in read_traces(WALKS)
    if trace.name.startswith("published/train/pick_heat") and trace.kind == "random"
)
PROBLEM: str = GAME["pddl_problem"]
FACTS = facts_of(PROBLEM)
THING, PLACE = FACTS["inReceptacle"][0]
SPOT = FACTS["receptacleAtLocation"][0][1]


@contextmanager
def at_once() -> Iterator[None]:
    """Less than a second of this process's time."""
    began = time.process_time()
    yield
    assert time.process_time() - began < 1


def refused(folder: Path, content: bytes | str | JsonDict) -> str:
    """The message with which a file of that content is refused; it names the file."""
    path = folder / "game.tw-pddl"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with at_once(), pytest.raises(EnvError) as raised:
        load_world(path)
    assert str(path) in str(raised.value)
    assert len(str(raised.value)) < 1000
    return str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """No file, and a folder without one, are refused by name."""
    for path in (tmp_path / "game.tw-pddl", tmp_path):
        with pytest.raises(EnvError, match=re.escape(str(path))):
            load_world(path)


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.9, 0.999])
def test_truncated_files(tmp_path: Path, share: float) -> None:
    """A file that was cut off anywhere is refused."""
    text = json.dumps(GAME)
    assert "game.tw-pddl" in refused(tmp_path, text[: int(share * len(text))])


@pytest.mark.parametrize("key", ["pddl_domain", "grammar", "pddl_problem"])
@pytest.mark.parametrize("value", [None, 3, [], {}, True, ["text"]])
def test_missing_and_wrong_keys(tmp_path: Path, key: str, value: Any) -> None:
    """A key that is missing or no text is named, in a file and in its content alike."""
    assert key in refused(tmp_path, {**GAME, key: value})
    without = {name: text for name, text in GAME.items() if name != key}
    assert key in refused(tmp_path, without)
    with pytest.raises(EnvError, match=key):
        read_world(without)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\0" * 100, b"\xff\xfe\x00", b"null", b"[]", b"3", b"NaN", b'"text"', b"{}"),
        *(json.dumps(GAME).encode("utf-16"), b"\xef\xbb\xbf" + json.dumps(GAME).encode()),
        *(b"[" * 200_000, b'{"a":' * 200_000, b"[" * 200_000 + b"]" * 200_000),
    ],
    ids=lambda content: repr(content[:9]),
)
def test_files_that_are_something_else(tmp_path: Path, content: bytes) -> None:
    """Other encodings, other JSON, nested JSON and no JSON are refused."""
    refused(tmp_path, content)


def test_large_files(tmp_path: Path) -> None:
    """A huge file is refused by its size alone, without reading it."""
    path = tmp_path / "game.tw-pddl"
    with path.open("wb") as file:
        file.truncate(10**11)
    with at_once(), pytest.raises(EnvError, match=r"game\.tw-pddl.*100,000,000,000 bytes"):
        load_world(path)


def test_a_million_objects(tmp_path: Path) -> None:
    """Too many characters, or too many things, are refused before anything is built from them."""
    names = [f"mug_bar_{number}" for number in range(1_000_000)]
    declared = PROBLEM.replace("(:objects", f"(:objects {' '.join(names)} - object")
    with at_once(), pytest.raises(EnvError, match=r"its problem has [\d,]+ characters"):
        read_world({**GAME, "pddl_problem": declared})
    some = names[: MAX_THINGS + 1]
    many = PROBLEM.replace("(:objects", f"(:objects {' '.join(some)} - object")
    many = many.replace("(:init", "(:init " + " ".join(f"(pickupable {name})" for name in some))
    assert len(many) < MAX_CHARACTERS
    assert "things; at most" in refused(tmp_path, {**GAME, "pddl_problem": many})


def test_the_largest_problems_take_no_time() -> None:
    """A problem just under the limit is read, and refused or played, within a second."""
    room = MAX_CHARACTERS - len(PROBLEM) - 100
    for filler in ("(", "()", "a ", ";", "\n", "(a b) ", "?", "(isclean x)"):
        for before in ("(:init", "(:goal", "(:objects", "(define"):
            text = PROBLEM.replace(before, before + " " + filler * (room // len(filler)), 1)
            assert len(text) <= MAX_CHARACTERS
            with at_once():
                plays_or_refuses({**GAME, "pddl_problem": text})


def with_goal(goal: str) -> str:
    return PROBLEM[: PROBLEM.index("(:goal")] + f"(:goal {goal}))"


ABSURD: dict[str, tuple[str, str]] = {
    "no bracket": ("", "one form"),
    "words": ("define problem", "one form"),
    "two forms": (PROBLEM + "(define)", "one form"),
    "an open bracket": (PROBLEM.rstrip().rstrip(")"), "never closed"),
    "a closed bracket": (")" + PROBLEM, "line 1 of its problem closes a bracket"),
    "nesting": (with_goal("(" * 5000 + ")" * 5000), "nests more than"),
    "no objects": (PROBLEM.replace("(:objects", "(:things"), "(:objects ...)"),
    "no init": (PROBLEM.replace("(:init", "(:facts"), "(:init ...)"),
    "no goal": (PROBLEM.replace("(:goal", "(:wish"), "(:goal ...)"),
    "two goals": (with_goal("(and) (and)"), "not one condition"),
    "a word for a goal": (with_goal("win"), "none of the six"),
    "an empty goal": (with_goal("()"), "none of the six"),
    "another goal": (with_goal("(forall (?o - object) (isClean ?o))"), "none of the six"),
    "a negated goal": (PROBLEM.replace("(isHot ?o)", "(not (isHot ?o))"), "none of the six"),
    "no such object": (PROBLEM.replace(" ?o ", " ?o golden"), "none of the six|out of reach"),
    "umlauts": (PROBLEM.replace("_bar_", "_b\u00e4r_", 1), "'\u00e4', which is not ASCII"),
    "a fact unknown": (with_fact(PROBLEM, "haunted", THING), "(haunted "),
    "a number": (with_fact(PROBLEM, "=", "(total-cost)", "0"), "(= (total-cost) 0)"),
    "a nested fact": (with_fact(PROBLEM, "not", f"(isClean {THING})"), "(not (isclean "),
    "a bare word": (PROBLEM.replace("(:init", "(:init haunted"), "haunted"),
    "an empty fact": (with_fact(PROBLEM), "no rule of the engine knows: ()"),
    "one id too many": (with_fact(PROBLEM, "isClean", THING, THING), "(isclean "),
    "one id too few": (with_fact(PROBLEM, "inReceptacle", THING), "(inreceptacle "),
    "an undeclared id": (with_fact(PROBLEM, "isClean", "ghost_bar_1"), "(isclean ghost_bar_1)"),
    "a receptacle that is clean": (with_fact(PROBLEM, "isClean", PLACE), "a declared object"),
    "a thing in a thing": (with_fact(PROBLEM, "inReceptacle", THING, THING), "declared receptacle"),
    "a place in itself": (with_fact(PROBLEM, "inReceptacle", PLACE, PLACE), "a declared object"),
    "a held thing": (with_fact(PROBLEM, "holds", "agent1", THING), "(holds agent1"),
    "no agent": (
        without_fact(PROBLEM, "atLocation", *FACTS["atLocation"][0]),
        "where the agent is",
    ),
    "an agent at two places": (
        with_fact(PROBLEM, "atLocation", "agent1", SPOT),
        "where the agent is",
    ),
    "a place at two places": (
        with_fact(PROBLEM, "receptacleAtLocation", PLACE, FACTS["receptacleAtLocation"][-1][1])
        + with_fact("", "receptacleAtLocation", PLACE, SPOT),
        "is at two locations",
    ),
    "two types": (with_fact(PROBLEM, "objectType", THING, FACTS["objectType"][-1][1]), "two types"),
    "declared twice": (
        PROBLEM.replace("(:objects", f"(:objects {THING} - object"),
        "declares twice",
    ),
    "declared as nothing": (re.sub(r"\)\s*\(:init", " x) (:init", PROBLEM), "declare what 'x' is"),
    "an id of another form": (
        with_fact(PROBLEM, "isClean", "ghost").replace("(:objects", "(:objects ghost - object"),
        "'ghost' in its problem is not of the form",
    ),
    "no such receptacle": (PROBLEM.replace("receptacleType ?r ", "receptacleType ?r No"), "reach"),
    "nothing heats": (PROBLEM.replace("MicrowaveType", "RadioType"), "out of reach"),
    "nothing can be taken": (re.sub(r"\(pickupable [^)]*\)", "", PROBLEM), "out of reach"),
    "nothing is anywhere": (re.sub(r"\(inReceptacle \w[^)]*\)", "", PROBLEM), "out of reach"),
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_problems(tmp_path: Path, name: str) -> None:
    """What the engine would have to guess at is refused, and the message shows it."""
    problem, told = ABSURD[name]
    assert re.search(_pattern(told), refused(tmp_path, {**GAME, "pddl_problem": problem}))


def _pattern(told: str) -> str:
    return "|".join(map(re.escape, told.split("|")))


@pytest.mark.parametrize("key", ["pddl_domain", "grammar"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text.replace("(", "[", 1),
        lambda text: text.replace("isSliced", "isCarved").replace("sliced", "carved"),
        lambda text: text + "\n(:action fly)",
    ],
    ids=["empty", "one sign", "other words", "one rule more"],
)
def test_unknown_texts(tmp_path: Path, key: str, change: Callable[[str], str]) -> None:
    """A domain or grammar that the engine does not know is refused by name, with the way out."""
    told = refused(tmp_path, {**GAME, key: change(GAME[key])})
    assert key in told
    assert "engine='textworld'" in told or change(GAME[key]) == ""


def test_tasks_are_plain_sentences(tmp_path: Path) -> None:
    """No task, two tasks, or one that the grammar would read as its own signs are refused."""
    line = re.search(r'"Your task is to: [^"]*"', GAME["grammar"])
    assert line is not None
    for text in ('"Win."', f"{line[0]} {line[0]}", '"Your task is to: #look# {o.name}."'):
        grammar = GAME["grammar"].replace(line[0], text)
        assert "grammar" in refused(tmp_path, {**GAME, "grammar": grammar})


def test_cycles_are_played(tmp_path: Path) -> None:
    """Things that are in each other and in themselves are listed, and do not hang the engine."""
    problem = PROBLEM
    things = [thing for thing, *_ in FACTS["pickupable"]][:3]
    for thing in things:
        for other in things:
            problem = with_fact(problem, "inReceptacleObject", thing, other)
        if (thing,) not in FACTS.get("isReceptacleObject", []):
            problem = with_fact(problem, "isReceptacleObject", thing)
    with at_once():
        world = read_world({**GAME, "pddl_problem": problem})
    assert sorted(map(len, world.contents.values())) == [2, 2, 2]


def plays_or_refuses(game: JsonDict) -> None:
    """Reads a game; if it is one, a few commands have an answer."""
    try:
        world = read_world(game)
    except EnvError:
        return
    play = Play(world)
    frame = play.start()
    for turn in range(12):
        assert {"look", "inventory"} <= set(frame.admissible)
        frame = play.act(frame.admissible[7 * turn % len(frame.admissible)])
        assert frame.valid


_WORDS = re.findall(r"[()]|[^\s()]+", PROBLEM)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_change_of_words(data: st.DataObject) -> None:
    """Whatever words of a problem are left out, doubled or swapped, it is played or refused."""
    words = [*_WORDS]
    places = st.integers(0, len(_WORDS) - 20)
    for _ in range(data.draw(st.integers(1, 4))):
        here, there = data.draw(places) % len(words), data.draw(places) % len(words)
        way = data.draw(st.sampled_from(["drop", "double", "swap", "copy"]))
        if way == "drop":
            del words[here]
        elif way == "double":
            words.insert(here, words[here])
        elif way == "swap":
            words[here], words[there] = words[there], words[here]
        else:
            words[here] = words[there]
    with at_once():
        plays_or_refuses({**GAME, "pddl_problem": " ".join(words)})


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.text("()?-:; \nab", max_size=300))
def test_any_text(one: str, other: str) -> None:
    """No text whatsoever in place of the domain, the grammar or the problem does more harm."""
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        for text in (one, other, f"(define (:objects {other}) (:init {other}) (:goal {other}))"):
            plays_or_refuses({**GAME, key: text})
