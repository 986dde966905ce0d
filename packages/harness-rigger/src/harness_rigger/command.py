"""`harness rig`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from attrs import evolve
from cyclopts import Parameter

from harness_core.cli.console import note, progress, say, say_json, table
from harness_core.cli.doctor import cores
from harness_core.cli.parsing import parse_options, parse_stack
from harness_core.errors import HarnessError
from harness_core.policies import PolicySpec
from harness_core.registry import construct
from harness_core.rollout import RolloutPool
from harness_core.serial import digest_of, to_data
from harness_core.spec import StackSpec, make
from harness_core.store import RunStore
from harness_rigger.corpus import write_corpus
from harness_rigger.loop import Budget, Rigged, Rigger


def rig(
    target: str,
    /,
    *,
    policy: str,
    task: list[str] | None = None,
    tasks: int | None = None,
    objective: str = "success-band",
    objective_option: list[str] | None = None,
    strategy: str = "search",
    strategy_option: list[str] | None = None,
    teacher: str | None = None,
    policy_option: list[str] | None = None,
    option: list[str] | None = None,
    baseline: int = 5,
    revisions: int = 5,
    max_steps: int = 50,
    out: Path | None = None,
    workers: int | None = None,
    as_json: Annotated[bool, Parameter("--json")] = False,
) -> int:
    """Reshapes tasks until a policy's results on them are where the objective wants them.

    Each task is observed, diagnosed, changed and validated with fresh rollouts; what is accepted
    is written as a corpus of stacks. The same command run again goes on where it stopped.

    For example::

        harness rig toy24 --tasks 5 --policy random
        harness rig alfworld --tasks 10 --policy household-loops --teacher household
        harness rig stack.json --task ID --policy random --objective-option low=0.2

    Args:
        target: id of an env, or the JSON file of a stack.
        policy: id of the policy whose weakness is targeted.
        task: id of a task; may be repeated.
        tasks: the first so many tasks.
        objective: id of an objective; see `harness list objective`.
        objective_option: name=value for the objective, such as low=0.4; may be repeated.
        strategy: id of a strategy; see `harness list strategy`.
        strategy_option: name=value for the strategy; may be repeated.
        teacher: id of a stronger policy that shows a way where the subject finds none.
        policy_option: name=value for the policy; may be repeated.
        option: name=value for the env's constructor; may be repeated.
        baseline: rollouts of each task as it is.
        revisions: candidates after the first, for each task.
        max_steps: step budget of an episode.
        out: folder of the run; by default a folder in runs/ named by the settings.
        workers: episodes at a time; by default one per core.
        as_json: print the corpus as one JSON document.
    """
    stacks = _stacks(parse_stack(target, parse_options(option)), task, tasks)
    subject = PolicySpec(policy, parse_options(policy_option, "--policy-option"))
    if "human" in (policy, teacher):
        raise HarnessError("A rig asks nobody. Play yourself with `harness play`.")
    subject.build()
    guide = PolicySpec(teacher) if teacher else None
    if guide:
        guide.build()
    aim = _made("objective", objective, objective_option)
    writer = _made("strategy", strategy, strategy_option)
    budget = Budget(baseline, revisions, max_steps)
    settings = [to_data(subject), objective, objective_option, strategy, strategy_option, teacher]
    name = digest_of([*settings, to_data(budget), [stack.digest for stack in stacks]])[:8]
    folder = out or Path("runs") / f"rig-{stacks[0].env}-{policy}-{name}"
    rigged: list[Rigged] = []
    with (
        RunStore(folder / "run.db") as store,
        RolloutPool(cores() if workers is None else workers, store=store) as pool,
    ):
        rigger = Rigger(
            pool,
            subject,
            aim,
            writer,
            budget=budget,
            teacher=guide,
            tell=note,
        )
        try:
            with progress(len(stacks), "tasks") as advance:
                for stack in stacks:
                    rigged.append(rigger.rig(stack))
                    advance()
        except KeyboardInterrupt:
            note(f"Stopped. What was done is in {folder}; the same command goes on from there.")
            raise
        finally:
            write_corpus(folder / "corpus.jsonl", [each.to_dict() for each in rigged])
    _print(rigged, folder, as_json)
    return 0 if any(each.stack for each in rigged) else 1


def _stacks(spec: StackSpec, chosen: list[str] | None, first: int | None) -> list[StackSpec]:
    if first is not None:
        if chosen is not None or first < 1:
            raise HarnessError("Choose tasks by --task, or by --tasks with a number from 1.")
        with make(spec.env, **spec.options) as env:
            chosen = [known.id for known in env.list_tasks()][:first]
    stacks = [evolve(spec, task=id) for id in chosen] if chosen else [spec]
    stacks[0].build().close()
    return stacks


def _made(kind: str, id: str, options: list[str] | None) -> Any:
    return construct(kind, id, parse_options(options, f"--{kind}-option"))


def _print(rigged: list[Rigged], folder: Path, as_json: bool) -> None:
    if as_json:
        say_json([each.to_dict() for each in rigged])
        return
    table(
        ["task", "outcome", "before", "after", "change"],
        [
            [
                each.case.stack.task or each.case.stack.env,
                each.outcome,
                str(each.case.baseline.rate),
                str(each.trial.evidence.rate) if each.trial else "",
                each.trial.candidate.rationale if each.trial else "",
            ]
            for each in rigged
        ],
    )
    if any(each.stack for each in rigged):
        say(f"The accepted stacks are in {folder / 'corpus.jsonl'}.")
    else:
        say(f"Nothing was accepted; what was tried is in {folder / 'corpus.jsonl'}.")
