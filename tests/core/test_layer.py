import pytest

from harness_core import Action, Identity, Layer, Observation, Verdict
from harness_core.errors import CloseError
from harness_core.layer import base_env
from harness_core.testing import CorridorEnv
from harness_core.testing.contracts import KeepWords, Swap
from harness_core.testing.walks import trace
from support.components import Through

WALK = [Action(text) for text in ("right", "switch", "right", "left", "right", "right")]


class Closing(Layer):
    """Writes its name down when closed, and fails if told to."""

    def __init__(self, inner, name, log, fails=False):
        super().__init__(inner, Identity())
        self.name, self.log, self.fails = name, log, fails

    def close_layer(self):
        self.log.append(self.name)
        if self.fails:
            raise OSError(f"{self.name} is stuck")


def test_overriding_evaluate_is_refused_with_the_way_out():
    """A subclass that decides success itself is no class at all."""
    with pytest.raises(TypeError, match=r"Generous overrides evaluate\(\).*write an ActionableEnv"):

        class Generous(Layer):
            def evaluate(self):
                return Verdict(True)


def test_overriding_step_signal_is_refused():
    """The dense signal is the base env's too."""
    with pytest.raises(TypeError, match=r"step_signal\(\)"):

        class Loud(Layer):
            def step_signal(self):
                return 1.0


def test_overriding_evaluate_by_a_mixin_is_refused():
    """An override is refused wherever in the bases it comes from, and however deep."""

    class Mixin:
        def evaluate(self):
            return Verdict(True)

    class Fine(Layer):
        pass

    with pytest.raises(TypeError, match="evaluate"):

        class Mixed(Mixin, Layer):
            pass

    with pytest.raises(TypeError, match="evaluate"):

        class Deep(Mixin, Fine):
            pass


def test_overriding_evaluate_as_an_attribute_is_refused():
    """A class attribute that is no function is an override as well."""
    with pytest.raises(TypeError, match="evaluate"):

        class Constant(Layer):
            evaluate = property(lambda self: lambda: Verdict(True))


def test_a_layer_that_changes_nothing_is_transparent():
    """Every reading and every answer through three layers equals the bare env's."""
    bare = CorridorEnv("length-4", slip=0.3)
    wrapped = Through()(Through()(Through()(CorridorEnv("length-4", slip=0.3))))
    assert trace(wrapped, WALK, 3) == trace(bare, WALK, 3)
    assert wrapped.tools() == bare.tools()
    assert wrapped.state_schema() == bare.state_schema()
    assert wrapped.list_tasks() == bare.list_tasks()
    assert wrapped.last_transition() is None
    for name in ("snapshots", "verifier_cost", "reversible_endings"):
        assert getattr(wrapped, name) == getattr(bare, name)


def test_a_layer_that_leaves_steps_alone_adds_no_call():
    """Its `step` is the env's own bound method, so that depth costs nothing."""
    env = CorridorEnv()
    assert Through()(Through()(env)).step == env.step


def test_notify_replay_complete_reaches_the_env():
    """A replay by an outer layer is free in the env that counts the steps."""
    env = CorridorEnv("length-4")
    wrapped = Through()(env)
    wrapped.reset()
    wrapped.step(Action("switch"))
    wrapped.notify_replay_complete()
    assert env.get_env_state().steps == 0


def test_closing_goes_from_the_outside_in_and_past_failures():
    """Every part is closed, outermost first, and one error names all that failed."""
    log = []
    stack = Closing(Closing(Closing(CorridorEnv(), "a", log), "b", log, True), "c", log, True)
    with pytest.raises(CloseError, match=r"c is stuck.*b is stuck"):
        stack.close()
    assert log == ["c", "b", "a"]


def test_a_layer_closes_as_a_context_manager():
    """`with` closes the whole stack, also when its body raises."""
    log = []
    with pytest.raises(ZeroDivisionError), Closing(CorridorEnv(), "a", log):
        _ = 1 / 0
    assert log == ["a"]


def test_last_transition_tells_the_base_envs_side():
    """Through several contracts: what was executed and said, before anything rewrote it."""
    stack = KeepWords(1)(Swap("left", "switch")(KeepWords(3)(CorridorEnv("length-4"))))
    stack.reset()
    shown = stack.step(Action("left")).observation
    seen = stack.last_transition()
    assert shown.text == "Cell"
    assert seen.action == Action("switch")
    assert seen.observation.text.endswith("The lamp is on.")


def test_base_env_is_under_all_layers():
    """`base_env` finds the env, however deep; a bare env is its own."""
    env = CorridorEnv()
    assert base_env(Through()(KeepWords(1)(env))) is env
    assert base_env(env) is env


def test_a_subclass_may_change_what_is_seen():
    """Observations are the layer's to rewrite; the verdict stays the env's."""

    class Silent(Layer):
        def observe(self):
            return Observation("")

    env = CorridorEnv("length-2")
    layer = Silent(env, Identity())
    layer.reset()
    assert layer.observe().text == ""
    assert layer.evaluate() == env.evaluate()


@pytest.mark.parametrize("name", ["judged", "active", "save_state"])
def test_overriding_what_decides_is_refused(name):
    """A subclass cannot name another judge, another signal or another saved state."""
    with pytest.raises(TypeError, match=rf"{name}\(\), which is final in Layer"):
        type("Bribed", (Layer,), {name: lambda self: ()})
