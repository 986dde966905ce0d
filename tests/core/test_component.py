import attrs
import pytest

from harness_core import Component, Composition, Contract, Identity, Stage, compose
from harness_core.errors import SpecError
from harness_core.testing import CorridorEnv
from harness_core.testing.contracts import Forbid, KeepWords
from support.components import Through


def test_composition_reads_like_the_mathematics():
    """`outer @ inner` applies `inner` first, as `outer(inner(env))` and `compose` do."""
    inner, outer, env = Stage(["switch"]), KeepWords(2), CorridorEnv()
    for stack in ((outer @ inner)(env), outer(inner(env)), compose(env, inner, outer)):
        assert stack.component == outer
        assert stack.inner.component == inner
        assert stack.inner.inner is env


def test_identity_returns_the_env_itself():
    """No layer is left behind by the unit of composition."""
    env = CorridorEnv()
    assert Identity()(env) is env
    assert compose(env) is env


def test_compositions_flatten_and_drop_identities():
    """Nested compositions are one list; one component alone stays itself; none is Identity."""
    a, b, c = Through(), KeepWords(1), Forbid("left")
    assert (a @ b) @ c == a @ (b @ c) == Composition((c, b, a))
    assert a @ Identity() == Identity() @ a == a
    assert Identity() @ Identity() == Identity()


def test_components_compare_by_content_and_are_frozen():
    """Equal arguments make equal components, and no argument can be changed."""
    assert Stage(["left"]) == Stage(({"text": "left"},)) != Stage(["right"])
    assert KeepWords(1) != KeepWords(2)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        KeepWords(1).count = 2


def test_one_component_wraps_many_envs():
    """A component keeps nothing of the envs that it made layers for."""
    forbid = Forbid("left")
    one, other = forbid(CorridorEnv("length-4")), forbid(CorridorEnv("length-6"))
    assert one.reset().task.id == "length-4"
    assert other.reset().task.id == "length-6"


def test_component_itself_is_abstract():
    """Whoever subclasses Component says what it makes of an env."""
    with pytest.raises(TypeError, match="__call__"):
        Component()
    assert isinstance(Contract(), Component)


@pytest.mark.parametrize("junk", [3, None, "stage", [], CorridorEnv()])
def test_composing_with_what_is_no_component_is_refused(junk):
    """`@` is not defined for it on either side, and `compose` says what was given."""
    with pytest.raises(TypeError, match="@"):
        _ = KeepWords(1) @ junk
    with pytest.raises(TypeError, match="@"):
        _ = junk @ KeepWords(1)
    with pytest.raises(SpecError, match="is no component"):
        compose(CorridorEnv(), junk)
    if not isinstance(junk, CorridorEnv):
        with pytest.raises(SpecError, match="is no env"):
            compose(junk, KeepWords(1))
