"""The target-band experiment: is a static env's measure in a band, and a reshaped one's?

After Table "target metrics" of the EnvHarness paper: per task, the success rate shall be in
[0.4, 0.6], or the mean steps of successes in [25, 35]; reported is the share of tasks in band.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from attrs import asdict, frozen

from harness_core.errors import SpecError
from harness_core.experiment import Setup
from harness_core.policies import PolicySpec
from harness_core.rates import Rate
from harness_core.registry import import_extra, load
from harness_core.rollout import RolloutPool
from harness_core.spec import StackSpec
from harness_core.store import RunStore
from harness_core.values import JsonDict
from harness_rigger.corpus import measure, write_corpus
from harness_rigger.evidence import Evidence
from harness_rigger.loop import Budget, Rigged, Rigger
from harness_rigger.objectives import Objective, StepBand, SuccessBand
from harness_rigger.reproduce.report import write_report
from harness_rigger.search import SearchStrategy

PUBLISHED = {"success-band": (0.06, 0.80), "step-band": (0.18, 0.53)}
"""The paper's shares, original and reshaped: 100 ALFWorld tasks, 10 rollouts, an LLM policy."""


@frozen
class Scale:
    """How much is run.

    Args:
        tasks: generated games, as many as were published.
        baseline: rollouts of the original before anything is written.
        rollouts: fresh rollouts that measure each task, original and reshaped.
        most: rollouts after which a candidate is decided on.
        receptacles: of a room; as in the benchmark where it is left out.
    """

    tasks: int = 100
    baseline: int = 20
    rollouts: int = 120
    most: int = 160
    receptacles: int | None = None


SCALES = {
    "smoke": Scale(tasks=2, baseline=6, rollouts=6, most=12, receptacles=9),
    "small": Scale(tasks=12, receptacles=9),
    "default": Scale(),
}

PUBLISHED_ROLLOUTS, MAX_STEPS = 10, 50

SUBJECT = PolicySpec("household-loops", {"strength": 0.15})
TEACHER = PolicySpec("household")


class TargetBand:
    """The experiment for both objectives."""

    scales = tuple(SCALES)

    def run(self, setup: Setup) -> str:
        """Runs both objectives, writes the report, and returns it as Markdown.

        Raises:
            SpecError: it takes no options.
            MissingExtraError: what draws the report is not installed.
        """
        if setup.options:
            raise SpecError(f"target-band takes no options; got {', '.join(setup.options)}.")
        import_extra("matplotlib", "harness-rigger[report]")
        scale, folder = SCALES[setup.scale], setup.folder
        stacks = _tasks(folder / "games", scale, setup.seed)
        fresh = fresh_seeds(setup.seed, scale.rollouts)
        with (
            RunStore(folder / "run.db") as store,
            RolloutPool(setup.workers, store=store) as pool,
        ):
            setup.tell(f"measuring {len(stacks)} tasks as they are with fresh rollouts")
            measured = measure(pool, stacks, SUBJECT, fresh, MAX_STEPS)
            originals = [figures(evidence) for evidence in measured]
            common = Common(setup, scale, store, stacks, originals)
            results = [run_band(name, common) for name in PUBLISHED]
        return write_report(folder, results)


TARGET_BAND = TargetBand()


@frozen
class Row:
    """One task under one objective, measured.

    Args:
        task: its id.
        outcome: of the loop.
        original: figures of the env as it is.
        reshaped: figures of the accepted stack; of the env as it is where there is none.
        rollouts: that the loop used.
        change: what was changed, in words.
        why: why it is not in the band; empty if it is.
    """

    task: str
    outcome: str
    original: JsonDict
    reshaped: JsonDict
    rollouts: int
    change: str
    why: str


@frozen
class Common:
    """What both objectives share.

    Args:
        setup: of the experiment.
        scale: how much is run.
        store: keeps all rollouts of the originals and of the loop.
        stacks: the tasks as they are.
        originals: their figures, in the same order.
    """

    setup: Setup
    scale: Scale
    store: RunStore
    stacks: list[StackSpec]
    originals: list[JsonDict]


