"""The engine: faithful to the benchmark, alone in its process, and gone afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness_bridges.alfworld.games import Game, generate_games, read_game
from harness_bridges.alfworld.reference import Engine, borrow_engine, return_engine
from support.alfworld_games import REAL, real_games

pytestmark = pytest.mark.textworld
pytest.importorskip("textworld")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[Game]:
    """One small game of each family."""
    return generate_games(tmp_path_factory.mktemp("games"), count=6, seed=3, receptacles=9)


@pytest.fixture
def engine() -> Any:
    engine = borrow_engine()
    yield engine
    return_engine(engine)


def mixed(game: Game, admissible: list[str], turn: int) -> str:
    """The walkthrough with other admissible commands and nonsense between its steps."""
    steps: list[str] = read_game(game.path)["walkthrough"]
    if turn % 3 == 2 and turn // 3 < len(steps):
        return steps[turn // 3]
    return Random(turn).choice([*admissible, " look ", "Look", "dance"])


_BENCHMARK = """
import json, os, random
import textworld
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
from textworld.envs.pddl import PddlEnv
env = AlfredInfos(AlfredDemangler(PddlEnv(textworld.EnvInfos(won=True, admissible_commands=True))))
for path in os.environ["PATHS"].split(":"):
    steps = json.load(open(path))["walkthrough"]
    env.load(path)
    state, done, command = env.reset(), False, None
    for turn in range(3 * len(steps) + 6):
        told = state["feedback"], state["admissible_commands"], bool(state["won"]), bool(done)
        print(json.dumps([path, command, *told]))
        if turn % 3 == 2 and turn // 3 < len(steps):
            command = steps[turn // 3]
        else:
            command = random.Random(turn).choice([*told[1], " look ", "Look", "dance"])
        state, _, done = env.step(command)
"""


def test_it_answers_as_the_benchmark_does(
    engine: Engine, games: list[Game], tmp_path: Path
) -> None:
    """Text, ordered commands, win and end equal those of alfworld's own engine at every step.

    The benchmark's engine runs untouched in another process; the walks mix the stored plan with
    other admissible commands and nonsense.
    """
    paths = [str(game.path) for game in (*games[1:4], *(real_games(1)[2:3] if REAL else ()))]
    done = run(_BENCHMARK, tmp_path, PATHS=":".join(paths), ALFWORLD_DATA=str(tmp_path))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line[0] for line in lines} == set(paths), done.stderr
    for path, command, *told in lines:
        game = read_game(Path(path))
        frame = engine.act(command) if command else engine.start(game)
        assert [frame.text, list(frame.admissible), frame.won, frame.done] == told, command
        if command:
            assert frame.valid == (frame.text != "Nothing happens.")


def test_look_reads_without_acting(engine: Engine, games: list[Game]) -> None:
    """`look()` is what the command would say, at the start and later, and executes nothing."""
    for game in games[:2]:
        frame = engine.start(read_game(game.path))
        for turn in range(9):
            before = engine.facts()
            told = engine.look()
            assert engine.look() == told
            assert engine.facts() == before
            assert engine.act("look").text == told
            frame = engine.act(mixed(game, list(frame.admissible), turn))


def test_a_second_start_is_the_first(engine: Engine, games: list[Game]) -> None:
    """Starting a game again, with another between, gives the same frame and facts."""
    contents = [read_game(game.path) for game in games[:2]]
    first = [(engine.start(content), engine.facts()) for content in contents]
    engine.act("inventory")
    again = [(engine.start(content), engine.facts()) for content in contents]
    assert first == again


def test_the_process_is_left_as_it_was(
    engine: Engine, games: list[Game], capfd: pytest.CaptureFixture[str]
) -> None:
    """`sys.argv` and `sys.stdout` are put back, also after an error, and nothing is printed."""
    arguments, output = sys.argv, sys.stdout
    content = read_game(games[0].path)
    engine.start(content)
    engine.act("look")
    with pytest.raises(Exception, match="cannot load"):
        engine.start({**content, "pddl_problem": "(define"})
    assert sys.argv is arguments
    assert sys.stdout is output
    assert capfd.readouterr() == ("", "")


def test_threads(games: list[Game]) -> None:
    """Two threads with an engine each get the answers that each gets alone."""

    def play(game: Game) -> list[Any]:
        engine = borrow_engine()
        frame = engine.start(read_game(game.path))
        frames: list[Any] = [frame]
        for turn in range(12):
            frame = engine.act(mixed(game, list(frame.admissible), turn))
            frames += [frame, engine.facts()]
        return_engine(engine)
        return frames

    alone = [play(game) for game in games[:2]]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(play, games[:2]))
    assert together == alone


def test_engines_are_used_again(games: list[Game]) -> None:
    """Whatever was handed back is lent first: no second copy is made for one episode at a time."""
    kept = borrow_engine()
    return_engine(kept)
    for _ in range(3):
        engine = borrow_engine()
        assert engine is kept
        return_engine(engine)


def run(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a fresh process with its own home and folder for temporary files."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    inherited = {name: text for name, text in os.environ.items() if name != "ALFWORLD_DATA"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**inherited, "HOME": str(folder), "TMPDIR": str(temporary), **variables},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


_PLAY = """
import os
from harness_core import Action, make
options = {"games": os.environ["GAMES"], "engine": "textworld"}
env = make("alfworld", task=os.environ["TASK"], **options)
env.reset()
"""


def variables(game: Game) -> dict[str, str]:
    return {"TASK": game.id, "GAMES": str(game.path.parents[3])}


def test_nothing_is_left_behind(games: list[Game], tmp_path: Path) -> None:
    """A process that played leaves no file in the temporary folder and none at home."""
    code = (
        _PLAY
        + """
assert "ALFWORLD_DATA" not in os.environ
print(env.step(Action("inventory")).observation.text)
env.close()
"""
    )
    done = run(code, tmp_path, **variables(games[0]))
    assert (done.returncode, done.stdout) == (0, "You are not carrying anything.\n"), done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not (tmp_path / ".cache" / "alfworld").exists()


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind_when_stopped(
    games: list[Game], tmp_path: Path, signal_: signal.Signals
) -> None:
    """Neither Ctrl-C nor SIGTERM in the middle of an episode leaves a process or a file."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    code = (
        _PLAY
        + """
print("ready", flush=True)
while True:
    env.step(Action("look"))
"""
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(temporary), **variables(games[0])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal_)
    assert process.wait(timeout=30) != 0
    process.stdout.close()
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert list(temporary.iterdir()) == []


