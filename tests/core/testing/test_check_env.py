import random
import time
from io import StringIO

import attrs
import pytest

from harness_core import (
    Action,
    EnvState,
    Observation,
    ResetResult,
    StepResult,
    Task,
    Tool,
    Verdict,
)
from harness_core.errors import InvalidAction, UnknownTaskError
from harness_core.testing import ConformanceError, CorridorEnv, check_env

OBJECT = {"type": "object", "properties": {}}


def corridor(**methods):
    """A `CorridorEnv` of five cells with some methods replaced."""
    kind = type("Broken", (CorridorEnv,), methods)
    return lambda: kind("length-5", slip=0.2)


def told(factory, **options):
    with pytest.raises(ConformanceError) as caught:
        check_env(factory, **options)
    return str(caught.value)


@pytest.mark.parametrize("task", ["length-2", "length-6"])
@pytest.mark.parametrize("replay", [True, False])
@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_an_env_that_keeps_all_promises_passes(task, replay, slip):
    """The corridor passes, live or replayed, with and without chance; the checks are named."""
    done = check_env(lambda: CorridorEnv(task, slip=slip, replay=replay, limit=5))
    assert {"types", "second reset", "snapshot", "unknown task", "close"} <= set(done)


def test_every_broken_promise_is_in_one_message():
    """One failure does not hide another; the message has a line for each."""
    message = told(corridor(step_signal=lambda self: 1, tools=lambda self: []))
    assert "Broken breaks its promises (2):" in message
    assert message.count("\n- types: ") == 2


def test_a_check_that_meets_an_exception_says_so():
    """An env that raises something unexpected fails the check instead of the test run."""

    def observe(self):
        raise RuntimeError("engine lost")

    assert "engine lost" in told(corridor(observe=observe))


def value(**changes):
    """Methods of an env whose every observation has these changes."""
    return {"observe": lambda self: attrs.evolve(CorridorEnv.observe(self), **changes)}


def state(data):
    return {"get_env_state": lambda self: EnvState("length-5", 0, data)}


def verdict(*parts):
    return {"evaluate": lambda self: Verdict(*parts)}


