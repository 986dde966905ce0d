"""`harness rig`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from attrs import evolve
from cyclopts import Parameter

from harness_core.cli.console import note, progress, say, say_json, table
from harness_core.cli.doctor import cores
from harness_core.cli.models import NOTHING_SAID, ModelFlags, print_spend
from harness_core.cli.parsing import parse_options, parse_stack
from harness_core.errors import HarnessError
from harness_core.policies import PolicySpec
from harness_core.registry import construct
from harness_core.rollout import RolloutPool
from harness_core.serial import digest_of, to_data
from harness_core.spec import StackSpec, make
from harness_core.store import RunStore
from harness_rigger.asking import check_models, needs_model, session_for, told_spend
from harness_rigger.corpus import write_corpus
from harness_rigger.loop import Budget, Rigged, Rigger
from harness_rigger.rigged import Lineage
from harness_rigger.rounds import most_promising_first
from harness_rigger.strategy import Case

if TYPE_CHECKING:
    from harness_core.models import ModelSession, Spend


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
    promising_first: bool = False,
    out: Path | None = None,
    workers: int | None = None,
    as_json: Annotated[bool, Parameter("--json")] = False,
    models: ModelFlags = NOTHING_SAID,
) -> int:
    """Reshapes tasks until a policy's results on them are where the objective wants them.

    Each task is observed, diagnosed, changed and validated with fresh rollouts; what is accepted
    is written as a corpus of stacks. The same command run again goes on where it stopped.

    For example::

        harness rig toy24 --tasks 5 --policy random
        harness rig alfworld --tasks 10 --policy household-loops --teacher household
        harness rig alfworld --tasks 20 --policy think-action --strategy llm --max-cost 5
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
        promising_first: observe all tasks, then begin with those nearest to the target.
        out: folder of the run; by default a folder in runs/ named by the settings.
        workers: episodes at a time; by default one per core.
        as_json: print the corpus as one JSON document.
        models: which models, and how much they may cost.
    """
    stacks = _stacks(parse_stack(target, parse_options(option)), task, tasks)
    subject = PolicySpec(policy, parse_options(policy_option, "--policy-option"))
    if "human" in (policy, teacher):
        raise HarnessError("A rig asks nobody. Play yourself with `harness play`.")
    guide = PolicySpec(teacher) if teacher else None
    aiming = (objective, parse_options(objective_option, "--objective-option"))
    writing = (strategy, parse_options(strategy_option, "--strategy-option"))
    for kind, (id, options) in (("objective", aiming), ("strategy", writing)):
        construct(kind, id, options)
    budget = Budget(baseline, revisions, max_steps)
    settings = [to_data(subject), objective, objective_option, strategy, strategy_option, teacher]
    settings += [to_data(budget), [stack.digest for stack in stacks]]
    players = [each for each in (subject, guide) if each]
    parts = [("policy", each.id) for each in players]
    parts += [("objective", objective), ("strategy", strategy)]
    check_models(models, parts)
    if needs_model(parts):
        chosen = models.settings()
        settings += [chosen.model, dict(chosen.roles)]
        if needs_model(parts[-1:]) and not writing[1].get("model"):
            chosen.of("designer")
    for player in players:
        if not needs_model([("policy", player.id)]):
            player.build()
    folder = out or Path("runs") / f"rig-{stacks[0].env}-{policy}-{digest_of(settings)[:8]}"
    rigged: list[Rigged] = []
    with ExitStack() as opened:
        store = opened.enter_context(RunStore(folder / "run.db"))
        session = opened.enter_context(session_for(models, parts, store))
        at_work = cores() if workers is None else workers
        pool = opened.enter_context(RolloutPool(at_work, store=store, models=session))
        build = session.build if session else construct
        if session:
            subject, guide = session.resolved(subject), guide and session.resolved(guide)
        rigger = Rigger(
            pool,
            subject,
            build("objective", *aiming),
            build("strategy", *writing),
            budget=budget,
            teacher=guide,
            tell=note,
            lineage=Lineage(subject, strategy),
        )
        with _written(folder, rigged):
            _rig_all(rigger, stacks, rigged, promising_first, session)
        spend = session.spend() if session else []
    _print(rigged, folder, as_json, spend)
    return 0 if any(each.stack for each in rigged) else 1


def _rig_all(
    rigger: Rigger,
    stacks: Sequence[StackSpec],
    rigged: list[Rigged],
    promising_first: bool,
    session: ModelSession | None,
) -> None:
    cases: Iterable[Case] = map(rigger.observe, stacks)
    if promising_first:
        note(f"Observing {len(stacks)} tasks")
        cases = most_promising_first(cases)
    with progress(len(stacks), "tasks") as advance:
        for case in cases:
            rigged.append(rigger.reshape(case))
            note(_tally(rigged, session))
            advance()


@contextmanager
def _written(folder: Path, rigged: list[Rigged]) -> Iterator[None]:
    """Writes the corpus at the end, however that comes."""
    try:
        yield
    except (KeyboardInterrupt, HarnessError):
        note(f"Stopped. What was done is in {folder}; the same command goes on from there.")
        raise
    finally:
        write_corpus(folder / "corpus.jsonl", [each.to_dict() for each in rigged])


def _tally(rigged: list[Rigged], session: ModelSession | None) -> str:
    """How many of each outcome so far, and what the models have cost."""
    outcomes = Counter(each.outcome for each in rigged)
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    if session is not None:
        told += f"; {told_spend(session.spend())}"
    return f"So far {told}"


def _stacks(spec: StackSpec, chosen: list[str] | None, first: int | None) -> list[StackSpec]:
    if first is not None:
        if chosen is not None or first < 1:
            raise HarnessError("Choose tasks by --task, or by --tasks with a number from 1.")
        with make(spec.env, **spec.options) as env:
            chosen = [known.id for known in env.list_tasks()][:first]
    stacks = [evolve(spec, task=id) for id in chosen] if chosen else [spec]
    stacks[0].build().close()
    return stacks


def _print(rigged: list[Rigged], folder: Path, as_json: bool, spend: Sequence[Spend]) -> None:
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
    print_spend(spend)
    if any(each.stack for each in rigged):
        say(f"The accepted stacks are in {folder / 'corpus.jsonl'}.")
    else:
        say(f"Nothing was accepted; what was tried is in {folder / 'corpus.jsonl'}.")
