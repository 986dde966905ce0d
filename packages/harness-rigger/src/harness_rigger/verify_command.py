"""`harness verify`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from harness_core.cli.console import progress, say, say_json, table
from harness_core.cli.doctor import cores
from harness_core.cli.models import NOTHING_SAID, ModelFlags, print_spend
from harness_core.cli.parsing import parse_options
from harness_core.errors import HarnessError
from harness_core.policies import PolicySpec
from harness_core.registry import construct
from harness_core.rollout import RolloutPool
from harness_core.store import RunStore
from harness_rigger.asking import check_models, session_for
from harness_rigger.corpus import read_corpus
from harness_rigger.verify import Verified, policy_of, reverify


def verify(
    corpus: Path,
    /,
    *,
    objective: str = "success-band",
    objective_option: list[str] | None = None,
    policy: str | None = None,
    policy_option: list[str] | None = None,
    teacher: str | None = None,
    rollouts: int = 20,
    max_steps: int | None = None,
    out: Path | None = None,
    workers: int | None = None,
    as_json: Annotated[bool, Parameter("--json")] = False,
    models: ModelFlags = NOTHING_SAID,
) -> int:
    """Measures the stacks of a corpus again, from the file alone, with fresh rollouts.

    Exit code 0 means that every stack is where the objective wants it. The same command run again
    goes on where it stopped.

    For example::

        harness verify runs/rig-toy24-random-1a2b3c4d/corpus.jsonl --objective-option low=0.2

    Args:
        corpus: JSON lines that `harness rig` wrote.
        objective: id of an objective; see `harness list objective`.
        objective_option: name=value for the objective; may be repeated.
        policy: id of the policy; by default the one that each stack was made for.
        policy_option: name=value for the policy; may be repeated.
        teacher: id of a stronger policy that shows a way where the policy finds none.
        rollouts: of each stack.
        max_steps: step budget of an episode; by default that of the rigging.
        out: .db file that keeps the rollouts; by default beside the corpus.
        workers: episodes at a time; by default one per core.
        as_json: print one JSON document.
        models: which models, and how much they may cost.
    """
    if rollouts < 1:
        raise HarnessError(f"--rollouts is a whole number from 1; got {rollouts}.")
    entries = read_corpus(corpus)
    subject = None
    if policy is not None:
        subject = PolicySpec(policy, parse_options(policy_option, "--policy-option"))
    aim = (objective, parse_options(objective_option, "--objective-option"))
    construct("objective", *aim)
    guide = PolicySpec(teacher) if teacher else None
    players = [subject] if subject else [policy_of(entry) for entry in entries]
    players += [guide] if guide else []
    parts = [("objective", objective), *(("policy", each.id) for each in players)]
    check_models(models, parts)
    done: list[Verified] = []
    with ExitStack() as opened:
        store = opened.enter_context(RunStore(out or corpus.with_suffix(".verify.db")))
        session = opened.enter_context(session_for(models, parts, store))
        at_work = cores() if workers is None else workers
        pool = opened.enter_context(RolloutPool(at_work, store=store, models=session))
        if session:
            subject, guide = (
                subject and session.resolved(subject),
                guide and session.resolved(guide),
            )
        measured = reverify(
            pool,
            entries,
            (session.build if session else construct)("objective", *aim),
            policy=subject,
            teacher=guide,
            rollouts=rollouts,
            max_steps=max_steps,
        )
        with progress(len(entries), "stacks") as advance:
            for each in measured:
                done.append(each)
                advance()
        spend = session.spend() if session else []
    _print(done, as_json)
    if not as_json:
        print_spend(spend)
    return 0 if all(each.holds for each in done) else 1


def _print(done: list[Verified], as_json: bool) -> None:
    if as_json:
        say_json([each.to_dict() for each in done])
        return
    table(
        ["task", "stack", "now", "holds"],
        [
            [
                each.entry.stack.task or each.entry.stack.env,
                each.entry.digest[:10],
                str(each.evidence.rate),
                "yes" if each.holds else "no",
            ]
            for each in done
        ],
    )
    say(f"{sum(each.holds for each in done)} of {len(done)} stacks hold.")
