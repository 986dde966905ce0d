import pytest

from harness_core import Chain, Contract, Identity, StackSpec, Stage, make
from harness_core.testing import ConformanceError, CorridorEnv, check_component
from harness_core.testing.contracts import CountSteps, Forbid, Handover, KeepWords, Swap
from harness_core.testing.strategies import SOURCES
from support import broken
from support.components import Equal, Pair, Remember, Same, Through

SHORT = StackSpec("corridor", "length-2")


def corridor():
    return make("corridor", task="length-5", slip=0.2)


def told(component):
    with pytest.raises(ConformanceError) as caught:
        check_component(component, corridor)
    return str(caught.value)


@pytest.mark.parametrize(
    "component",
    [
        Identity(),
        Stage(["switch"]),
        KeepWords(2),
        Forbid("left"),
        Swap("left", "switch"),
        CountSteps(4),
        Remember(),
        Same(),
        Equal(),
        Through(),
        Chain(SHORT),
        Chain([SHORT, SHORT], Handover(2), [0, 2]),
        *map(Contract.from_source, SOURCES),
        Chain(SHORT, required=[0]),
    ],
    ids=lambda component: type(component).__name__,
)
def test_a_component_that_keeps_all_promises_passes(component):
    """All components of the core and of the tests, with the checks of the env they make."""
    done = check_component(component, corridor)
    assert {"frozen", "spec", "verdict", "second reset", "snapshot"} <= set(done)


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        (broken.Mutable(), "frozen: count can be assigned"),
        (broken.Undecorated(3), "frozen: Undecorated is no attrs class of its own"),
        (broken.Uncompared(), "equality: field count does not count for equality"),
        (broken.Hidden(), "equality: field count is no constructor argument"),
        (broken.ByIdentity(), "equality: the class does not compare its arguments"),
        (broken.Loose(), "spec: argument counts comes back from JSON as [1, 2], not (1, 2)"),
        (broken.Hidden(), "spec: argument count is missing in the spec"),
        (broken.Impostor(), "layer: the env is not inside what the component returned"),
        (broken.Unsigned(), "layer: the layer's component is Identity()"),
        (broken.Generous(), "verdict: after 0 actions the verdict is Verdict(success=True"),
        (broken.Leaky(), "second reset"),
        (broken.Counting(), "reading changes nothing"),
        (Pair(KeepWords(1)), "layer: the layer's component is KeepWords(count=1)"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_broken_promise_is_named(component, expected):
    """Each promise has a component that breaks it and nothing else that hides it."""
    assert expected in told(component)


def test_a_component_that_is_not_registered_has_no_spec():
    """The message shows how to register it."""

    class Local(Contract):
        pass

    assert "Local is not registered" in told(Local())


def test_an_env_built_by_hand_is_no_factory_for_component_checks():
    """Snapshots need to know how to build the env; the message says to use make."""
    with pytest.raises(ConformanceError, match="Build it with make"):
        check_component(KeepWords(1), CorridorEnv)
