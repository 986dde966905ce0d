from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness_core import Action, Contract, Observation, StepResult, Task, Tool
from harness_core.contract import StateView
from harness_core.episode import Episode, policy_seed, run_episode
from harness_core.errors import MissingExtraError, SpecError, UnknownTaskError
from harness_core.policies import Decision, RandomPolicy, ScriptedPolicy, Usage
from harness_core.serial import from_data, to_data
from harness_core.values import Blocked, Verdict
from support.ladder import Ladder
from support.odd_env import OddLadder, Unprintable, UnprintableRefusal


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


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _circle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


ODD_VALUES = [
    *(float("nan"), float("inf"), (1, 2), {1: 2}, {"a", "b"}, b"x", print, object()),
    *("\ud800", {"\ud800": 1}, 10**5000, _deep(80), _deep(100_000), _circle()),
]
ODD_DECISIONS: list[Any] = [
    *(Decision(Action(tool="t", arguments={"x": value})) for value in ODD_VALUES),
    *(Decision(Action("up", arguments=value)) for value in (None, [], "x")),
    *(Decision(Action(value)) for value in (5, None, b"up", "\ud800")),
    *(Decision(Action("up", tool=value)) for value in (5, None)),
    *(Decision(Action("up"), text=value) for value in (5, None, "\ud800")),
    *(Decision(Action("up"), usage=value) for value in (None, 3, (1, 2), Usage("3"), Usage(1.5))),
]


class Counted(Ladder):
    """Counts the actions that reach it."""

    asked = 0

    def step(self, action: Action) -> StepResult:
        self.asked += 1
        return super().step(action)


@pytest.mark.parametrize("decision", ODD_DECISIONS, ids=range(len(ODD_DECISIONS)))
def test_odd_decisions_never_reach_the_env(decision: Decision) -> None:
    """A decision that is wrong anywhere inside is the policy's failure, before the env is asked."""
    env = Counted("rung-6")
    episode = run_episode(env, Answers(Decision(Action("up")), decision))
    assert episode.failure is not None
    assert (episode.failure.error, episode.success) == ("PolicyError", False)
    assert (env.asked, len(episode.steps)) == (1, 1)
    assert from_data(to_data(episode), Episode) == episode


def test_a_decision_is_recorded_as_it_was() -> None:
    """What a policy does later to its own arguments does not change the record."""
    arguments: dict[str, Any] = {"n": [1]}
    policy = Answers(Decision(Action(tool="t", arguments=arguments)))
    episode = run_episode(Ladder(), policy)
    arguments["n"].append(2)
    assert episode.steps[0].action.arguments == {"n": [1]}


class Wrong(Ladder):
    """Answers one call with whatever it is told to."""

    def __init__(self, call: str, answer: object) -> None:
        super().__init__("rung-6")
        setattr(self, call, lambda *_, **__: answer)


ODD_ANSWERS: list[tuple[str, Any]] = [
    *(("step", value) for value in (None, "up", Observation("x"), StepResult(None))),  # type: ignore[arg-type]
    *(("step", StepResult(Observation(value))) for value in (5, None, "\ud800")),  # type: ignore[arg-type]
    *(("step", StepResult(Observation(data={"x": value}))) for value in ODD_VALUES),
    *(("step", StepResult(Observation(images=value))) for value in (None, (5,))),  # type: ignore[arg-type]
    *(("reset", value) for value in (None, Observation("x"), (Observation("x"), {}))),
    *(("tools", value) for value in (None, 5, ["look"])),
    *(("evaluate", value) for value in (None, True, 1.0, Verdict(None, 0.0), Verdict(True, "x"))),  # type: ignore[arg-type]
    ("last_transition", "up"),
]


@pytest.mark.parametrize(("call", "answer"), ODD_ANSWERS, ids=range(len(ODD_ANSWERS)))
def test_odd_answers_of_an_env_count_for_nobody(call: str, answer: object) -> None:
    """A wrong answer of the env, at its top or deep inside, is infrastructure's failure."""
    episode = run_episode(Wrong(call, answer), ScriptedPolicy(["up"]))
    assert episode.failure is not None
    assert (episode.failure.error, episode.success) == ("EnvError", None)
    assert from_data(to_data(episode), Episode) == episode


