from __future__ import annotations

import json
import re
from pathlib import Path

from harness_core.rates import Rate
from support.cli import Cli

RUN = ("run", "ladder", "--all", "--policy", "random", "--episodes", "2", "--max-steps", "12")


def _folder(cli: Cli) -> str:
    (folder,) = (cli.folder / "runs").iterdir()
    return f"runs/{folder.name}"


def test_table_by_family(cli: Cli) -> None:
    """The table has each family and the total: counts, rate with interval, steps, failures."""
    done = cli(*RUN)
    assert done.returncode == 0, done.stderr
    head, *rows = [line.split() for line in done.stdout.splitlines()[:4]]
    assert head[:7] == ["family", "episodes", "n", "solved", "95", "%", "steps"]
    assert head[7:] == ["policy", "component", "infrastructure"]
    assert [" ".join(row[:3]) for row in rows] == ["high 6 6", "low 6 6", "total 12 12"]
    total = cli.json("show", _folder(cli))["families"][-1]
    rate = Rate(total["solved"], total["n"])
    low, high = rate.interval()
    assert rows[-1][3:7] == [f"{rate.value:.1%}", f"{low:.1%}", "to", f"{high:.1%}"]
    assert total["interval"] == [low, high]
    assert 0 < rate.value < 1
    assert list(cli.tmp.iterdir()) == []


def test_same_command_resumes(cli: Cli) -> None:
    """The same command finds the same folder, plays nothing again, and prints the same table."""
    first = cli(*RUN)
    begun = cli.begun()
    second = cli(*RUN)
    assert second.stdout == first.stdout
    assert cli.begun() == begun == 12
    assert "12 of them there already" in second.stderr


def test_other_settings_make_another_run(cli: Cli) -> None:
    """Each setting that decides an episode's course leads to a run of its own."""
    for more in (["--seed", "1"], ["--max-steps", "3"], ["--option", "pause=0.001"]):
        assert cli("run", "ladder", "--policy", "random", *more).returncode == 0
    assert len(list((cli.folder / "runs").iterdir())) == 3


def test_out_takes_a_folder_or_a_file(cli: Cli) -> None:
    """`--out` names the folder of a run, or its .db file; `show` and `export` take both."""
    for out, file in (("here", "here/run.db"), ("there/mine.db", "there/mine.db")):
        assert cli("run", "ladder", "--policy", "random", "--out", out).returncode == 0
        assert (cli.folder / file).is_file()
        assert cli.json("show", out) == cli.json("show", file)


def test_workers_do_not_change_the_table(cli: Cli) -> None:
    """One worker and three give the same table."""
    one = cli(*RUN, "--workers", "1", "--out", "one").stdout.splitlines()
    three = cli(*RUN, "--workers", "3", "--out", "three").stdout.splitlines()
    assert one[:4] == three[:4]


def test_tasks_are_chosen(cli: Cli) -> None:
    """`--task` takes ids, `--tasks` the first few; a spec's own task stays without either."""
    base = ("run", "ladder", "--policy", "random", "--max-steps", "1", "--out")
    cli(*base, "a", "--task", "rung-5", "--task", "rung-2", "--task", "rung-5")
    cli(*base, "b", "--tasks", "3")
    cli(*base, "c")
    played = {
        run: sorted(episode["task"] for episode in cli.json("show", run)["episodes"])
        for run in "abc"
    }
    assert played == {
        "a": ["rung-2", "rung-5"],
        "b": ["rung-1", "rung-2", "rung-3"],
        "c": ["rung-1"],
    }


def test_infrastructure_failures_count_for_nothing_and_exit_1(cli: Cli) -> None:
    """A run in which infrastructure ended every episode exits with 1; they are tried anew later."""
    done = cli("run", "ladder", "--policy", "random", "--option", "trouble=die", "--retries", "1")
    assert done.returncode == 1
    assert re.search(r"total +1 +0 +- +- +- +0 +0 +1", done.stdout)
    assert "1 failed: EnvError (infrastructure): The env's process died during step" in done.stdout
    assert "Try them again with: harness" in done.stderr
    assert (
        "there already"
        not in cli(
            "run", "ladder", "--policy", "random", "--option", "trouble=die", "--retries", "0"
        ).stderr
    )


