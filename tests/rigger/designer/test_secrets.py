"""No prompt of a designer holds a key, an answer of the verifier, a held-out task or a score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from harness_bridges.alfworld.games import generate_games
from harness_bridges.plugin import harness_envs
from harness_bridges.toy24.puzzles import solvable_puzzles
from harness_bridges.toy24.solver import solutions
from harness_core import Chain, StackSpec, Stage
from harness_core.policies import PolicySpec
from harness_core.registry import register
from harness_core.rollout import RolloutPool
from harness_core.testing.model_server import Seen
from harness_rigger.loop import Budget, Rigger
from harness_rigger.objectives import SuccessBand
from harness_rigger.search.contracts import FirstSentences
from support.designing import candidate, contract, designer, diagnosis, ends_after, stage
from support.vault import GOLDEN, SCORED, TOKEN

KEY = "sk-planted-0123456789abcdef"
CANARY = "canary-walkthrough-4711"


@pytest.fixture(scope="module")
def pool() -> Iterator[RolloutPool]:
    register("support.ladder_plugin")
    register("support.rigger_plugin")
    with RolloutPool(2) as pool:
        yield pool


@pytest.fixture(autouse=True)
def _planted_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "SERVICE_TOKEN"):
        monkeypatch.setenv(name, KEY)


def prompts(pool: RolloutPool, stack: StackSpec, policy: PolicySpec) -> str:
    """Everything that a designer is told while it fails in every way and then succeeds."""

    def script(seen: Seen) -> str:
        if "Write a candidate" not in seen.text:
            return diagnosis("easier" if "The way there: easier" in seen.text else "harder")
        tries = [
            candidate({"kind": "chain", "task": "another"}),
            candidate(contract("import os")),
            candidate(stage("nonsense")),
            candidate(ends_after(2)),
        ]
        return tries[min(len(seen.messages) // 2 - 1, 3)]

    with designer(script) as (server, session):
        strategy = session.build("strategy", "llm", {"repairs": 9})
        budget = Budget(baseline=4, revisions=1, max_steps=12)
        band = SuccessBand(0.45, 0.55, least=4, most=4)
        Rigger(pool, policy, band, strategy, budget=budget).rig(stack)
        assert len(server.seen) >= 6, "the whole conversation took place"
        return "\n".join(json.dumps(seen.body, ensure_ascii=False) for seen in server.seen)


def toy24(root: Path) -> tuple[StackSpec, PolicySpec, list[str], Sequence[str]]:
    """The cards' solutions, the verdict's metric, and all other puzzles."""
    cards = tuple(Fraction(card) for card in (1, 2, 3, 4))
    others = [id for id in solvable_puzzles() if id != "1-2-3-4"]
    secrets = [*solutions(cards), "numbers_left", "step_signal"]
    return StackSpec("toy24", "1-2-3-4"), PolicySpec("random"), secrets, others


def alfworld(root: Path) -> tuple[StackSpec, PolicySpec, list[str], Sequence[str]]:
    """The stored walkthrough, what the verifier says, and the other games."""
    made = generate_games(root, count=3, seed=4, receptacles=9)
    for game in made:
        content = json.loads(game.path.read_text())
        content["walkthrough"] = [CANARY]
        game.path.write_text(json.dumps(content))
    stack = StackSpec("alfworld", made[0].id, options={"games": str(root)})
    others = [game.id for game in made[1:]]
    return stack, PolicySpec("household"), [CANARY, '\\"won\\"', str(root)], others


PLANTED = {"toy24": toy24, "alfworld": alfworld}


@pytest.mark.parametrize("bridge", [entry.id for entry in harness_envs()])
def test_no_prompt_holds_a_secret(bridge: str, pool: RolloutPool, tmp_path: Path) -> None:
    """For every bridge, secrets are planted where it has any, and none reaches a request."""
    assert bridge in PLANTED, "plant secrets in the new bridge, and list it here"
    stack, policy, secrets, held_out = PLANTED[bridge](tmp_path)
    told = prompts(pool, stack, policy)
    assert [secret for secret in (KEY, *secrets) if secret in told] == []
    assert [task for task in held_out if task in told] == []


@pytest.mark.parametrize(
    "around",
    [(), (FirstSentences(9),), (Chain(StackSpec("ladder", "rung-1")), Stage(["up"]))],
    ids=["alone", "in a layer", "in a chain"],
)
def test_private_state_is_told_to_nobody(
    around: tuple[FirstSentences | Chain | Stage, ...], pool: RolloutPool
) -> None:
    """What an env names in `private_state`, its options and its verdict's metrics are left out,
    however many layers are around it; the rest of the state is told."""
    stack = StackSpec("vault", "rung-3", around, {"token": TOKEN})
    told = prompts(pool, stack, PolicySpec("scripted", {"actions": ["up"] * 12}))
    assert "height" in told
    assert [secret for secret in (GOLDEN, SCORED, TOKEN, KEY, "golden") if secret in told] == []
    assert [rung for rung in ("rung-4", "rung-5", "rung-6") if rung in told] == []


def test_a_written_contract_cannot_read_private_state(pool: RolloutPool) -> None:
    """A contract that would tell a secret in an error has none to tell; its error is told."""
    tells = """
class Tells(Contract):
    def filter_action(self, action, env_state):
        raise ValueError(f"the state is {env_state.data}")
"""
    answers = [diagnosis(), candidate(contract(tells))]
    with designer(answers) as (_, session):
        strategy = session.build("strategy", "llm", {"repairs": 0})
        stack = StackSpec("vault", "rung-3")
        up = PolicySpec("scripted", {"actions": ["up"] * 12})
        rigged = Rigger(pool, up, SuccessBand(), strategy, budget=Budget()).rig(stack)
    (trial,) = rigged.case.trials
    assert "the state is {'height': 0}" in trial.decision.message
