"""`AlfworldEnv` on both engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_bridges.alfworld.env import AlfworldEnv
from harness_bridges.alfworld.games import Game, generate_games, read_game
from harness_core import Action, Chain, StackSpec, Stage, compose, make, restore, snapshot
from harness_core.chain import RouteView
from harness_core.contract import Contract, StateView
from harness_core.errors import EnvError, HarnessError, InvalidAction, SpecError, UnknownTaskError
from harness_core.testing import check_env
from harness_core.testing.contracts import CountSteps
from harness_core.values import StepResult


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    """One small game of each family, in the order of the families."""
    return generate_games(tmp_path_factory.mktemp("games"), count=6, seed=3, receptacles=9)


def root_of(game: Game) -> str:
    return str(game.path.parents[3])


def env_of(game: Game, engine: str) -> AlfworldEnv:
    env = make("alfworld", task=game.id, games=root_of(game), engine=engine)
    assert isinstance(env, AlfworldEnv)
    return env


def walkthrough(game: Game) -> list[str]:
    steps: list[str] = read_game(game.path)["walkthrough"]
    return steps


def test_it_keeps_the_contract(games: list[Game], engine: str) -> None:
    """`check_env` finds nothing: determinism, interleaving, snapshots, copies, close twice."""
    assert check_env(lambda: env_of(games[0], engine), steps=6)


def test_the_start(games: list[Game], engine: str) -> None:
    """A reset shows the introduction, the goal, the admissible commands and all versions."""
    game = games[2]
    with env_of(game, engine) as env:
        start = env.reset()
        assert start.observation.text.startswith("-= Welcome to TextWorld, ALFRED! =-")
        assert start.observation.text.endswith(f"Your task is to: {game.goal}.")
        assert env.observe() == start.observation
        data = start.observation.data
        assert {"help", "inventory", "look"} < set(data["admissible"])
        assert (data["goal"], data["family"], data["task"]) == (game.goal, game.family, game.id)
        assert (start.task.id, start.task.goal) == (game.id, game.goal)
        assert start.info["engine"].startswith("native" if engine == "native" else "textworld 1.7")
        assert start.info["dialect"] == data["dialect"] == "move"
        assert len(start.info["game"]) == 64


def test_tasks_are_chosen_by_id(games: list[Game], engine: str) -> None:
    """The id decides; an unknown one names the nearest, and no id is an error, not a choice."""
    root = root_of(games[0])
    with make("alfworld", games=root, engine=engine) as env:
        assert [task.id for task in env.list_tasks()] == sorted(game.id for game in games)
        with pytest.raises(SpecError, match="Choose a game"):
            env.reset()
        assert env.reset(options={"task": games[1].id}).task.id == games[1].id
        assert env.reset().task.id == games[1].id
    with pytest.raises(UnknownTaskError, match="Did you mean"):
        make("alfworld", task=games[0].id[:-1], games=root, engine=engine)


def test_games_made_later_are_found(games: list[Game], engine: str, tmp_path: Path) -> None:
    """A game that is written after the folder was first read can be chosen."""
    (first,) = generate_games(tmp_path, count=1, receptacles=9)
    env_of(first, engine)
    later = generate_games(tmp_path, count=2, receptacles=9)[1]
    assert env_of(later, engine).list_tasks()[-1].id in {first.id, later.id}


def test_no_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder of games the error says how to name one or make one."""
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with pytest.raises(SpecError, match="ALFWORLD_DATA"):
        make("alfworld", task="train/x/y")


def test_walkthroughs_win(games: list[Game], engine: str) -> None:
    """Each family's stored plan ends the episode at its last step, and the verdict is success."""
    for game in games:
        with env_of(game, engine) as env:
            env.reset()
            *steps, last = walkthrough(game)
            for command in steps:
                assert not env.step(Action(command)).ended, command
                assert not env.evaluate().success
            assert env.step(Action(last)).terminated
            assert env.evaluate().success
            assert env.evaluate().score == 1.0


def test_the_verdict_is_on_the_state_as_it_is(games: list[Game], engine: str) -> None:
    """After the end the engine goes on: walking away from the lamp undoes a look-at task."""
    game = games[1]
    assert game.family == "look_at_obj_in_light"
    with env_of(game, engine) as env:
        env.reset()
        for command in walkthrough(game):
            answer = env.step(Action(command))
        away = next(c for c in answer.observation.data["admissible"] if c.startswith("go to"))
        assert not env.step(Action(away)).terminated
        assert not env.evaluate().success


