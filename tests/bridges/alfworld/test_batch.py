"""`AlfworldBatch`: many games in one call."""

from __future__ import annotations

from random import Random

import pytest

from harness_bridges.alfworld.batch import AlfworldBatch, Answers
from harness_bridges.alfworld.engine import Play, World
from harness_core.errors import HarnessError


def test_a_batch_answers_as_each_game_alone(worlds: list[World]) -> None:
    """Random walks in a batch give every game's own frames, step by step."""
    batch, alone = AlfworldBatch(worlds), [Play(world) for world in worlds]
    answers, rng = batch.reset(), Random(0)
    frames = [play.start() for play in alone]
    for _ in range(60):
        assert answers == Answers(*map(list, zip(*frames, strict=True)))
        commands = [rng.choice([*each, "nonsense"]) for each in answers.admissible]
        answers = batch.step(commands)
        frames = [play.act(command) for play, command in zip(alone, commands, strict=True)]


def test_one_place_starts_anew(worlds: list[World]) -> None:
    """A place gets another game, or its own again; the other places go on."""
    batch = AlfworldBatch(worlds[:2])
    batch.reset()
    moved = [next(c for c in play.admissible() if c.startswith("go")) for play in batch.plays]
    batch.step(moved)
    assert batch.start(0).text == Play(worlds[0]).start().text
    assert batch.start(0, worlds[2]).text == Play(worlds[2]).start().text
    assert batch.plays[1].state != worlds[1].start


def test_commands_are_counted() -> None:
    """A command too many is refused before anything is executed; no game is no answer."""
    batch = AlfworldBatch([])
    assert batch.reset() == Answers([], [], [], [], [])
    with pytest.raises(HarnessError, match="0 games and got 1"):
        batch.step(["look"])


def test_lists_are_the_callers_own(worlds: list[World]) -> None:
    """Changing an answer's list changes no later answer."""
    batch = AlfworldBatch(worlds[:1])
    first = batch.reset().admissible[0]
    kept = list(first)
    first.clear()
    assert batch.step(["nonsense"]).admissible[0] == kept
