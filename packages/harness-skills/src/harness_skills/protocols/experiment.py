"""The protocols as experiments of `harness reproduce`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, Literal

from attrs import asdict, evolve, field, fields, frozen

from harness_core.errors import SpecError, StoreError
from harness_core.experiment import Setup
from harness_core.models import ModelSession, ModelSettings, SpendLimit
from harness_core.policies import PolicySpec
from harness_core.rollout import RolloutPool
from harness_core.serial import from_data
from harness_core.store import RunStore
from harness_core.values import JsonDict
from harness_skills.protocols import plans
from harness_skills.protocols.bench import Bench, draw, generated
from harness_skills.protocols.learner import Lab
from harness_skills.protocols.plan import Arm, Plan, Scale
from harness_skills.protocols.report import markdown
from harness_skills.protocols.run import run_plan

SCALES = {
    "smoke": Scale(train=4, test=2, envs=2, every=1, rollouts=2, runs=1, max_steps=8),
    "small": Scale(train=24, test=24, envs=12, every=6, rollouts=3, runs=3),
    "default": Scale(train=300, test=134, envs=300, every=50, rollouts=5, runs=3),
}


@frozen
class Options:
    """What `--option` takes.

    Args:
        env: id of the env.
        env_options: of its constructor.
        generate: the env generates new tasks into the results folder; for envs that can.
        knobs: of the generator.
        policy: id of the policy.
        policy_options: of it.
        model: of every role; else the variables MODEL and MODEL_<ROLE> say.
        models: to compare, for `backbones`.
        strategy: id of the strategy that reshapes.
        reshaping: further options of the source `reshaped`.
        sources: ids of further sources of envs, for `skills`.
        consolidate: who decides what enters a bank: the skill writer, or counting rules.
        max_tokens: of all calls, in all roles.
        max_cost: US dollars.
        max_calls: likewise.
        scale: fields of `Scale` that replace those of the scale's name.
    """

    env: str = "alfworld"
    env_options: JsonDict = field(factory=dict)
    generate: bool = False
    knobs: JsonDict = field(factory=dict)
    policy: str = "think-action"
    policy_options: JsonDict = field(factory=dict)
    model: str = ""
    models: list[str] = field(factory=list)
    strategy: str = "llm"
    reshaping: JsonDict = field(factory=dict)
    sources: list[str] = field(factory=list)
    consolidate: Literal["model", "counting"] = "model"
    max_tokens: int | None = None
    max_cost: float | None = None
    max_calls: int | None = None
    scale: JsonDict = field(factory=dict)


@frozen
class ProtocolExperiment:
    """One protocol at its scales.

    Args:
        plan: the arms, for the options and the tasks.
    """

    plan: Callable[[Options, Bench], Plan]

    scales = tuple(SCALES)

    def run(self, setup: Setup) -> str:
        """Runs the protocol, writes `results.json` and `results.md`, and returns the latter.

        Raises:
            SpecError: options that make no sense.
            SpendLimitReached: a limit is reached; the same command with a larger one goes on.
        """
        options = _options(setup.options)
        scale = from_data({**asdict(SCALES[setup.scale]), **options.scale}, Scale)
        overrides = {"model": options.model} if options.model else {}
        settings = ModelSettings.from_env(os.environ, overrides)
        limit = SpendLimit(options.max_tokens, options.max_cost, options.max_calls)
        bench = _bench(options, scale, setup)
        plan = _with_reshaping(self.plan(options, bench), options.reshaping)
        with (
            RunStore(setup.folder / "run.db") as store,
            ModelSession(store, settings=settings, limit=limit) as models,
            RolloutPool(setup.workers, store=store, models=models) as pool,
        ):
            policy = models.resolved(PolicySpec(options.policy, options.policy_options))
            counting = options.consolidate == "counting"
            results = run_plan(plan, Lab(setup, bench, scale, policy, pool, models, counting))
        return _written(setup, results)


def _options(given: JsonDict) -> Options:
    known = [each.name for each in fields(Options)]
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise SpecError(f"There is no option {unknown[0]!r}. Options: {', '.join(known)}.")
    return from_data(given, Options)


def _bench(options: Options, scale: Scale, setup: Setup) -> Bench:
    if options.generate:
        folder = setup.folder / "tasks"
        return generated(options.env, folder, scale.train, scale.test, setup.seed, **options.knobs)
    return draw(options.env, options.env_options, scale.train, scale.test, setup.seed)


def _with_reshaping(plan: Plan, further: JsonDict) -> Plan:
    def told(arm: Arm) -> Arm:
        if arm.source != "reshaped":
            return arm
        return evolve(arm, options={**arm.options, **further})

    return evolve(plan, arms=tuple(map(told, plan.arms)))


def _written(setup: Setup, results: JsonDict) -> str:
    text = markdown(results)
    pages = {"results.json": json.dumps(results, indent=2, default=_plain), "results.md": text}
    for name, content in pages.items():
        try:
            (setup.folder / name).write_text(content, encoding="utf-8")
        except OSError as error:
            raise StoreError(f"Cannot write {setup.folder / name}: {error}.") from error
    return text


def _plain(value: Any) -> Any:
    raise SpecError(f"Results hold JSON alone, not {value!r:.80}.")


SKILLS = ProtocolExperiment(
    lambda options, bench: plans.skills(options.env, options.strategy, options.sources)
)
TRANSFER = ProtocolExperiment(
    lambda options, bench: plans.transfer(bench.families, options.strategy)
)
SCALING = ProtocolExperiment(lambda options, bench: plans.scaling(options.strategy))
CHAIN = ProtocolExperiment(lambda options, bench: plans.chain(options.strategy))
BACKBONES = ProtocolExperiment(
    lambda options, bench: plans.backbones(options.models, options.strategy)
)
ROUNDS = ProtocolExperiment(lambda options, bench: plans.rounds(options.strategy))
COST = ProtocolExperiment(lambda options, bench: plans.cost(options.env, options.strategy))