def run_band(name: str, common: Common) -> JsonDict:
    """Runs the experiment for one objective and returns its results as JSON data.

    Args:
        name: `"success-band"` or `"step-band"`.
        common: everything else.
    """
    setup = common.setup
    objective = _objective(name, common.scale)
    done = _rig_all(name, objective, common)
    corpus = setup.folder / f"{name}.jsonl"
    write_corpus(corpus, [each.line for each in done])
    setup.tell(f"{name}: measuring the accepted stacks from their JSON, in a fresh process")
    verified = _verify(corpus, common)
    rows = [
        _row(objective, each, original, verified.get(each.line["digest"], original))
        for each, original in zip(done, common.originals, strict=True)
    ]
    return _results(name, objective, common.scale, setup.seed, rows)


def _rig_all(name: str, objective: Objective, common: Common) -> list[Done]:
    """Rigs as many tasks at a time as there are workers, each on a worker of its own.

    A task looks at its evidence after every few rollouts, so that two workers on one task would
    wait for each other most of the time.
    """
    setup = common.setup
    budget = Budget(baseline=common.scale.baseline, revisions=14, max_steps=MAX_STEPS, batch=10)

    def rig(pool: RolloutPool, stack: StackSpec) -> Done:
        lines: list[str] = []
        rigger = Rigger(
            pool,
            SUBJECT,
            objective,
            SearchStrategy(),
            budget=budget,
            teacher=TEACHER,
            tell=lines.append,
        )
        done = _done(rigger.rig(stack))
        setup.tell("\n".join([f"{name}, one of {len(common.stacks)} tasks:", *lines]))
        return done

    with ExitStack() as pools:
        own = [RolloutPool(1, store=common.store) for _ in range(setup.workers)]
        threads = pools.enter_context(ThreadPoolExecutor(setup.workers))
        idle: queue.SimpleQueue[RolloutPool] = queue.SimpleQueue()
        for pool in own:
            idle.put(pools.enter_context(pool))

        def rig_next(stack: StackSpec) -> Done:
            pool = idle.get()
            try:
                return rig(pool, stack)
            finally:
                idle.put(pool)

        try:
            return list(threads.map(rig_next, common.stacks))
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise


def _row(
    objective: SuccessBand | StepBand, done: Done, original: JsonDict, reshaped: JsonDict
) -> Row:
    task, outcome = done.line["task"], done.line["outcome"]
    why = "" if _in_band(objective, reshaped) else _why(objective, done.line)
    return Row(task, outcome, original, reshaped, done.rollouts, done.change, why)


def _why(objective: SuccessBand | StepBand, line: JsonDict) -> str:
    """What the loop had seen of a task that is not in the band."""
    if line["outcome"] == "kept":
        return f"kept at {_told(objective, line['baseline'])}; the fresh rollouts say otherwise"
    if line["outcome"] == "accepted":
        accepted = [each for each in line["trials"] if each["digest"] == line["digest"]][-1]
        return f"accepted at {_told(objective, accepted['evidence'])}; the fresh rollouts differ"
    tried = [each["evidence"] for each in line["trials"] if each["evidence"]["n"]]
    values = [(value, each) for each in tried if (value := _value(objective, each)) is not None]
    if not values:
        return f"no candidate led to a success, of {len(line['trials'])}"
    nearest = min(values, key=lambda pair: abs(pair[0] - objective.middle))[1]
    return f"none of {len(tried)} candidates fits; the nearest had {_told(objective, nearest)}"


def _told(objective: SuccessBand | StepBand, measured: JsonDict) -> str:
    value = _value(objective, measured)
    if value is None:
        return f"no success of {measured['n']}"
    if isinstance(objective, SuccessBand):
        return f"{value:.0%} of {measured['n']}"
    return f"{value:.1f} steps, {measured['successes']} successes"


