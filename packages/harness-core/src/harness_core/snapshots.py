"""`snapshot` and `restore`: a whole stack in the middle of an episode, chained trees included."""

from __future__ import annotations

from copy import deepcopy

from harness_core.env import ActionableEnv
from harness_core.errors import SpecError
from harness_core.layer import Layer
from harness_core.registry import load
from harness_core.serial import from_data, to_data
from harness_core.spec import SCHEMA, StackSpec, spec_of
from harness_core.values import JsonDict


def snapshot(env: ActionableEnv) -> JsonDict:
    """`env` and the state of its episode, as JSON data.

    Raises:
        SpecError: the base env was not made by `make`, or a component is not registered.
    """
    layers: list[JsonDict] = []
    inner = env
    while isinstance(inner, Layer):
        layers.append(inner.save_layer())
        inner = inner.inner
    state = {
        "schema": SCHEMA,
        "stack": to_data(spec_of(env)),
        "base": inner.save_state(),
        "layers": layers[::-1],
    }
    return deepcopy(state)  # the episode goes on; the snapshot does not


def restore(state: JsonDict) -> ActionableEnv:
    """The stack that `snapshot` described, at the same point of the same episode.

    Raises:
        SpecError: `state` is no snapshot, or one of a newer schema.
    """
    state = deepcopy(state)  # two envs restored from one snapshot share nothing
    try:
        schema, stack, base, layers = (state[key] for key in ("schema", "stack", "base", "layers"))
    except (KeyError, TypeError) as error:
        raise SpecError(f"This is no snapshot: {type(error).__name__}: {error}.") from error
    if schema != SCHEMA:
        raise SpecError(f"This snapshot has schema {schema}; this version reads {SCHEMA}.")
    spec = from_data(stack, StackSpec)
    if not isinstance(layers, list) or len(layers) != len(spec.components):
        raise SpecError("This snapshot is damaged: its layers do not match its stack.")
    env: ActionableEnv = load("env", spec.env).from_state(base)
    env.origin = StackSpec(spec.env, spec.task, (), spec.options)
    for component, saved in zip(spec.components, layers, strict=True):
        env = component(env)
        if isinstance(env, Layer):
            env.load_layer(saved)
    return env
