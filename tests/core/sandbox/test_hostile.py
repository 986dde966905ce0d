"""Every hostile contract is contained: a typed error, nothing else changed, a clean successor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.sandbox import hostile
from harness_core.errors import ContractError, SandboxTimeout, SourceRejected, WireError
from harness_core.sandbox import ContractSession, SandboxLimits, Source, check_source
from harness_core.values import Action, Blocked, EnvState

LIMITS = SandboxLimits(call_seconds=10, memory_mb=96)
IMPATIENT = SandboxLimits(call_seconds=0.6, memory_mb=96)
ACTION = Action("go to desk 1")


def state() -> EnvState:
    return EnvState("task", 1, {"inventory": []})


def run(source: Source | str, limits: SandboxLimits = LIMITS) -> Action | Blocked:
    """One call of `filter_action`, and the extras saved after it."""
    session = ContractSession(source, limits=limits)
    try:
        answer = (
            session.filter_action(ACTION, state) if "filter_action" in session.hooks else ACTION
        )
        session.save_extras()
        return answer
    finally:
        session.close()


@pytest.fixture(autouse=True)
def _next_is_clean():
    """After every attack the next session answers as if nothing had been."""
    yield
    clean = hostile.hook("env_state.extras['n'] = env_state.extras.get('n', 0) + env_state.steps")
    session = ContractSession(clean, limits=LIMITS)
    assert session.filter_action(ACTION, state) is ACTION
    assert session.save_extras() == {"n": 1}
    session.close()


@pytest.mark.parametrize("name", hostile.REJECTED)
def test_the_check_rejects(name):
    """Wall 1 rejects the source, with a line to look at and something to write instead."""
    with pytest.raises(SourceRejected, match=r"line \d+: .+\. .+\.$"):
        check_source(hostile.REJECTED[name])


@pytest.mark.parametrize("name", hostile.CONTAINED)
def test_running_code_is_contained(name):
    """What the check cannot see ends in the one typed error that fits."""
    source, error = hostile.CONTAINED[name]
    with pytest.raises(error) as raised:
        run(source, IMPATIENT if error is SandboxTimeout else LIMITS)
    assert type(raised.value) is error


@pytest.mark.parametrize("name", hostile.HARMLESS)
def test_ugly_code_is_harmless(name):
    """What breaks no rule runs, and leaves the host's values as they were."""
    run(hostile.HARMLESS[name])
    assert Action("go to desk 1") == ACTION


@pytest.mark.parametrize("name", hostile.ESCAPED)
def test_code_with_the_real_builtins_is_contained(name):
    """Walls 2 to 4 hold alone: the attack fails though wall 1 let it through."""
    text, errors = hostile.ESCAPED[name]
    source = Source(text.replace("HOST", str(os.getpid())), "C", frozenset({"filter_action"}))
    limits = IMPATIENT if SandboxTimeout in errors else LIMITS
    with pytest.raises(errors):
        assert run(source, limits).text != "ESCAPED"
    assert not Path("/tmp/harness-escaped").exists()


def test_a_failed_session_stays_failed():
    """After a failure each further call raises the same error, and close works twice."""
    session = ContractSession(hostile.hook("1 / 0"), limits=LIMITS)
    for _ in range(2):
        with pytest.raises(ContractError, match="ZeroDivisionError"):
            session.filter_action(ACTION, state)
    with pytest.raises(ContractError, match="ZeroDivisionError"):
        session.save_extras()
    session.close()
    session.close()


def test_extras_are_judged_when_saved():
    """Extras that are no JSON fail with the place of what is wrong."""
    source = hostile.hook("env_state.extras['a'] = [1, {'b': {2}}]")
    with pytest.raises(WireError, match=r"extras\['a'\]\[1\]\['b'\] is a set"):
        run(source)