def test_good_answers_come_through_whole() -> None:
    """Pictures, nested data and parts of verdicts are recorded as the env gave them."""
    seen = Observation("x", {"a": [1, {"b": None}]}, ("data:,x",))
    verdict = Verdict.conjunction((Verdict(True), Verdict(False, 0.5, {"m": 1})))
    env = Wrong("step", StepResult(seen, terminated=True))
    env.evaluate = lambda: verdict  # type: ignore[method-assign]
    episode = run_episode(env, ScriptedPolicy(["up"]))
    assert (episode.steps[0].shown, episode.verdict) == (seen, verdict)


class Breaks(Contract):
    """Raises what cannot be shown, in one hook."""

    def filter_action(self, action: Action, env_state: StateView) -> Action | Blocked:
        raise Unprintable


@pytest.mark.parametrize(
    ("play", "fault"),
    [
        (lambda: run_episode(Ladder(), Answers(Unprintable())), "policy"),
        (lambda: run_episode(Ladder(), Answers(UnprintableRefusal())), "policy"),
        (lambda: run_episode(Breaks()(Ladder()), ScriptedPolicy(["up"])), "component"),
        (
            lambda: run_episode(
                OddLadder("rung-6", trouble="Unprintable"), ScriptedPolicy(["up"] * 2)
            ),
            "infrastructure",
        ),
        (
            lambda: run_episode(OddLadder("rung-6", trouble="unicode"), ScriptedPolicy(["up"] * 2)),
            "infrastructure",
        ),
    ],
)
def test_errors_without_a_message(play: Callable[[], Episode], fault: str) -> None:
    """An error whose message cannot be read or written is recorded all the same."""
    episode = play()
    assert episode.failure is not None
    assert episode.failure.fault == fault
    assert episode.failure.trace.encode()
    assert episode.failure.message.encode()


@pytest.mark.parametrize("slow", ["reset", "act"])
def test_a_slow_policy_has_itself_to_blame(slow: str) -> None:
    """If the time runs out while the policy thinks, the episode counts, and names the limit."""

    class Slow(ScriptedPolicy):
        def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
            time.sleep(0.2 if slow == "reset" else 0)

        def act(self, observation: Observation) -> Decision | None:
            time.sleep(0.2 if slow == "act" else 0)
            return super().act(observation)

    episode = run_episode(Ladder("rung-6"), Slow(["up"]), max_seconds=0.1)
    assert episode.failure is not None
    assert (episode.failure.error, episode.success) == ("PolicyError", False)
    assert "0.1 s" in episode.failure.message
    assert "Limits.episode" in episode.failure.message


def test_a_slow_model_is_nobodys_failure() -> None:
    """If the time runs out while a policy waits for its model, the episode does not count."""

    class Waiting(ScriptedPolicy):
        needs_model = True

        def act(self, observation: Observation) -> Decision | None:
            time.sleep(0.2)
            return super().act(observation)

    episode = run_episode(Ladder("rung-6"), Waiting(["up"]), max_seconds=0.1)
    assert episode.failure is not None
    assert (episode.failure.error, episode.success) == ("ModelError", None)
    assert "Limits.episode" in episode.failure.message


def test_env_and_policy_have_streams_of_their_own() -> None:
    """The policy's seed is not the env's, and another one for every task and seed."""

    class Noted(ScriptedPolicy):
        def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
            seen.append(seed)

    seen: list[int] = []
    for task in ("rung-1", "rung-2"):
        for seed in range(3):
            run_episode(Ladder(task), Noted([]), seed=seed)
    assert seen == [policy_seed(task, n) for task in ("rung-1", "rung-2") for n in range(3)]
    assert len({*seen, 0, 1, 2}) == 9
