"""The session: hooks in another process behave as they would in this one."""

from __future__ import annotations

import pytest

from harness_core.errors import ContractError, EnvError, HarnessError, WireError
from harness_core.sandbox import ContractSession, SandboxLimits
from harness_core.values import Action, Blocked, EnvState, Observation, StepResult

ACTION = Action("go to desk 1", "", {})
SEEN = Observation("A desk. A lamp.", {"admissible": ["look", "go to desk 1"]}, ("data:,x",))
RESPONSE = StepResult(SEEN, info={"n": 1.5})


class World:
    """A state that counts how often it is built."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self) -> EnvState:
        self.built += 1
        return EnvState("task-7", self.built, {"where": "desk 1"})


@pytest.fixture
def world():
    return World()


@pytest.fixture
def open_session():
    """Opens sessions and closes them after the test."""
    sessions = []

    def open_one(body, **options):
        text = "\n".join(f"    {line}" for line in body.strip().splitlines())
        sessions.append(ContractSession(f"class C(Contract):\n{text}\n", **options))
        return sessions[-1]

    yield open_one
    for session in sessions:
        session.close()


IDENTITY = """
def filter_action(self, action, env_state): return action
def modify_transition(self, action, response, env_state): return response
def filter_observation(self, observation, env_state): return observation
"""


def test_identity_returns_the_same_objects(open_session, world):
    """Identity hooks give back the very objects that went in, and build no state."""
    session = open_session(IDENTITY)
    assert session.filter_action(ACTION, world) is ACTION
    assert session.modify_transition(ACTION, RESPONSE, world) is RESPONSE
    assert session.after(ACTION, RESPONSE, world) is RESPONSE
    assert session.filter_observation(SEEN, world) is SEEN
    assert world.built == 0


def test_copies_that_change_nothing_are_identity(open_session, world):
    """A hook that rebuilds equal values is the identity too, down to the object."""
    session = open_session(
        """
def filter_action(self, action, env_state): return Action(action.text, "", {})
def modify_transition(self, action, response, env_state):
    seen = response.observation
    same = Observation(seen.text, dict(seen.data), list(seen.images))
    return StepResult(same, response.terminated, response.truncated, dict(response.info))
"""
    )
    assert session.filter_action(ACTION, world) is ACTION
    assert session.after(ACTION, RESPONSE, world) is RESPONSE


def test_values_are_keys(open_session, world):
    """Actions and observations are keys of a dict in a hook, equal ones the same key."""
    session = open_session(
        """
def filter_action(self, action, env_state):
    return Action(str(len({action, action.replace(), Action(action.text), Action("x")})))
def filter_observation(self, observation, env_state):
    return Observation(str(len({observation, observation.replace(text="x")})))
"""
    )
    assert session.filter_action(ACTION, world).text == "2"
    assert session.filter_observation(SEEN, world).text == "2"


def test_changes_in_place_are_noticed(open_session, world):
    """A list changed in place is part of the answer; the host's own list is not touched."""
    session = open_session(
        """
def filter_action(self, action, env_state):
    action.arguments["x"] = [1, None, True, "ü"]
    return action
def modify_transition(self, action, response, env_state):
    response.observation.data["admissible"].pop()
    copy = response.replace(terminated=True)
    response.info["n"] = 2
    return copy
"""
    )
    changed = session.filter_action(ACTION, world)
    assert changed == Action("go to desk 1", "", {"x": [1, None, True, "ü"]})
    answer = session.after(ACTION, RESPONSE, world)
    assert answer == StepResult(
        SEEN.replace(data={"admissible": ["look"]}), terminated=True, info={"n": 2}
    )
    assert ACTION.arguments == {}
    assert SEEN.data["admissible"] == ["look", "go to desk 1"]