def test_nonsense_is_answered(games: list[Game], engine: str) -> None:
    """What is no admissible command is a step that changes nothing, as in the benchmark."""
    with env_of(games[0], engine) as env:
        env.reset()
        before = env.get_env_state()
        for text in ("open the pod bay doors", "", "Go To shelf 1"):
            answer = env.step(Action(text))
            assert answer.observation.text == "Nothing happens."
            assert answer.info == {"valid": False}
        after = env.get_env_state()
        assert (before.data, before.steps, after.steps) == (after.data, 0, 3)


def test_tool_calls(games: list[Game], engine: str) -> None:
    """`act(command)` is the command itself; any other call is refused with the way out."""
    with env_of(games[0], engine) as env:
        env.reset()
        (tool,) = env.tools()
        assert tool.call({"command": "look"}) == Action("look")
        called = env.step(Action(tool="act", arguments={"command": "inventory"}))
        assert called.observation.text == "You are not carrying anything."
        for wrong in (Action(tool="fly"), Action(tool="act", arguments={"command": 3})):
            with pytest.raises(InvalidAction, match="act\\(command\\)"):
                env.step(wrong)


def test_looking_has_no_effect(games: list[Game], engine: str) -> None:
    """`look`, `inventory` and `examine` leave the state as it is; moving and opening do not."""
    with env_of(games[0], engine) as env:
        env.reset()
        seen = [env.get_env_state().data]
        for command in walkthrough(games[0]):
            admissible = env.observe().data["admissible"]
            for idle in ("look", "inventory", *(c for c in admissible if c.startswith("examine"))):
                env.step(Action(idle))
                assert env.get_env_state().data == seen[-1], idle
            env.step(Action(command))
            seen.append(env.get_env_state().data)
            assert seen[-1] != seen[-2], command


def test_the_state_says_what_is(games: list[Game], engine: str) -> None:
    """Location, hands, doors and contents follow the actions, under the names the agent reads."""
    game = games[2]
    assert game.family == "pick_clean_then_place_in_recep"
    with env_of(game, engine) as env:
        env.reset()
        assert env.get_env_state().data["location"] == []
        for command in walkthrough(game):
            env.step(Action(command))
            state = env.get_env_state().data
            verb, *words = command.split()
            if verb == "go":
                assert " ".join(words[1:]) in state["location"]
            if verb == "open":
                assert state["receptacles"][" ".join(words)]["open"]
            if verb == "take":
                assert state["holding"] == " ".join(words[:2])
            if verb == "clean":
                assert state["states"][" ".join(words[:2])] == ["clean"]
        thing, place = " ".join(words[:2]), " ".join(words[-2:])
        assert thing in state["receptacles"][place]["contents"]
        assert f"inreceptacle({thing}, {place})" in state["facts"]
        assert state["holding"] == ""
        assert state["won"]
        assert set(state) == set(env.state_schema()["properties"])
        json.dumps(state)


def test_observe_after_a_replay(games: list[Game], engine: str) -> None:
    """Prepared: the introduction and what `look` says; after the agent's own step: `look`."""
    step = walkthrough(games[0])[0]
    with Stage([step])(env_of(games[0], engine)) as env:
        start = env.reset().observation
        intro, looked = start.text.rsplit("\n\n", 1)
        assert intro.endswith(f"Your task is to: {games[0].goal}.")
        assert looked.startswith("You are facing the")
        assert env.get_env_state().steps == 0
        assert env.step(Action("look")).observation.text == looked
        assert env.observe().text == looked
        assert env.get_env_state().steps == 1


def in_a_mixed_dialect(game: Game, root: Path) -> Game:
    """The same game, which puts things down in the words of the benchmark's older files."""
    content = read_game(game.path)
    content["grammar"] = (
        content["grammar"]
        .replace('"move {o} to {r}"', '"put {o} in/on {r}"')
        .replace(
            "You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."
        )
    )
    path = root / game.id / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    return Game(game.id, game.family, game.object, game.receptacle, game.scene, game.split, root)


def test_a_mixture_of_dialects(games: list[Game], engine: str, tmp_path: Path) -> None:
    """TextWorld plays a mixture of two wordings; the native engine refuses it and says so."""
    game = in_a_mixed_dialect(games[0], tmp_path)
    with env_of(game, engine) as env:
        if engine == "native":
            with pytest.raises(EnvError, match=r"'grammar'.*engine='textworld'"):
                env.reset()
            return
        assert env.reset().info["dialect"] == "put"
        assert env.observe().data["dialect"] == "put"
        for command in walkthrough(game):
            words = command.split()
            if words[0] == "move":
                assert env.step(Action(command)).observation.text == "Nothing happens."
                command = f"put {words[1]} {words[2]} in/on {words[4]} {words[5]}"
            answer = env.step(Action(command))
            assert answer.info["valid"], command
        assert env.evaluate().success