def tools(*tools):
    return {"tools": lambda self: tools}


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        ({"snapshots": property(lambda self: "yes", lambda self, _: None)}, "snapshots is 'yes'"),
        ({"verifier_cost": "cheap"}, "verifier_cost is 'cheap'"),
        ({"reversible_endings": 1}, "reversible_endings is 1"),
        ({"reset": lambda self, **_: ("text", {})}, "tuple"),
        (value(text=b"dark"), "observe().text is b'dark'; it must be a str"),
        (value(data={"position": (1, 2)}), "observe().data['position'] is a tuple"),
        (value(data={"position": {1}}), "observe().data['position'] is a set"),
        (value(data={1: 2}), "keys must be str"),
        (value(data={"x": float("nan")}), "is nan, which is no JSON number"),
        (value(data={"admissible": "left"}), "must be a list of action texts"),
        (value(images=("picture.png",)), "use PNG or JPEG data URLs"),
        (value(images=["a"]), "images is ['a']; it must be a tuple"),
        (state({"engine": object()}), "get_env_state().data['engine'] is a object"),
        (state({}), "lacks 'position', which state_schema() requires"),
        ({"state_schema": lambda self: {"type": "dict"}}, "the \"type\" 'dict'"),
        ({"state_schema": lambda self: None}, "state_schema() must be a JSON schema"),
        (verdict(1), "evaluate().success is 1; it must be a bool"),
        (verdict(False, 2.0), "score is 2.0; it must lie in [0, 1]"),
        (verdict(False, 1), "score is 1; it must be a float"),
        (verdict(False, 0.0, {"x": object}), "metrics['x'] is a type"),
        ({"step_signal": lambda self: 1}, "step_signal() returned 1; return a float"),
        ({"tools": lambda self: []}, "tools() returned a list"),
        (tools("walk"), "is a str; return a Tool"),
        (tools(Tool("walk"), Tool("walk")), "names one tool twice"),
        (tools(Tool("go to")), "a name is 1 to 64 letters"),
        (tools(Tool("go", parameters={})), 'must have "type": "object"'),
        (tools(Tool("go", parameters={**OBJECT, "required": ["way"]})), "requires 'way'"),
        (tools(Tool("go", parameters=OBJECT, text_argument="way")), "property of type string"),
        (
            tools(Tool("go", parameters={**OBJECT, "properties": {"way": {"type": "text"}}})),
            "the \"type\" 'text'",
        ),
        ({"save_state": lambda self: {"world": {1, 2}}}, "save_state()['world'] is a set"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(methods, expected):
    """Types: whatever crosses the interface is of its class and JSON all the way down."""
    assert expected in told(corridor(**methods))


def test_a_factory_that_makes_something_else_is_named():
    """What is no env fails with the reason."""
    assert "return an ActionableEnv" in told(StringIO)


def test_an_env_that_offers_nothing_to_play_needs_actions():
    """Without admissible actions the checks would play nothing; the message says what to give."""
    silent = value(data={})
    assert "give check_env some `actions`" in told(corridor(**silent))
    assert check_env(corridor(**silent), actions=["left", {"tool": "switch"}, "right"])


def test_a_listed_action_that_is_refused_is_named():
    """Walk: what is listed as admissible must be accepted."""
    broken = corridor(**value(data={"admissible": ["left", "fly"]}))
    assert "'fly' was listed but refused" in told(broken)


def test_what_a_reset_leaves_over_is_found():
    """Second reset: a lamp that stays on from the last episode."""

    def reset(self, *, seed=None, options=None):
        lamp = self._lamp
        start = CorridorEnv.reset(self, seed=seed, options=options)
        self._lamp = lamp
        return start.replace(observation=self.observe())

    assert "second reset: a reset after an episode" in told(corridor(reset=reset))


def test_time_and_global_randomness_are_found():
    """Fresh instance: two new envs with one seed must be equal."""
    for noise in (time.perf_counter, random.random):

        def observe(self, noise=noise):
            return Observation(str(noise()))

        message = told(corridor(observe=observe), actions=["left"])
        assert "fresh instance: two new envs" in message


def test_a_missing_seed_that_means_chance_is_found():
    """Seed: no seed means 0."""

    def reset(self, *, seed=None, options=None):
        return CorridorEnv.reset(self, seed=18 if seed is None else seed, options=options)

    assert "Without a seed, use 0" in told(corridor(reset=reset))


def test_a_seed_that_chooses_the_task_is_found():
    """Seed: tasks are chosen by id alone."""

    def reset(self, *, seed=None, options=None):
        chosen = options or {"task": f"length-{2 + (seed or 0) % 5}"}
        return CorridorEnv.reset(self, seed=seed, options=chosen)

    assert "the seed chose among the tasks" in told(corridor(reset=reset))


def test_state_shared_between_instances_is_found():
    """Interleaving: a lamp that lives in the class."""
    shared = {"on": False}
    lamp = property(lambda self: shared["on"], lambda self, on: shared.update(on=on))
    assert "two envs at work at the same time disturb each other" in told(corridor(_lamp=lamp))


@pytest.mark.parametrize("name", ["observe", "evaluate", "get_env_state", "save_state"])
def test_a_reading_that_changes_the_world_is_found(name):
    """Reading: each of the four reading methods, where it turns the lamp on at a time."""

    def meddle(self):
        self._looks = getattr(self, "_looks", 0) + 1
        if self._looks % 5 == 0:
            self._lamp = not self._lamp
        return getattr(CorridorEnv, name)(self)

    assert "reading changes nothing: " in told(corridor(**{name: meddle}))


def test_returned_data_that_is_the_envs_own_is_found():
    """Fresh copies: a world that a hook could change through what it gets."""

    def observe(self):
        self.__dict__.setdefault("_own", {"admissible": ["left", "right", "switch"]})
        return Observation("", self._own)

    assert "fresh copies: changing returned data" in told(corridor(observe=observe))


def test_a_snapshot_that_forgets_the_world_is_found():
    """Snapshot: a lamp that is not saved."""

    def save_state(self):
        saved = CorridorEnv.save_state(self)
        return {**saved, "world": [saved["world"][0], False, saved["world"][2]]}

    assert "actions stands elsewhere" in told(corridor(save_state=save_state), steps=30)


def test_a_snapshot_that_forgets_the_luck_is_found():
    """Snapshot: an episode that stands right, and goes on with other random numbers."""

    def save_state(self):
        return {**CorridorEnv.save_state(self), "seed": 12345}

    kind = type("Broken", (CorridorEnv,), {"save_state": save_state})
    assert "goes on differently" in told(lambda: kind("length-6", slip=0.5), steps=30)


def test_steps_that_are_counted_wrongly_are_found():
    """Steps: one each, none after a reset, none for a replay."""

    def one(self):
        real = CorridorEnv.get_env_state(self)
        return EnvState(real.task, 1, real.data)

    stuck = {"get_env_state": one}
    message = told(corridor(**stuck))
    assert "steps is 1 after reset" in message
    assert "steps is 1 after 2 steps" in message
    assert "after notify_replay_complete()" in told(
        corridor(notify_replay_complete=lambda self: None)
    )


def test_a_replay_mark_that_changes_the_world_is_found():
    """Steps: only the count may change."""

    def notify(self):
        CorridorEnv.notify_replay_complete(self)
        self._lamp = not self._lamp

    assert "notify_replay_complete() changed the state" in told(
        corridor(notify_replay_complete=notify)
    )


def test_an_unknown_tool_that_is_accepted_is_found():
    """Invalid action: a tool that is not offered must be refused."""

    def step(self, action):
        if action.tool == "no_such_tool":
            return StepResult(self.observe())
        return CorridorEnv.step(self, action)

    assert "accepted the tool call 'no_such_tool({})'" in told(corridor(step=step))


def test_an_invalid_action_that_changes_the_world_is_found():
    """Invalid action: checked after acting."""

    def step(self, action):
        self._lamp = not self._lamp
        return CorridorEnv.step(self, action)

    assert "an InvalidAction changed the world" in told(corridor(step=step))


def test_an_invalid_action_with_a_late_effect_is_found():
    """Invalid action: nothing to be seen at once, but the episode goes on differently."""

    def step(self, action):
        try:
            return CorridorEnv.step(self, action)
        except InvalidAction:
            self._seed += 1
            raise

    kind = type("Broken", (CorridorEnv,), {"step": step})
    message = told(lambda: kind("length-6", slip=0.5), steps=30)
    assert "after an InvalidAction the episode goes on differently" in message


def test_wrong_lists_of_tasks_are_found():
    """Tasks: unique ids in a stable order."""
    twice = {"list_tasks": lambda self: [Task("length-2"), Task("length-2")]}
    assert "has an id twice" in told(corridor(**twice))
    tasks = [Task(f"length-{length}") for length in range(2, 7)]
    shuffled = {"list_tasks": lambda self: random.sample(tasks, 5)}
    assert "differs from call to call" in told(corridor(**shuffled))
    nameless = {"list_tasks": lambda self: [Task("")]}
    assert "id is empty" in told(corridor(**nameless))


def test_a_task_option_that_is_ignored_is_found():
    """Tasks: the option chooses the task."""

    def reset(self, *, seed=None, options=None):
        if options and options["task"] not in ("length-2", "length-3"):
            raise UnknownTaskError(options["task"], [], "corridor")
        return CorridorEnv.reset(self, seed=seed)

    assert "options[\"task\"] = 'length-2' started 'length-5'" in told(corridor(reset=reset))


def test_a_task_option_that_does_not_last_is_found():
    """Tasks: the chosen task stays for later episodes."""

    def reset(self, *, seed=None, options=None):
        start = CorridorEnv.reset(self, seed=seed, options=options or {"task": "length-5"})
        return ResetResult(start.observation, start.task)

    assert "holds for later episodes too" in told(corridor(reset=reset))


def test_a_state_that_names_another_task_is_found():
    """Tasks: the state knows the current task."""

    def get_env_state(self):
        real = CorridorEnv.get_env_state(self)
        return EnvState("length-5", real.steps, real.data)

    assert "get_env_state().task is not 'length-2'" in told(corridor(get_env_state=get_env_state))


def test_an_unknown_task_that_starts_another_is_found():
    """Unknown task: never another task in its place."""

    def reset(self, *, seed=None, options=None):
        try:
            return CorridorEnv.reset(self, seed=seed, options=options)
        except UnknownTaskError:
            return CorridorEnv.reset(self, seed=seed)

    assert "an unknown task started 'length-5'" in told(corridor(reset=reset))


def test_an_unknown_task_that_changes_the_current_one_is_found():
    """Unknown task: the error leaves the env as it was."""

    def reset(self, *, seed=None, options=None):
        try:
            return CorridorEnv.reset(self, seed=seed, options=options)
        except UnknownTaskError:
            self._task = "length-3"
            raise

    assert "an unknown task changed the current one" in told(corridor(reset=reset))


def test_a_close_that_fails_is_found():
    """Close: before the first reset, and the second time."""

    def early(self):
        _ = self._engine

    def twice(self):
        assert not getattr(self, "_closed", False), "closed already"
        self._closed = True

    assert "the first close() before the first reset raised AttributeError" in told(
        corridor(close=early)
    )
    assert "the second close() after the first reset raised AssertionError" in told(
        corridor(close=twice)
    )


def test_the_env_under_check_gets_ordinary_actions_only():
    """The checks ask nothing of an env beyond its contract."""
    seen = set()

    def step(self, action):
        seen.add(type(action))
        return CorridorEnv.step(self, action)

    check_env(corridor(step=step))
    assert seen == {Action}