def test_what_the_source_does_not_name_is_sent_when_it_is_read(open_session, world):
    """Fields that only a comparison or a pattern reads are whole; unread ones never cross."""
    session = open_session(
        """
def modify_transition(self, action, response, env_state):
    match response.observation:
        case Observation(text, seen):
            return response.replace(observation=Observation(text + str(seen)))
""",
        limits=SandboxLimits(bytes_in=2000),
    )
    assert session.after(ACTION, RESPONSE, world).observation.text == SEEN.text + str(SEEN.data)
    session = open_session(IDENTITY, limits=SandboxLimits(bytes_in=2000))
    large = Observation("seen", {"x": "y" * 5000})
    assert session.filter_observation(large, world) is large


def test_only_changed_fields_are_new(open_session, world):
    """A hook that rewrites the text leaves the data object of the host in place."""
    session = open_session(
        "def filter_observation(self, o, s): return o.replace(text=o.text.split('. ')[0])"
    )
    answer = session.after(ACTION, RESPONSE, world)
    assert answer.observation == SEEN.replace(text="A desk")
    assert answer.observation.data is SEEN.data
    assert answer.info is RESPONSE.info


def test_both_hooks_in_one_call(open_session, world):
    """`after` shows to f_O what f_T made; `modify_transition` runs f_T alone."""
    session = open_session(
        """
def modify_transition(self, action, response, env_state):
    return response.replace(observation=Observation(action.text), truncated=True)
def filter_observation(self, observation, env_state):
    return observation.replace(text=observation.text.upper())
"""
    )
    assert session.hooks == {"modify_transition", "filter_observation"}
    shown = session.after(ACTION, RESPONSE, world)
    assert shown == StepResult(Observation("GO TO DESK 1"), truncated=True, info={"n": 1.5})
    assert session.modify_transition(ACTION, RESPONSE, world).observation.text == "go to desk 1"


def test_blocked(open_session, world):
    """A block comes back with its reason."""
    session = open_session("def filter_action(self, a, s): return Blocked('no ' + a.text)")
    assert session.filter_action(ACTION, world) == Blocked("no go to desk 1")


def test_state_is_built_once_a_call(open_session, world):
    """However often the hooks of one call read the state, it is built once, and fresh next time."""
    session = open_session(
        """
def filter_action(self, action, env_state):
    return action.replace(text=f"{env_state.task} {env_state.steps} {env_state.data['where']}")
def modify_transition(self, action, response, env_state):
    env_state.data["where"] = "nowhere"
    return response.replace(info={"steps": env_state.steps})
def filter_observation(self, observation, env_state):
    return observation.replace(text=env_state.data["where"])
"""
    )
    assert session.filter_action(ACTION, world) == Action("task-7 1 desk 1")
    answer = session.after(ACTION, RESPONSE, world)
    assert (answer.info, answer.observation.text) == ({"steps": 2}, "desk 1")
    assert world.built == 2


def test_a_failing_state_is_the_envs_failure(open_session):
    """What the state raises comes through as it is, and the session is over."""

    def broken() -> EnvState:
        raise EnvError("the engine died")

    session = open_session("def filter_action(self, a, s): return a.replace(text=s.task)")
    for _ in range(2):
        with pytest.raises(EnvError, match="the engine died"):
            session.filter_action(ACTION, broken)


def test_extras_live_for_the_session(open_session, world):
    """Extras are kept from call to call, can be saved, and can be loaded into another session."""
    body = """
def filter_action(self, action, env_state):
    env_state.extras["n"] = env_state.extras.get("n", 0) + 1
    return action.replace(text=str(env_state.extras["n"]))
"""
    first, second = open_session(body), open_session(body)
    assert [first.filter_action(ACTION, world).text for _ in range(2)] == ["1", "2"]
    saved = first.save_extras()
    assert saved == {"n": 2}
    second.load_extras(saved)
    assert second.filter_action(ACTION, world).text == "3"
    assert first.save_extras() == {"n": 2}