def test_broken_games(games: list[Game], engine: str, tmp_path: Path) -> None:
    """A damaged file, and one that the engine cannot load, are errors; the next game plays."""
    for damage in ("{", None):
        root = tmp_path / f"{damage}"
        path = root / games[0].id / "game.tw-pddl"
        path.parent.mkdir(parents=True)
        content = read_game(games[0].path)
        content["pddl_problem"] = content["pddl_problem"].replace("(:init", "(:init (nonsense")
        path.write_text(damage or json.dumps(content))
        with make("alfworld", task=games[0].id, games=str(root), engine=engine) as env:
            with pytest.raises(EnvError, match="game"):
                env.reset()
            with pytest.raises(HarnessError):
                env.step(Action("look"))
    with env_of(games[0], engine) as env:
        env.reset()
        assert env.step(Action("look")).info["valid"]


def test_a_changed_game_is_not_continued(games: list[Game], engine: str, tmp_path: Path) -> None:
    """A snapshot whose game file is no longer the same is refused, not continued elsewhere."""
    path = tmp_path / games[0].id / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(games[0].path.read_text())
    with make("alfworld", task=games[0].id, games=str(tmp_path), engine=engine) as env:
        env.reset()
        env.step(Action(walkthrough(games[0])[0]))
        state = env.save_state()
    content = read_game(path)
    content["pddl_problem"] += "; changed"
    path.write_text(json.dumps(content))
    with pytest.raises(EnvError, match="cannot be continued"):
        AlfworldEnv.from_state(state)
    with pytest.raises(SpecError, match="steps"):
        AlfworldEnv.from_state({**state, "steps": "3"})


def test_a_stack_is_restored_in_mid_episode(games: list[Game], engine: str) -> None:
    """Stage, contract and chain over two games: a snapshot as JSON goes on where it was."""
    one, two = games[2], games[5]
    first, *rest = walkthrough(one)
    later = StackSpec("alfworld", two.id, options={"games": root_of(two), "engine": engine})
    spec = StackSpec(
        "alfworld",
        one.id,
        (Stage([first]), CountSteps(limit=99), Chain(later)),
        {"games": root_of(one), "engine": engine},
    )
    with spec.build() as env:
        env.reset(seed=1)
        played = [*rest, *walkthrough(two)]
        for command in played[: len(rest) + 2]:
            env.step(Action(command))
        state = json.loads(json.dumps(snapshot(env)))
        with restore(state) as twin:
            assert twin.get_env_state() == env.get_env_state()
            for command in played[len(rest) + 2 :]:
                assert twin.step(Action(command)) == env.step(Action(command))
            assert twin.evaluate() == env.evaluate()
            assert env.evaluate().success


class TakeTurns(Contract):
    """A route: every action goes to the other game, as long as that is open."""

    def modify_transition(
        self, action: Action, response: StepResult, env_state: StateView
    ) -> StepResult:
        assert isinstance(env_state, RouteView)
        other = 1 - env_state.data["active"]
        if not env_state.segments[other]["ended"]:
            env_state.switch_to(other)
        return response


def test_interleaved_games_equal_separate_ones(games: list[Game], engine: str) -> None:
    """Two games played in turn within one chain answer as each does alone; both are won."""
    pair = [game for game in games if len(walkthrough(game)) >= 6][:2]
    alone: list[list[str]] = []
    for game in pair:
        with env_of(game, engine) as env:
            env.reset()
            alone.append([env.step(Action(c)).observation.text for c in walkthrough(game)])
    later = StackSpec("alfworld", pair[1].id, options={"games": root_of(pair[1]), "engine": engine})
    heard: list[list[str]] = [[], []]
    with compose(env_of(pair[0], engine), Chain(later, route=TakeTurns())) as env:
        env.reset()
        left = [list(walkthrough(game)) for game in pair]
        while any(left):
            active = env.get_env_state().data["active"]
            command = left[active].pop(0)
            answer = env.step(Action(command)).observation.text
            heard[active].append(answer)
        assert env.evaluate().success
    for own, told in zip(alone, heard, strict=True):
        assert all(text in shown for text, shown in zip(own, told, strict=True))


def test_close(games: list[Game], engine: str) -> None:
    """Closing twice is fine, before a start too; after it there is no episode."""
    env = env_of(games[0], engine)
    env.close()
    env.reset()
    env.close()
    env.close()
    with pytest.raises(HarnessError, match="reset"):
        env.step(Action("look"))
    assert env.reset().task.id == games[0].id
    env.close()