def test_hash_seeds_do_not_matter(games: list[Game], tmp_path: Path) -> None:
    """Processes with different hash seeds, and so different set orders, give the same episode."""
    code = (
        _PLAY
        + """
from harness_core.serial import digest_of, to_data
frames = [env.observe()]
for turn in range(12):
    commands = frames[-1].data["admissible"]
    frames.append(env.step(Action(commands[7 * turn % len(commands)])).observation)
print(digest_of([to_data(frames), env.get_env_state().data]))
"""
    )
    told = {
        run(code, tmp_path, PYTHONHASHSEED=seed, **variables(games[3])).stdout for seed in "012"
    }
    assert len(told) == 1
    assert len(told.pop()) == 65


def test_a_full_disk_says_what_to_free(games: list[Game], tmp_path: Path) -> None:
    """Where the library cannot be copied, the error names the folder and the space it needs."""
    code = (
        """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""
        + _PLAY
    )
    done = run(code, tmp_path, **variables(games[0]))
    assert "EnvError" in done.stderr
    assert "32 MiB" in done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_forked_child_gets_its_own_engine(games: list[Game], tmp_path: Path) -> None:
    """A child of `fork` cannot step its parent's episode; its own reset works and disturbs none.

    The lock is free in the child even where another thread of the parent held it.
    """
    code = (
        _PLAY
        + """
import threading
from harness_bridges.alfworld import reference as module
from harness_core import HarnessError
here = env.step(Action("look"))
held, go_on = threading.Event(), threading.Event()
def hold():
    with module._process.lock:
        held.set()
        go_on.wait()
thread = threading.Thread(target=hold); thread.start(); assert held.wait(60)
pid = os.fork()
if pid == 0:
    try:
        env.step(Action("look"))
    except HarnessError as error:
        assert "parent process" in str(error)
    else:
        os._exit(1)
    env.reset()
    same = env.step(Action("look")) == here
    env.close()
    os._exit(0 if same else 2)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
go_on.set(); thread.join()
assert env.step(Action("look")) == here
"""
    )
    done = run(code, tmp_path, **variables(games[0]))
    assert done.returncode == 0, done.stderr


def test_a_missing_engine_says_what_to_install(games: list[Game], tmp_path: Path) -> None:
    """Without textworld the env can be listed and made; its reset answers with the command."""
    code = (
        """
import sys
sys.modules["textworld"] = None
"""
        + _PLAY
    )
    done = run(code, tmp_path, **variables(games[0]))
    assert "MissingExtraError" in done.stderr
    assert "pip install 'harness-bridges[alfworld]'" in done.stderr


def test_memory_stays_flat(games: list[Game], tmp_path: Path) -> None:
    """Resets, over six games in turn, add no memory (10 %), thread, process or open file.

    ALFWORLD_RESETS sets how many; default 60.
    """
    code = """
import os
from pathlib import Path
from harness_core import Action, make
root = os.environ["GAMES"]
tasks = [task.id for task in make("alfworld", games=root).list_tasks()]
def held():
    threads = len(os.listdir("/proc/self/task"))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    memory = int(Path("/proc/self/statm").read_text().split()[1])
    return memory, (len(os.listdir("/proc/self/fd")), threads, len(children))
def play(count):
    for number in range(count):
        task = tasks[number % len(tasks)]
        with make("alfworld", task=task, games=root, engine="textworld") as env:
            env.reset()
            env.step(Action("inventory"))
play(12)
before, open_before = held()
play(int(os.environ["RESETS"]))
after, open_after = held()
assert open_before == open_after, (open_before, open_after)
print(before, after)
assert after <= 1.1 * before, (before, after)
"""
    resets = os.environ.get("ALFWORLD_RESETS", "60")
    done = run(code, tmp_path, RESETS=resets, **variables(games[0]))
    assert done.returncode == 0, done.stderr
    print(done.stdout)


def test_no_thread_is_started(games: list[Game]) -> None:
    """An engine works in its caller's thread."""
    before = threading.active_count()
    engine = borrow_engine()
    engine.start(read_game(games[0].path))
    engine.act("look")
    return_engine(engine)
    assert threading.active_count() == before
