from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness_core import Action, Contract, Observation, StepResult, Task, Tool
from harness_core.contract import StateView
from harness_core.episode import Episode, run_episode
from harness_core.errors import MissingExtraError, SpecError, UnknownTaskError
from harness_core.policies import Decision, RandomPolicy, ScriptedPolicy, Usage
from harness_core.serial import from_data, to_data
from harness_core.values import Blocked
from support.ladder import Ladder


class Answers:
    """A policy that answers with whatever it was given, then with nothing."""

    def __init__(self, *answers: object) -> None:
        self._answers = list(answers)

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        pass

    def act(self, observation: Observation) -> Decision | None:
        answer = self._answers.pop(0) if self._answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]  # wrong answers are the point


class Wary(Contract):
    """Blocks `down`, and hides everything behind fog."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        return Blocked("Never down.") if action.text == "down" else action

    def filter_observation(self, observation: Observation, env_state: StateView) -> Observation:
        return observation.replace(text="Fog.")


def test_records_a_solved_episode() -> None:
    """An episode has every step with what was seen and executed, its ending and the verdict."""
    episode = run_episode(Ladder("rung-2"), ScriptedPolicy(["up"] * 9), seed=2)
    assert episode.ending == "terminated"
    assert episode.success is True
    assert [str(step.action) for step in episode.steps] == ["up", "up"]
    assert [step.executed for step in episode.steps] == [Action("up"), Action("up")]
    assert episode.steps[-1].shown.text == "You are on rung 2 of 2."
    assert episode.start.text == "You are on rung 0 of 2."
    assert episode.task.id == "rung-2"
    assert from_data(to_data(episode), Episode) == episode


@pytest.mark.parametrize(
    ("actions", "max_steps", "ending", "steps"),
    [(["up"], 9, "stopped", 1), (["up"] * 9, 3, "budget", 3), ([], 9, "stopped", 0)],
)
def test_endings_without_an_end(
    actions: list[str], max_steps: int, ending: str, steps: int
) -> None:
    """A policy that stops, or has used up its budget, still gets the benchmark's verdict."""
    episode = run_episode(Ladder("rung-6"), ScriptedPolicy(actions), max_steps=max_steps)
    assert (episode.ending, len(episode.steps)) == (ending, steps)
    assert episode.success is False


def test_blocked_and_invalid_steps_are_charged_and_told() -> None:
    """Both cost a step and never reach the env; raw and shown observations are kept apart."""
    policy = ScriptedPolicy(["down", "sideways", "up"])
    episode = run_episode(Wary()(Ladder("rung-6")), policy, seed=2)
    blocked, invalid, up = episode.steps
    assert (blocked.blocked, blocked.executed) == ("Never down.", None)
    assert invalid.executed is None
    assert invalid.invalid.startswith("There is no 'sideways'")
    assert invalid.shown.text == f"{invalid.invalid}\n\nFog."
    assert (up.executed, up.shown.text) == (Action("up"), "Fog.")
    assert up.raw is not None
    assert up.raw.text == "You are on rung 1 of 6."


def test_env_failure_counts_for_nobody() -> None:
    """An env that raises ends the episode as infrastructure's failure, with the traceback."""
    episode = run_episode(Ladder("rung-6", trouble="raise"), ScriptedPolicy(["up"] * 3))
    assert episode.failure is not None
    assert (episode.ending, episode.failure.fault) == ("failed", "infrastructure")
    assert "the ladder broke" in episode.failure.message
    assert "_go_wrong" in episode.failure.trace
    assert (episode.success, len(episode.steps)) == (None, 1)


@pytest.mark.parametrize(
    "answer",
    [ValueError("no idea"), "up", Decision("up"), Decision({"text": "up"})],  # type: ignore[arg-type]
)
def test_policy_failure_counts_against_it(answer: object) -> None:
    """A policy that raises, or answers with no decision on an action, has failed the task."""
    episode = run_episode(Ladder("rung-6"), Answers(Decision(Action("up")), answer))
    assert episode.failure is not None
    assert (episode.failure.error, episode.failure.fault) == ("PolicyError", "policy")
    assert (episode.success, len(episode.steps)) == (False, 1)


def test_component_failure_counts_for_nobody() -> None:
    """A hook that raises is the component's fault and leaves no success or failure."""

    class Broken(Contract):
        def modify_transition(
            self, action: Action, response: StepResult, env_state: StateView
        ) -> StepResult:
            raise KeyError("oops")

    episode = run_episode(Broken()(Ladder()), ScriptedPolicy(["up"]))
    assert episode.failure is not None
    assert (episode.failure.error, episode.failure.fault) == ("ContractError", "component")
    assert episode.success is None


@pytest.mark.parametrize("error", [MissingExtraError("install it"), SpecError("what?")])
def test_what_the_caller_must_mend_is_raised(error: Exception) -> None:
    """An error of the request is no episode: it is raised."""
    with pytest.raises(type(error)):
        run_episode(Ladder(), Answers(error))
    with pytest.raises(UnknownTaskError):
        Ladder("rung-99")


def test_time_limit_between_steps() -> None:
    """An episode over its wall-clock limit ends between two steps, as nobody's failure."""
    env = Ladder("rung-6", pause=0.05)
    episode = run_episode(env, ScriptedPolicy(["down"] * 50), max_seconds=0.12)
    assert episode.failure is not None
    assert episode.failure.error == "EnvTimeout"
    assert 1 <= len(episode.steps) <= 3


def test_usage_adds_up() -> None:
    """The episode's tokens are the sum of its steps'."""
    decisions = [Decision(Action("down"), usage=Usage(3, number)) for number in (1, 2)]
    episode = run_episode(Ladder(), Answers(*decisions))
    assert episode.usage == Usage(6, 3)


def test_same_seed_same_episode() -> None:
    """Equal seeds give equal episodes, another seed another one, timings aside."""
    first, second, other = (
        run_episode(Ladder("rung-6"), RandomPolicy(), seed=seed) for seed in (5, 5, 6)
    )
    assert first == second
    assert first != other
