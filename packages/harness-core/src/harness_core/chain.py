"""`Chain`: joins envs into one episode with one step budget.

    E' = g(E, E_ext),    R' = R_A and R_B

Sequential by default. A route is a contract whose `modify_transition` calls
`env_state.switch_to(n)`: it branches on a verdict, switches midway or interleaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, field, fields, frozen
from attrs.converters import optional

from harness_core.component import Component
from harness_core.contract import Contract, SourceContract, StateView
from harness_core.contract_layer import Hooks, open_hooks
from harness_core.env import ActionableEnv
from harness_core.errors import ChainError, InvalidAction, SpecError
from harness_core.layer import Layer, close_all
from harness_core.segment import Segment
from harness_core.serial import from_data, to_data
from harness_core.spec import StackSpec
from harness_core.values import (
    Action,
    EnvState,
    JsonDict,
    Observation,
    ResetResult,
    StepResult,
    Tool,
    Transition,
)

TAIL = 1500
"""Characters of the last observation that a hand-over repeats."""

MAX_DEPTH = 32
"""Chains inside the extensions of chains."""


def _specs(value: StackSpec | Iterable[StackSpec]) -> tuple[StackSpec, ...]:
    if isinstance(value, StackSpec):
        return (value,)
    if not isinstance(value, list | tuple):
        raise ChainError(f"An extension is a StackSpec, or a list of them, not {value!r:.80}.")
    return tuple(value)


def _tasks(spec: StackSpec) -> Iterator[str]:
    """Ids of the tasks of a spec, those of its own chains included."""
    if spec.task:
        yield spec.task
    for component in spec.components:
        for extension in component.extension if isinstance(component, Chain) else ():
            yield from _tasks(extension)


def _depth(value: object) -> int:
    """How many chains deep a component, a spec or their fields are."""
    if isinstance(value, tuple):
        return max(map(_depth, value), default=0)
    if not isinstance(value, Component | StackSpec):
        return 0
    parts = (getattr(value, each.name) for each in fields(type(value)))
    return isinstance(value, Chain) + max(map(_depth, parts), default=0)


@frozen
class Chain(Component):
    """The env, then `extension`; solved if every required segment is.

    Segment 0 is the wrapped env, which is always required; the extensions are 1, 2, ... A segment
    that never ended counts as failed if it is required.

    Args:
        extension: what follows, one spec or several. Built with the chain, reset at hand-over.
        route: a contract whose `modify_transition` may call `env_state.switch_to(n)`. It reads
            `env_state.segments`, a list of `{"ended": bool, "success": bool | None}`. Where it
            does not switch at the end of a segment, the chain ends. `None`: one after another.
        required: the segments that must succeed, 0 among them; `None`: all.
    """

    extension: tuple[StackSpec, ...] = field(converter=_specs)
    route: Component | None = None
    required: tuple[int, ...] | None = field(default=None, converter=optional(tuple[int, ...]))

    def __attrs_post_init__(self) -> None:
        if not self.extension:
            raise ChainError("A Chain needs at least one extension.")
        for extension in self.extension:
            if not isinstance(extension, StackSpec):
                raise ChainError(f"An extension is a StackSpec, not {extension!r}.")
        if self.route is not None and not isinstance(self.route, Contract | SourceContract):
            raise ChainError(f"A route is a Contract, not {type(self.route).__name__}.")
        count = len(self.extension) + 1
        for index in self.required or ():
            if type(index) is not int or index not in range(count):
                raise ChainError(f"Required segment {index!r} is none of 0 to {count - 1}.")
        if self.required is not None and 0 not in self.required:
            raise ChainError(
                f"required={self.required} leaves out segment 0, the wrapped env, whose own "
                "verifier always counts. Name it, and those of the extensions that must succeed "
                f"as well: required={(0, *self.required)}."
            )
        if _depth(self) > MAX_DEPTH:
            raise ChainError(f"Chains may be nested {MAX_DEPTH} deep. Chain the parts in a row.")

    def __call__(self, env: ActionableEnv) -> Layer:
        return ChainLayer(env, self)


@frozen
class ChainState:
    """What a chain saves of its episode. Verdicts are not among it: verifiers are asked again."""

    active: int
    seed: int | None
    extras: JsonDict
    ended: tuple[bool, ...]
    extensions: tuple[JsonDict | None, ...]

    def check(self, count: int) -> None:
        """Whether it fits a chain of `count` segments.

        Raises:
            SpecError: what does not fit.
        """
        if len(self.ended) != count or len(self.extensions) != count - 1:
            raise SpecError(f"It is not the state of {count} segments.")
        started = (True, *(saved is not None for saved in self.extensions))
        if self.active not in range(count) or not started[self.active]:
            raise SpecError(f"Its active segment {self.active} is none that has started.")
        if any(ended and not begun for ended, begun in zip(self.ended, started, strict=True)):
            raise SpecError("A segment has ended that never started.")


class RouteView(StateView):
    """The `env_state` of a route: a `StateView` that knows the segments."""

    __slots__ = ("switch",)

    def __init__(self, read: Callable[[], EnvState]) -> None:
        super().__init__(read)
        self.switch: int | None = None

    @property
    def segments(self) -> list[JsonDict]:
        """Each segment's `{"ended": bool, "success": bool | None}`, in order."""
        segments: list[JsonDict] = self.data["segments"]
        return segments

    def switch_to(self, segment: int) -> None:
        """The next action goes to `segment`."""
        self.switch = segment


