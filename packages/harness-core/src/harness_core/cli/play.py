"""`harness play`."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from harness_core.cli.console import say
from harness_core.cli.models import NOTHING_SAID, ModelFlags, print_spend
from harness_core.cli.parsing import parse_options, parse_stack
from harness_core.episode import Episode, run_episode
from harness_core.policies import Decision, HumanPolicy, Policy, PolicySpec
from harness_core.values import Observation, Task, Tool


def play(
    target: str,
    /,
    *,
    task: str | None = None,
    policy: str = "human",
    seed: int = 0,
    max_steps: int = 50,
    option: list[str] | None = None,
    policy_option: list[str] | None = None,
    models: ModelFlags = NOTHING_SAID,
) -> int:
    """Plays one episode in the terminal: you, or a policy to watch.

    For example::

        harness play ENV --task TASK
        harness play stack.json --policy random --seed 3
        harness play ENV --policy react --model openai/gpt-4o-mini

    At the prompt, ? lists the admissible actions and Ctrl-D gives up.

    Args:
        target: id of an env, or the JSON file of a stack.
        task: id of a task; without it the env or the stack chooses.
        policy: id of a policy; human asks you.
        seed: of env and policy.
        max_steps: step budget.
        option: name=value for the env's constructor; JSON or text; may be repeated.
        policy_option: name=value for the policy's constructor; may be repeated.
        models: which models, and how much they may cost.
    """
    spec = parse_stack(target, parse_options(option))
    if task is not None:
        spec = evolve(spec, task=task)
    wanted = PolicySpec(policy, parse_options(policy_option, "--policy-option"))
    with models.session_for(wanted) as session:
        player = session.build_policy(wanted) if session else wanted.build()
        watched = player if isinstance(player, HumanPolicy) else Watched(player)
        with spec.build() as env:
            episode = run_episode(env, watched, max_steps=max_steps, seed=seed)
        _tell(episode)
        print_spend(session.spend() if session else [])
    return 0 if episode.failure is None else 1


class Watched:
    """A policy that prints what it sees and does."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        say(f"Task {task.id}: {task.goal}")
        self._policy.reset(task, tools, seed)

    def act(self, observation: Observation) -> Decision | None:
        """What the policy decides."""
        say(f"\n{observation.text}")
        decision = self._policy.act(observation)
        if decision is not None and decision.text.strip() not in ("", str(decision.action)):
            say(decision.text)
        if decision is not None:
            say(f"> {decision.action}" if not decision.invalid else "> (no action)")
        return decision


def _tell(episode: Episode) -> None:
    if episode.steps:
        say(f"\n{episode.steps[-1].shown.text}")
    steps = f"{len(episode.steps)} steps"
    if episode.failure is not None:
        failure = episode.failure
        say(f"\nFailed after {steps} ({failure.error}, {failure.fault}): {failure.message}")
    elif episode.verdict is not None:
        solved = "Solved" if episode.verdict.success else "Not solved"
        say(f"\n{solved} after {steps} ({episode.ending}); score {episode.verdict.score:g}.")
