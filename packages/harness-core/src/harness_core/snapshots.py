"""`snapshot` and `restore`: a whole stack in the middle of an episode, chained trees included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy

from harness_core.env import ActionableEnv
from harness_core.errors import CloseError, InvalidAction, SpecError
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
        SpecError: `state` is no snapshot, a damaged one, or one of a newer schema.
    """
    try:
        state = deepcopy(state)  # two envs restored from one snapshot share nothing
        schema, stack, base, layers = (state[key] for key in ("schema", "stack", "base", "layers"))
    except RecursionError as error:
        raise SpecError("This is nested too deeply to be a snapshot.") from error
    except (KeyError, TypeError) as error:
        raise SpecError(f"This is no snapshot: {type(error).__name__}: {error}.") from error
    if schema != SCHEMA:
        raise SpecError(f"This snapshot has schema {schema!r}; this version reads {SCHEMA}.")
    spec = from_data(stack, StackSpec)
    if not isinstance(layers, list) or len(layers) != len(spec.components):
        raise SpecError("This snapshot is damaged: its layers do not match its stack.")
    with _damage(f"env {spec.env!r}"):
        env: ActionableEnv = load("env", spec.env).from_state(base)
    env.origin = StackSpec(spec.env, spec.task, (), spec.options)
    try:
        for number, component in enumerate(spec.components):
            env = component(env)
            if isinstance(env, Layer):
                with _damage(f"layer {number}, {type(component).__name__}"):
                    _load(env, layers[number])
    except BaseException:
        with suppress(CloseError):
            env.close()
        raise
    return env


def _load(layer: Layer, saved: object) -> None:
    if not isinstance(saved, dict) or not isinstance(saved.get("extras", {}), dict):
        raise SpecError(f"its state is {saved!r:.80}")
    layer.load_layer(saved)


@contextmanager
def _damage(where: str) -> Iterator[None]:
    """What a state that nobody saved makes an env or a layer raise, as one error."""
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise SpecError(f"This snapshot is damaged at {where}: {told}.") from error
    except (SpecError, InvalidAction) as error:
        raise SpecError(f"This snapshot is damaged at {where}: {error}") from error