class ChainLayer(Layer):
    """Runs the segments of one chain."""

    component: Chain

    def __init__(self, inner: ActionableEnv, component: Chain) -> None:
        super().__init__(inner, component)
        extensions = [spec.build() for spec in component.extension]
        self._following = [id for spec in component.extension for id in _tasks(spec)]
        self._segments = [Segment(env) for env in (inner, *extensions)]
        self._active = 0
        self._answered = inner
        self._seed: int | None = None
        self._view = RouteView(self.get_env_state)
        self._hooks: Hooks | None = None
        envs = [segment.env for segment in self._segments]
        self.snapshots = "live" if all(env.snapshots == "live" for env in envs) else "episode"
        self.verifier_cost = (
            "free" if all(env.verifier_cost == "free" for env in envs) else "expensive"
        )
        self.reversible_endings = False
        self.private_state = frozenset().union(*(env.private_state for env in envs))

    def active(self) -> ActionableEnv:
        return self._segments[self._active].env

    def judged(self) -> Sequence[Segment]:
        required = self.component.required
        if required is None:
            return self._segments
        return [self._segments[index] for index in required]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> ResetResult:
        """Resets segment 0; the others are reset when they are first switched to.

        `task.data["chained"]` lists the ids of the tasks that follow.
        """
        start = self.inner.reset(seed=seed, options=options)
        self._segments = [Segment(s.env, started=i == 0) for i, s in enumerate(self._segments)]
        self._active, self._seed = 0, seed
        self._start_route({})
        known = start.task.data.get("chained", [])
        data = {**start.task.data, "chained": [*known, *self._following]}
        return start.replace(task=evolve(start.task, data=data))

    def step(self, action: Action) -> StepResult:
        segment = self._segments[self._active]
        if segment.ended:
            raise InvalidAction("The episode is over: call reset().")
        self._answered = segment.env
        response = segment.env.step(action)
        if response.ended:
            segment.end()
        answer, target = self._route(action, response, segment.ended)
        return answer if target is None else self._switch(target, answer.observation)

    def _route(
        self, action: Action, response: StepResult, ended: bool
    ) -> tuple[StepResult, int | None]:
        if self._hooks is None:
            following = self._active + 1
            return response, following if ended and following < len(self._segments) else None
        self._view.switch = None
        self._view.forget()
        answer = self._hooks.after(action, response, self._view)
        session = self._hooks.session
        target = session.switch if session else self._view.switch
        if target is None or (target == self._active and not ended):
            ending = {"terminated": response.terminated, "truncated": response.truncated}
            return answer.replace(**ending), None
        there = type(target) is int and target in range(len(self._segments))
        if not there or self._segments[target].ended:
            raise ChainError(
                f"The route switched to segment {target!r}, which does not exist or has ended. "
                f"Open segments: {[i for i, s in enumerate(self._segments) if not s.ended]}."
            )
        return answer, target

    def _switch(self, target: int, last: Observation) -> StepResult:
        segment = self._segments[target]
        goal = ""
        if segment.started:
            shown = segment.env.observe()
        else:
            start = segment.env.reset(seed=self._seed)
            segment.started, shown = True, start.observation
            if start.task.goal not in shown.text:
                goal = f"{start.task.goal}\n\n"
        self._active = target
        text = (
            f"[Part {target + 1} of {len(self._segments)}. "
            f"The previous part's last words:]\n{last.text[-TAIL:]}\n\n{goal}{shown.text}"
        )
        return StepResult(shown.replace(text=text), info={"segment": target})

    def last_transition(self) -> Transition | None:
        """That of the segment that answered the last step, which may no longer be the active."""
        return self._answered.last_transition()

    def observe(self) -> Observation:
        return self.active().observe()

    def get_env_state(self) -> EnvState:
        """The active segment's state; `data` has `active` and `segments` besides."""
        state = self.active().get_env_state()
        segments = [segment.summary() for segment in self._segments]
        steps = sum(s.env.get_env_state().steps for s in self._segments if s.started)
        data = {**state.data, "active": self._active, "segments": segments}
        return EnvState(state.task, steps, data)

    def tools(self) -> tuple[Tool, ...]:
        """The union of all segments' tools; the active segment's meaning of a name wins."""
        envs = [segment.env for segment in self._segments]
        union = {tool.name: tool for env in (*envs, self.active()) for tool in env.tools()}
        return tuple(union.values())

    def notify_replay_complete(self) -> None:
        for segment in self._segments:
            if segment.started:
                segment.env.notify_replay_complete()

    def _start_route(self, extras: JsonDict) -> None:
        self.close_route()
        self._view.extras = extras
        route = self.component.route
        if isinstance(route, Contract | SourceContract):
            self._hooks = open_hooks(route, self._view, private=self.private_state, route=True)

    def close_route(self) -> None:
        """Frees what runs the route."""
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.close()

    def close_layer(self) -> None:
        close_all([self.close_route, *(segment.env.close for segment in self._segments[1:])])

    def save_layer(self) -> JsonDict:
        from harness_core.snapshots import snapshot

        extras = self._hooks.save() if self._hooks else {}
        ended = tuple(segment.ended for segment in self._segments)
        saved = tuple(snapshot(s.env) if s.started else None for s in self._segments[1:])
        data: JsonDict = to_data(ChainState(self._active, self._seed, extras, ended, saved))
        return data

    def load_layer(self, state: JsonDict) -> None:
        from harness_core.snapshots import restore

        saved = from_data(state, ChainState)
        saved.check(len(self._segments))
        self._active, self._seed = saved.active, saved.seed
        self._segments[0].started = True
        for segment, extension in zip(self._segments[1:], saved.extensions, strict=True):
            if extension is not None:
                unused, segment.env, segment.started = segment.env, restore(extension), True
                unused.close()
        for segment, ended in zip(self._segments, saved.ended, strict=True):
            segment.ended = ended
        self._start_route(saved.extras)