@frozen
class Done:
    """What is kept of a task that was rigged: its corpus line and a few words, no episodes."""

    line: JsonDict
    rollouts: int
    change: str


def _done(rigged: Rigged) -> Done:
    trials = rigged.case.trials
    rollouts = sum(len(trial.evidence.episodes) for trial in trials)
    change = rigged.trial.candidate.rationale if rigged.trial else ""
    return Done(rigged.to_dict(), rollouts + len(rigged.case.baseline.episodes), change)


def figures(evidence: Evidence) -> JsonDict:
    """All rollouts in figures, and the first ten of them, as many as were published."""
    few = Evidence(evidence.episodes[:PUBLISHED_ROLLOUTS])
    return {**evidence.summary(), "few": few.summary()}


def fresh_seeds(seed: int, rollouts: int) -> range:
    """Seeds of the final measurement, which no decision has seen."""
    first = 10_000_000 * (seed + 1)
    return range(first, first + rollouts)


def _objective(name: str, scale: Scale) -> SuccessBand | StepBand:
    least = min(10, scale.most)
    if name == "success-band":
        return SuccessBand(least=least, most=scale.most, inside=0.95)
    return StepBand(least=least, most=scale.most)


def _tasks(games: Path, scale: Scale, seed: int) -> list[StackSpec]:
    os.environ["ALFWORLD_DATA"] = str(games)
    tasks = load("env", "alfworld").generate_tasks(
        games, scale.tasks, seed=seed, receptacles=scale.receptacles
    )
    return [StackSpec("alfworld", task=task.id) for task in tasks]


def _verify(corpus: Path, common: Common) -> dict[str, JsonDict]:
    """The figures of every stack of a corpus, from a process that knows nothing but the file."""
    setup = common.setup
    seeds = fresh_seeds(setup.seed, common.scale.rollouts)
    out = corpus.with_suffix(".measured.json")
    command = [sys.executable, "-m", "harness_rigger.reproduce.verify"]
    arguments = [str(corpus), str(out), str(seeds.start), str(seeds.stop), str(setup.workers)]
    subprocess.run([*command, *arguments], check=True)
    measured: dict[str, JsonDict] = json.loads(out.read_text(encoding="utf-8"))
    return measured


def _results(
    name: str, objective: SuccessBand | StepBand, scale: Scale, seed: int, rows: list[Row]
) -> JsonDict:
    tasks = [
        {
            **asdict(row),
            "original_value": _value(objective, row.original),
            "reshaped_value": _value(objective, row.reshaped),
            "in_band": _in_band(objective, row.reshaped),
        }
        for row in rows
    ]
    return {
        "name": name,
        "band": [objective.low, objective.high],
        "objective": objective.describe(),
        "scale": asdict(scale),
        "seed": seed,
        "policy": asdict(SUBJECT),
        "published": dict(zip(("original", "reshaped"), PUBLISHED[name], strict=True)),
        "original": _share([_in_band(objective, row.original) for row in rows]),
        "reshaped": _share([_in_band(objective, row.reshaped) for row in rows]),
        "few": _share([_in_band(objective, row.reshaped["few"]) for row in rows]),
        "tasks": tasks,
    }


def _value(objective: SuccessBand | StepBand, measured: JsonDict) -> float | None:
    """The measured value; `None` if nothing could be measured."""
    value: float | None = measured["mean_steps"]
    if isinstance(objective, SuccessBand):
        value = measured["successes"] / measured["n"] if measured["n"] else None
    return value


def _in_band(objective: SuccessBand | StepBand, measured: JsonDict) -> bool:
    value = _value(objective, measured)
    return value is not None and objective.low <= value <= objective.high


def _share(inside: list[bool]) -> JsonDict:
    rate = Rate(sum(inside), len(inside))
    low, high = rate.interval()
    return {"share": rate.value, "n": rate.n, "low": low, "high": high}
