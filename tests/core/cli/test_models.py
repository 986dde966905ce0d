"""Commands whose policies ask a model, against a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from harness_core.testing.model_server import ModelServer, Say, Seen
from support.cli import Cli

KEY = "sk-planted-fedcba9876543210"
RUN = ("run", "ladder", "--all", "--policy", "react", "--max-steps", "3", "--workers", "2")


def up(seen: Seen) -> Say:
    """A model that takes the first admissible action."""
    action = re.search(r"^- (.+)$", seen.last, re.M)
    return Say(f"Thought: up\nAction: {action[1] if action else 'none'}")


@pytest.fixture
def server(cli: Cli) -> Iterator[ModelServer]:
    """A server that the command line finds by the environment, with a key that it must have."""
    with ModelServer(up, keys=[KEY]) as running:
        cli.env |= {
            "MODEL": "openai/m",
            "HARNESS_ENDPOINTS": f"{running.url} key=PLANTED_KEY direct",
            "PLANTED_KEY": KEY,
        }
        yield running


def spend_of(cli: Cli, *path: str) -> dict[str, int]:
    """What `show` says of the role policy."""
    (spend,) = cli.json("show", *path)["spend"]
    assert spend["role"] == "policy"
    return {name: spend[name] for name in ("calls", "input_tokens", "output_tokens")}


def test_a_run_tells_what_it_cost_and_costs_nothing_twice(cli: Cli, server: ModelServer) -> None:
    """The table by role has the server's own count; the same command again makes no call."""
    done = cli(*RUN, "--out", "here")
    assert done.returncode == 0, done.stderr
    served = server.served["m"]
    row = next(line for line in done.stdout.splitlines() if line.startswith("policy "))
    used = served.usage
    assert row.split() == [
        *("policy", str(served.calls), "0", str(used.input_tokens), str(used.output_tokens)),
        "0.0000",
    ]
    assert spend_of(cli, "here") == {
        "calls": served.calls,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
    }
    assert re.search(rf"^policy +{served.calls} ", cli("show", "here").stdout, re.M)
    assert cli(*RUN, "--out", "here").returncode == 0
    assert server.served["m"] == served


def test_a_limit_stops_a_run_that_a_larger_one_finishes(cli: Cli, server: ModelServer) -> None:
    """At the limit the run ends with what it has; with a larger limit it plays the rest alone."""
    short = cli(*RUN, "--out", "here", "--max-calls", "5")
    assert short.returncode == 1
    assert "The limit of 5 calls is reached" in short.stderr
    assert "Stopped after" in short.stderr
    assert server.served["m"].calls == 5
    assert cli(*RUN, "--out", "here", "--max-calls", "1000").returncode == 0
    with_limit = server.served["m"].calls
    assert cli(*RUN, "--out", "there").returncode == 0
    assert server.served["m"].calls == 2 * with_limit


def test_flags_go_before_the_environment(cli: Cli, server: ModelServer) -> None:
    """`--role-model` goes before `--model`, which goes before MODEL; each makes its own run."""
    for flags in ([], ["--model", "openai/n"], ["--model", "x", "--role-model", "policy=openai/o"]):
        assert cli(*RUN, *flags).returncode == 0
    assert set(server.served) == {"m", "n", "o"}
    assert len(list((cli.folder / "runs").iterdir())) == 3


def test_play_shows_what_the_model_says_and_costs(cli: Cli, server: ModelServer) -> None:
    """A watched episode shows each answer, the action read from it, and the cost at the end."""
    done = cli("play", "ladder", "--policy", "react")
    assert done.returncode == 0, done.stderr
    assert "Thought: up\nAction: " in done.stdout
    assert "> up" in done.stdout
    assert re.search(r"^policy +1 ", done.stdout, re.M)


def test_no_key_is_in_what_a_run_leaves(cli: Cli, server: ModelServer) -> None:
    """Neither the run's files nor what the commands print hold the key, in failure either."""
    good = cli(*RUN, "--out", "here")
    bad = cli(*RUN, "--out", "there", PLANTED_KEY=f"{KEY}-wrong")
    told = cli("doctor")
    assert bad.returncode == 2
    assert len(server.seen) > 0
    for done in (good, bad, told):
        assert KEY not in done.stdout + done.stderr
    files = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert any(path.name == "run.db" for path in files)
    assert all(KEY.encode() not in path.read_bytes() for path in files)


def test_the_doctor_names_what_is_set_and_no_value(cli: Cli, server: ModelServer) -> None:
    """The report has the names of the variables that name models, never their values."""
    cli.env["MODEL_JUDGE"] = "openai/secret-judge"
    checks = {each["what"]: each for each in cli.json("doctor")["checks"]}
    assert checks["model names"]["detail"] == "HARNESS_ENDPOINTS, MODEL, MODEL_JUDGE set"
    assert checks["models"]["state"] == "ok"
    assert "secret-judge" not in str(checks)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--policy", "react"), "No model is named for the role 'policy'. Set MODEL"),
        (("--policy", "random", "--model", "m"), "Policy 'random' asks no model"),
        (("--policy", "react", "--role-model", "policy"), "--role-model takes role=model"),
        (("--policy", "react", "--role-model", "critic=m"), "There is no role 'critic'"),
        (("--policy", "react", "--model", "m", "--max-calls", "-1"), "Limits are numbers from 0"),
        (("--policy", "react", "--model", "m", "--max-tokens", "few"), "--max-tokens"),
    ],
)
def test_a_wrong_word_about_models_is_told(cli: Cli, arguments: tuple[str, ...], why: str) -> None:
    """What cannot be is told before anything is run."""
    done = cli("run", "ladder", *arguments)
    assert done.returncode == 2
    assert why in " ".join(done.stderr.split())
    assert not (cli.folder / "runs").exists()