def test_hanging_env_is_killed(cli: Cli) -> None:
    """`--step-seconds` ends an env that hangs; its process and its folder are gone."""
    hang = ("--option", "trouble=hang", "--retries", "0", "--step-seconds", "0.5")
    done = cli("run", "ladder", "--policy", "random", *hang)
    assert done.returncode == 1
    assert "EnvTimeout (infrastructure): step did not return within 0.5 s" in done.stdout
    assert list(cli.tmp.iterdir()) == []


def test_policy_failures_count(cli: Cli) -> None:
    """A policy that fails loses its episodes: they count, and the run is done all the same."""
    script = ("--policy", "scripted", "--policy-option", 'actions=["down"]')
    done = cli("run", "ladder", "--tasks", "2", *script)
    assert done.returncode == 0
    assert re.search(r"total +2 +2 +0\.0%", done.stdout)


def test_show_one_episode(cli: Cli, tmp_path: Path) -> None:
    """An episode is shown step by step: what was blocked, refused, and said before a rewrite."""
    source = (
        "class Slow(Contract):\n"
        "    def filter_action(self, action, env_state):\n"
        "        if action.text == 'down':\n"
        "            return Blocked('Never down.')\n"
        "        return action\n"
        "    def filter_observation(self, observation, env_state):\n"
        "        return observation.replace(text='Fog.')\n"
    )
    contract = {"type": "contract", "source": source}
    spec = {"schema": 1, "env": "ladder", "task": "rung-6", "components": [contract]}
    (tmp_path / "fog.json").write_text(json.dumps(spec))
    script = ("--policy", "scripted", "--policy-option", 'actions=["down", "sideways", "up"]')
    done = cli("run", "fog.json", *script, "--out", "fog")
    assert done.returncode == 0, done.stderr
    (episode,) = cli.json("show", "fog")["episodes"]
    shown = cli("show", "fog", episode["key"][:4]).stdout
    assert "[1] > down\n    blocked: Never down.\n" in shown
    assert "[2] > sideways\n    invalid: There is no 'sideways'" in shown
    assert re.search(r"\[3\] > up\nFog\.\n    the env said: You are on rung \d of 6\.", shown)
    assert "not solved, stopped after 3 steps" in shown
    whole = cli.json("show", "fog", episode["key"])
    assert whole["episode"]["steps"][0]["blocked"] == "Never down."


def test_show_of_unfinished_run_says_how_to_go_on(cli: Cli) -> None:
    """`show` names the command that resumes a run with fewer episodes than were asked for."""
    cli("run", "ladder", "--tasks", "2", "--policy", "random", "--out", "x")
    complete = cli("show", "x", "--episodes").stdout
    assert "Go on with" not in complete
    assert complete.count("rung-") == 2
    import sqlite3

    with sqlite3.connect(cli.folder / "x" / "run.db") as db:
        db.execute("DELETE FROM episodes WHERE task = 'rung-1'")
    db.close()
    assert "1 of 2 episodes. Go on with: harness --plugin" in cli("show", "x").stdout


def test_export(cli: Cli) -> None:
    """Every episode becomes one line of JSON with its unit."""
    cli("run", "ladder", "--tasks", "3", "--policy", "random", "--out", "x")
    done = cli("export", "x", "--to", "episodes.jsonl")
    assert done.returncode == 0
    lines = (cli.folder / "episodes.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["episode"]["task"]["id"] for row in rows} == {"rung-1", "rung-2", "rung-3"}
    assert all(row["unit"]["policy"]["id"] == "random" for row in rows)