def test_route(open_session):
    """A route reads the segments and switches; without a switch, `switch` is None again."""

    def state() -> EnvState:
        segments = [{"ended": True, "success": False}, {"ended": False, "success": None}]
        return EnvState(data={"segments": segments})

    body = """
def modify_transition(self, action, response, env_state):
    if action.text == "go to desk 1" and env_state.segments[0]["ended"]:
        env_state.switch_to(1)
    return response
"""
    session = open_session(body, route=True)
    assert session.switch is None
    assert session.after(ACTION, RESPONSE, state) == RESPONSE
    assert session.switch == 1
    session.after(Action("look"), RESPONSE, state)
    assert session.switch is None
    plain = open_session(body)
    with pytest.raises(ContractError, match=r"switch_to|segments"):
        plain.after(ACTION, RESPONSE, state)


def test_helpers(open_session, world):
    """Lent helpers are there by name, and build values of the same classes."""
    helpers = (
        "from __future__ import annotations\n"
        "import shlex\n"
        "from harness_core import Observation, StepResult\n"
        "def words(action) -> list[str]:\n    return shlex.split(action.text)\n"
        "def failed(response: StepResult, message: str) -> StepResult:\n"
        "    return response.replace(observation=Observation(message), terminated=False)\n"
    )
    session = open_session(
        "def modify_transition(self, a, r, s): return failed(r, words(a)[-1])", helpers=helpers
    )
    assert session.after(ACTION, RESPONSE, world).observation == Observation("1")


def test_errors_name_hook_and_line(open_session, world):
    """A hook's exception comes back with the hook, the type, the message and the line."""
    session = open_session(
        "def filter_observation(self, observation, env_state):\n    return {}['lamp']"
    )
    expected = r"filter_observation raised KeyError: 'lamp' \(line 3 of the source\)"
    with pytest.raises(ContractError, match=expected):
        session.after(ACTION, RESPONSE, world)


def test_unknown_fields_are_named(open_session, world):
    """A field that does not exist is answered with those that do."""
    session = open_session("def filter_action(self, a, s): return a.replace(txt='x')")
    with pytest.raises(ContractError, match="Action has no field 'txt'"):
        session.filter_action(ACTION, world)
    session = open_session("def filter_action(self, a, s): return a.txt")
    with pytest.raises(ContractError, match="no 'txt'; it has text, tool, arguments"):
        session.filter_action(ACTION, world)


def test_sets_have_one_order_everywhere(open_session, world):
    """Two workers walk a set of texts in the same order, so that episodes repeat."""
    body = "def filter_action(self, a, s): return Action(' '.join({str(i) for i in range(50)}))"
    first, second = open_session(body), open_session(body)
    assert first.filter_action(ACTION, world) == second.filter_action(ACTION, world)


def test_what_is_no_json_never_crosses(open_session, world):
    """An observation that is no JSON is the env's error, and the contract goes on."""
    session = open_session(IDENTITY + "# names data")
    with pytest.raises(EnvError, match="no JSON"):
        session.filter_observation(Observation(data={"x": float("nan")}), world)
    assert session.filter_action(ACTION, world) is ACTION


def test_an_input_over_the_cap(open_session, world):
    """A message over the cap is refused before it is sent."""
    session = open_session(IDENTITY, limits=SandboxLimits(bytes_in=2000))
    with pytest.raises(WireError, match=r"over the cap of 2000.*bytes_in"):
        session.filter_observation(Observation("x" * 3000), world)


def test_large_values_cross_whole(open_session, world):
    """A megabyte each way arrives as it was."""
    session = open_session(
        "def filter_observation(self, o, s): return o.replace(text=o.text[::-1])",
        limits=SandboxLimits(bytes_out=3 << 20),
    )
    text = "ab" * (1 << 19)
    assert session.filter_observation(Observation(text), world).text == text[::-1]


def test_a_closed_session_says_so(open_session, world):
    """After close, a call is the caller's error."""
    session = open_session(IDENTITY)
    session.close()
    session.close()
    with pytest.raises(HarnessError, match="closed"):
        session.filter_action(ACTION, world)
