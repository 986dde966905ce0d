"""`check_env`: does an env keep the promises of the contract?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from harness_core.env import ActionableEnv
from harness_core.errors import InvalidAction, UnknownTaskError
from harness_core.serial import canonical, to_data
from harness_core.testing import value_checks as values
from harness_core.testing.case import Case
from harness_core.testing.report import Check, run_checks
from harness_core.testing.walks import act, difference, play, standing, trace
from harness_core.values import Action

NOWHERE = "no such task, by agreement"
NOTHING = "no such action, by agreement"


def check_env(
    factory: Callable[[], ActionableEnv],
    *,
    steps: int = 12,
    actions: Sequence[Action | str | Mapping[str, Any]] = (),
) -> list[str]:
    """Checks that what `factory` makes keeps the promises of `ActionableEnv`.

    Args:
        factory: makes a new env, not yet reset, of the same task and options each time. Every
            env it makes is closed.
        steps: length of the random walks that the checks play.
        actions: what to choose from where `observation.data` lists no `"admissible"` actions.

    Returns:
        The names of the checks done.

    Raises:
        ConformanceError: listing every broken promise.
    """
    case = Case(factory, steps, tuple(Action.of(action) for action in actions))
    with case.env() as env:
        subject = type(env).__name__
    return run_checks(subject, checks_of(case))


def checks_of(case: Case) -> dict[str, Check]:
    """The checks of `check_env`."""
    return {
        "types": lambda: _types(case),
        "walk": lambda: _walk(case),
        "second reset": lambda: _second_reset(case),
        "fresh instance": lambda: _fresh_instance(case),
        "seed": lambda: _seed(case),
        "interleaving": lambda: _interleaving(case),
        "reading changes nothing": lambda: _reading(case),
        "fresh copies": lambda: _copies(case),
        "snapshot": lambda: _snapshot(case),
        "steps": lambda: _steps(case),
        "invalid action": lambda: _invalid_action(case),
        "tasks": lambda: _tasks(case),
        "unknown task": lambda: _unknown_task(case),
        "close": lambda: _close(case),
    }


def _types(case: Case) -> Iterator[str]:
    with case.env() as env:
        if not isinstance(env, ActionableEnv):
            yield f"the factory returned a {type(env).__name__}; return an ActionableEnv."
            return
        if env.snapshots not in ("live", "episode"):
            yield f'snapshots is {env.snapshots!r}; it must be "live" or "episode".'
        if env.verifier_cost not in ("free", "expensive"):
            yield f'verifier_cost is {env.verifier_cost!r}; it must be "free" or "expensive".'
        if type(env.reversible_endings) is not bool:
            yield f"reversible_endings is {env.reversible_endings!r}; it must be a bool."
        yield from values.tool_problems(env.tools())
        schema = env.state_schema()
        yield from values.schema_problems(schema, "state_schema()")
        yield from values.reset_problems(env.reset(seed=0), "reset()")
        yield from _readings(env, schema)
        for action in case.walk(0):
            try:
                answer = env.step(action)
            except InvalidAction:
                continue
            yield from values.step_problems(answer, f"step({str(action)!r})")
            yield from _readings(env, schema)
            if answer.ended:
                break
        yield from values.verdict_problems(env.evaluate(), "evaluate()")
        yield from values.json_problems(env.save_state(), "save_state()")


def _readings(env: ActionableEnv, schema: object) -> Iterator[str]:
    yield from values.observation_problems(env.observe(), "observe()")
    state = env.get_env_state()
    yield from values.state_problems(state, "get_env_state()")
    required = schema.get("required", []) if isinstance(schema, dict) else []
    for name in required:
        if name not in state.data:
            yield f"get_env_state().data lacks {name!r}, which state_schema() requires."
    if type(env.step_signal()) is not float:
        yield f"step_signal() returned {env.step_signal()!r}; return a float."


def _walk(case: Case) -> Iterator[str]:
    if not case.walk(0):
        yield (
            "nothing to play: no observation lists admissible actions. List them in "
            'data["admissible"], or give check_env some `actions`.'
        )
    if not case.base:
        return
    with case.env() as env:
        env.reset(seed=0)
        for action in case.walk(0):
            try:
                if env.step(action).ended:
                    break
            except InvalidAction as error:
                yield (
                    f"{str(action)!r} was listed but refused: {error} List only what step() "
                    "accepts."
                )


def _second_reset(case: Case) -> Iterator[str]:
    first = case.fresh_trace()
    with case.env() as env:
        for seed, share in ((1, 1.0), (2, 0.5), (3, 0.25)):
            trace(env, case.walk(seed)[: round(case.steps * share)], seed)
            if told := difference(first, trace(env, case.walk(0))):
                yield (
                    "a reset after an episode with another seed does not give the same episode "
                    f"as a new env, {told}. Set everything anew in reset()."
                )
                return


def _fresh_instance(case: Case) -> Iterator[str]:
    if told := difference(case.fresh_trace(), case.fresh_trace()):
        yield (
            f"two new envs with the same seed and actions differ, {told}. Take all randomness "
            "from `seed`: no time, no global generator, no set order."
        )


def _seed(case: Case) -> Iterator[str]:
    with case.env() as env:
        unseeded = trace(env, case.walk(0), None)
        tasks = {env.reset(seed=seed).task.id for seed in range(4)}
    if told := difference(case.fresh_trace(), unseeded):
        yield f"reset() differs from reset(seed=0), {told}. Without a seed, use 0."
    if len(tasks) > 1:
        yield (
            f"the seed chose among the tasks {sorted(tasks)}. Choose the task by id alone: the "
            'constructor\'s `task`, options["task"], else the first of list_tasks().'
        )


def _interleaving(case: Case) -> Iterator[str]:
    separate = [case.fresh_trace(seed) for seed in (0, 1)]
    together: list[list[str]] = [[], []]
    with case.env() as one, case.env() as other:
        for seed, env in enumerate((one, other)):
            together[seed].append(canonical(to_data(env.reset(seed=seed))))
        for turn in range(case.steps):
            for seed, env in enumerate((one, other)):
                together[seed] += [act(env, action)[0] for action in case.walk(seed)[turn:][:1]]
        for seed, env in enumerate((one, other)):
            together[seed] += standing(env)
    for seed in (0, 1):
        if where := difference(separate[seed], together[seed]):
            yield (
                f"two envs at work at the same time disturb each other, {where}. Keep state in "
                "the instance, not in the class or the module."
            )


def _reading(case: Case) -> Iterator[str]:
    def read_all(env: ActionableEnv) -> None:
        for _ in range(2):
            env.observe(), env.get_env_state(), env.save_state(), env.tools()
            env.step_signal(), env.state_schema()
            if env.verifier_cost == "free":
                env.evaluate()

    with case.env() as env:
        probed = trace(env, case.walk(0), probe=read_all)
        if standing(env) != standing(env):
            yield "reading the env twice in a row gives different answers."
    if told := difference(case.fresh_trace(), probed):
        yield (
            "observe(), evaluate(), get_env_state() or save_state() between the steps changed "
            f"the episode, {told}. They must cost nothing and change nothing."
        )


def _copies(case: Case) -> Iterator[str]:
    with case.env() as env:
        start = env.reset(seed=0)
        told = [canonical(to_data(start))]
        _spoil(start.observation.data, start.info)
        for action in case.walk(0):
            _spoil(env.observe().data, env.get_env_state().data, env.save_state())
            try:
                answer = env.step(action)
            except InvalidAction:
                told.append("InvalidAction")
                continue
            told.append(canonical(to_data(answer)))
            _spoil(answer.observation.data, answer.info)
            if answer.ended:
                break
        told += standing(env)
    if where := difference(case.fresh_trace(), told):
        yield (
            "changing returned data (of an observation, an info, a state) changed the env, "
            f"{where}. Return fresh copies."
        )


def _spoil(*values: object) -> None:
    """Changes every dict and list inside `values` in place."""
    for value in values:
        if isinstance(value, dict):
            _spoil(*value.values())
            value.clear()
        elif isinstance(value, list):
            _spoil(*value)
            value.append("spoilt")


def _snapshot(case: Case) -> Iterator[str]:
    actions = case.walk(0)
    for done in sorted({0, len(actions) // 2, len(actions)}):
        with case.env() as env:
            env.reset(seed=0)
            play(env, actions[:done])
            saved = env.save_state()
            text = json.dumps(saved)
            here = standing(env)
            with closing(type(env).from_state(json.loads(text))) as twin:
                if told := difference(here, standing(twin)):
                    yield (
                        f"from_state after {done} actions stands elsewhere, {told}. Save all "
                        "that the env keeps between steps."
                    )
                    continue
                yield from _resumed(case, text, here, done)
                rest, twin_rest = play(env, actions[done:]), play(twin, actions[done:])
                if told := difference(rest, twin_rest):
                    yield (
                        f"from_state after {done} actions goes on differently, {told}. Save all "
                        "that the env keeps between steps, random generators included."
                    )


def _resumed(case: Case, saved: str, here: list[str], done: int) -> Iterator[str]:
    """An env that resumes stands where `from_state` does, whatever it did before."""
    with case.env() as other:
        other.reset(seed=1)
        play(other, case.walk(1)[:3])
        if not other.resume(json.loads(saved)):
            return
        if told := difference(here, standing(other)):
            yield f"resume after {done} actions stands elsewhere, {told}. Put back what was saved."


def _steps(case: Case) -> Iterator[str]:
    if not case.base:
        return
    with case.env() as env:
        env.reset(seed=0)
        if steps := env.get_env_state().steps:
            yield f"get_env_state().steps is {steps} after reset; it must be 0."
        for count, action in enumerate(case.walk(0), start=1):
            answer = env.step(action)
            if env.get_env_state().steps != count:
                yield f"get_env_state().steps is {env.get_env_state().steps} after {count} steps."
                return
            if answer.ended:
                break
        before = env.get_env_state().data
        env.notify_replay_complete()
        after = env.get_env_state()
        if after.steps:
            yield (
                f"get_env_state().steps is {after.steps} after notify_replay_complete(); replayed "
                "steps are free: count from there."
            )
        if after.data != before:
            yield "notify_replay_complete() changed the state; only the count of steps may change."


def _invalid_action(case: Case) -> Iterator[str]:
    actions = case.walk(0)
    half = len(actions) // 2
    with case.env() as env:
        env.reset(seed=0)
        play(env, actions[:half])
        here, state = standing(env), env.get_env_state()
        for action, must_raise in ((Action(NOTHING), False), (Action(tool="no_such_tool"), True)):
            if not _refused(env, action):
                if must_raise:
                    yield (
                        f"step accepted the tool call {str(action)!r}, which tools() does not "
                        "offer. Raise InvalidAction, and say what is possible."
                    )
                return
            if difference(here, standing(env)) or env.get_env_state() != state:
                yield "an InvalidAction changed the world. Check the action before acting."
                return
        rest = play(env, actions[half:])
    with case.env() as quiet:
        undisturbed = trace(quiet, actions)
    if told := difference(undisturbed[1 + half :], rest):
        yield f"after an InvalidAction the episode goes on differently, {told}."


def _refused(env: ActionableEnv, action: Action) -> bool:
    try:
        env.step(action)
    except InvalidAction:
        return True
    return False


def _tasks(case: Case) -> Iterator[str]:
    with case.env() as env:
        tasks = list(env.list_tasks())
        if wrong := list(values.task_list_problems(tasks)):
            yield from wrong
            return
        if tasks != list(env.list_tasks()):
            yield "list_tasks() differs from call to call; keep a stable order."
        for task in tasks[:2] if case.base else ():
            start = env.reset(seed=0, options={"task": task.id})
            if start.task.id != task.id:
                yield f'options["task"] = {task.id!r} started {start.task.id!r}.'
            if env.get_env_state().task != task.id:
                yield f"get_env_state().task is not {task.id!r}, the current task."
            if (later := env.reset(seed=0).task.id) != task.id:
                yield (
                    f"after task {task.id!r} a reset without options started {later!r}; "
                    'options["task"] holds for later episodes too.'
                )


def _unknown_task(case: Case) -> Iterator[str]:
    with case.env() as env:
        before = env.reset(seed=0).task.id
        try:
            started = env.reset(seed=0, options={"task": NOWHERE}).task.id
        except UnknownTaskError:
            if env.reset(seed=0).task.id != before:
                yield "an unknown task changed the current one; check the id before anything else."
        else:
            yield f"an unknown task started {started!r}. Raise UnknownTaskError."


def _close(case: Case) -> Iterator[str]:
    for started in (False, True):
        env = case.factory()
        if started:
            env.reset(seed=0)
        for time in ("first", "second"):
            try:
                env.close()
            except Exception as error:
                when = "after" if started else "before"
                yield (
                    f"the {time} close() {when} the first reset raised {type(error).__name__}: "
                    f"{error}. close() frees what there is, and may be called twice."
                )
