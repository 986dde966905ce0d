"""`harness run`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

from attrs import evolve
from cyclopts import Parameter

from harness_core.cli.console import note, progress, say
from harness_core.cli.doctor import cores
from harness_core.cli.models import NOTHING_SAID, ModelFlags, print_spend
from harness_core.cli.parsing import parse_options, parse_stack, run_file
from harness_core.cli.summary import print_summary
from harness_core.episode import Episode
from harness_core.errors import HarnessError, SpendLimitReached, StoreError
from harness_core.policies import PolicySpec
from harness_core.rollout import Limits, RolloutPool, Unit
from harness_core.serial import digest_of
from harness_core.spec import StackSpec, make
from harness_core.store import RunStore


def run(
    target: str,
    /,
    *,
    policy: str,
    task: list[str] | None = None,
    tasks: int | None = None,
    all_tasks: Annotated[bool, Parameter("--all")] = False,
    episodes: int = 1,
    seed: int = 0,
    max_steps: int = 50,
    option: list[str] | None = None,
    policy_option: list[str] | None = None,
    out: Path | None = None,
    workers: int | None = None,
    retries: int = 2,
    reset_seconds: float = 300.0,
    step_seconds: float = 120.0,
    evaluate_seconds: float = 600.0,
    episode_seconds: float = 3600.0,
    models: ModelFlags = NOTHING_SAID,
) -> int:
    """Plays many episodes, keeps them in a run, and prints a table of the outcome.

    The same command run again goes on where the last one stopped, after Ctrl-C too.

    For example::

        harness run ENV --tasks 20 --policy random
        harness run stack.json --task TASK --policy random --episodes 10 --workers 4
        harness run ENV --all --policy react --model openai/gpt-4o-mini --max-cost 2

    Args:
        target: id of an env, or the JSON file of a stack.
        policy: id of a policy; see `harness list policy`.
        task: id of a task; may be repeated. Without tasks, the env or the stack chooses.
        tasks: the first so many tasks.
        all_tasks: all tasks.
        episodes: episodes for each task, with the seeds `seed`, `seed` + 1, ...
        seed: of env and policy, in the first episode of each task.
        max_steps: step budget of an episode.
        option: name=value for the env's constructor; JSON or text; may be repeated.
        policy_option: name=value for the policy's constructor; may be repeated.
        out: folder or .db file of the run; by default a folder in runs/ named by the settings.
        workers: episodes at a time; by default one per core.
        retries: further tries of an episode that infrastructure ended.
        reset_seconds: limit of a reset, engine start included.
        step_seconds: limit of a step.
        evaluate_seconds: limit of the verifier.
        episode_seconds: limit of a whole episode.
        models: which models, and how much they may cost.
    """
    at_work = cores() if workers is None else workers
    least = {"--episodes": (episodes, 1), "--max-steps": (max_steps, 1)}
    least |= {"--workers": (at_work, 1), "--retries": (retries, 0)}
    for flag, (given, lowest) in least.items():
        if given < lowest:
            raise HarnessError(f"{flag} is a whole number from {lowest}; got {given}.")
    limits = Limits(reset_seconds, step_seconds, evaluate_seconds, episode_seconds)
    spec = parse_stack(target, parse_options(option))
    player = PolicySpec(policy, parse_options(policy_option, "--policy-option"))
    stacks = _stacks(spec, task, tasks, all_tasks)
    player = _checked(stacks if task else stacks[:1], player, models)
    units = [
        Unit(stack, player, seed + number, max_steps)
        for stack in stacks
        for number in range(episodes)
    ]
    path = out or Path("runs") / f"{spec.env}-{policy}-{_digest(units)}"
    return _play(units, path, at_work, retries, limits, models)


def _stacks(
    spec: StackSpec, chosen: list[str] | None, first: int | None, everything: bool
) -> list[StackSpec]:
    if (chosen is not None) + (first is not None) + everything > 1:
        raise HarnessError("Choose tasks by one of --task, --tasks and --all.")
    if first is not None or everything:
        if first is not None and first < 1:
            raise HarnessError(f"--tasks is a whole number from 1; got {first}.")
        with make(spec.env, **spec.options) as env:
            chosen = [known.id for known in env.list_tasks()][:first]
        if not chosen:
            raise HarnessError(f"Env {spec.env!r} lists no tasks. Name some with --task.")
    if chosen is None:
        return [spec]
    return [evolve(spec, task=id) for id in dict.fromkeys(chosen)]


def _checked(stacks: list[StackSpec], player: PolicySpec, models: ModelFlags) -> PolicySpec:
    """The policy with its model named; what is wrong is found before a run is made for it."""
    if player.id == "human":
        raise HarnessError("A run asks nobody. Play yourself with `harness play`.")
    for stack in stacks:
        stack.build().close()
    with models.session_for(player) as session:
        if session is None:
            player.build()
            return player
        player = session.resolved(player)
        session.build_policy(player)
    return player


def _digest(units: list[Unit]) -> str:
    return digest_of(sorted(unit.key for unit in units))[:8]


def _play(
    units: list[Unit],
    path: Path,
    workers: int,
    retries: int,
    limits: Limits,
    models: ModelFlags,
) -> int:
    again = shlex.join(["harness", *sys.argv[1:]]).encode(errors="backslashreplace").decode()
    played: list[Episode] = []
    stopped = None
    with (
        RunStore(run_file(path)) as store,
        models.session_for(units[0].policy, store) as session,
    ):
        store.set_meta("command", again)
        store.set_meta("units", str(len(units)))
        known = sum(store.episode(unit.key) is not None for unit in units)
        there = f", {known} of them there already" if known else ""
        note(f"Episodes: {len(units)}, kept in {path}{there}")
        try:
            with (
                RolloutPool(
                    workers, limits=limits, retries=retries, store=store, models=session
                ) as pool,
                progress(len(units), "episodes", known) as advance,
            ):
                for _, episode in pool.stream(units):
                    played.append(episode)
                    if len(played) > known:
                        advance()
        except KeyboardInterrupt:
            note(f"Stopped. What was played is in {path}. Go on with: {again}")
            raise
        except StoreError as error:
            note(f"harness: {error}\nGo on with: {again}")
            return 1
        except SpendLimitReached as error:
            stopped = error
        spend = session.spend() if session else []
    print_summary(played)
    print_spend(spend)
    say(f"Look closer with: harness show {shlex.quote(str(path))}")
    lost = sum(e.failure is not None and e.failure.fault == "infrastructure" for e in played)
    if lost:
        note(f"Infrastructure ended {lost} of {len(played)}. Try them again with: {again}")
    if stopped:
        note(f"harness: Stopped after {len(played)} of {len(units)} episodes. {stopped}")
    return 1 if stopped or lost == len(played) else 0
