"""`with-skills`: a policy that reads skills of a bank before it begins."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

from harness_core.episode import Episode
from harness_core.errors import SpecError
from harness_core.policies import Decision, Policy, PolicySpec
from harness_core.serial import from_data, to_data
from harness_core.values import JsonDict, Observation, Task, Tool
from harness_skills.bank import BankVersion
from harness_skills.bank_file import load_bank
from harness_skills.embedders import Embedder, ModelEmbedder
from harness_skills.retrieval import Found, Retrieval, Retriever

if TYPE_CHECKING:
    from harness_core.models import ModelSession


class WithSkills:
    """Any policy, with the skills that go with its task in `task.data["guidance"]`.

    Skills that were learned from the task itself are left out. What was given is kept in
    `Decision.info["skills"]` of the first step: `{"bank", "ids", "left_out"}`.

    Args:
        policy: `{"id": ..., "options": {...}}` of the policy that acts; or its id alone.
        bank: file of the bank.
        digest: of the version that is read, 64 hexadecimal digits: a unit's key holds it, so
            episodes with other skills are other units.
        version: number of the version; `None` for the newest.
        retrieval: fields of `Retrieval`.
        models: for the policy, and for embeddings.

    Raises:
        SpecError: the version that is in the file has another digest.
        StoreError: the file cannot be read as a whole.
    """

    needs_model = True

    def __init__(
        self,
        policy: JsonDict | str,
        bank: str,
        digest: str,
        version: int | None = None,
        retrieval: JsonDict | None = None,
        models: ModelSession | None = None,
    ) -> None:
        spec = _inner(policy)
        self._policy: Policy = spec.build() if models is None else models.build_policy(spec)
        settings = from_data(retrieval or {}, Retrieval)
        self._digest = digest
        self._retriever = _retriever(Path(bank), version, digest, settings, models)
        self._found: Found | None = None

    @classmethod
    def resolved_options(cls, options: JsonDict, models: ModelSession) -> JsonDict:
        """`options` with the model of the inner policy filled in; see `ModelSession.resolved`."""
        if "policy" not in options:
            return options  # the constructor says what is missing
        return {**options, "policy": to_data(models.resolved(_inner(options["policy"])))}

    def reset(self, task: Task, tools: Sequence[Tool], seed: int) -> None:
        """Finds what helps with the task, and tells the policy."""
        own = (task.id, *task.data.get("chained", ()))
        self._found = self._retriever.find(task.goal, own)
        given = [str(task.data.get("guidance", "")), self._found.text]
        guidance = "\n\n".join(text for text in given if text)
        if guidance:
            task = evolve(task, data={**task.data, "guidance": guidance})
        self._policy.reset(task, tools, seed)

    def act(self, observation: Observation) -> Decision | None:
        """The policy's decision."""
        decision = self._policy.act(observation)
        found, self._found = self._found, None
        if decision is None or found is None:
            return decision
        given = {
            "bank": self._digest,
            "ids": [skill.id for skill in found.skills],
            "left_out": list(found.left_out),
        }
        return evolve(decision, info={**decision.info, "skills": given})


def _inner(policy: object) -> PolicySpec:
    data = {"id": policy} if isinstance(policy, str) else policy
    if not isinstance(data, dict) or "id" not in data:
        raise SpecError(
            f'The inner policy is an id, or {{"id": ..., "options": ...}}: {data!r:.80}.'
        )
    return from_data({"options": {}, **data}, PolicySpec)


def skilled(
    policy: PolicySpec,
    bank: Path,
    version: int | None = None,
    retrieval: Retrieval | None = None,
) -> PolicySpec:
    """`policy` with the skills that are in the file of a bank now.

    Raises:
        StoreError: the file cannot be read as a whole.
        SpecError: there is no such version.
    """
    options: JsonDict = {
        "policy": to_data(policy),
        "bank": str(bank),
        "digest": load_bank(bank).freeze(version).digest,
    }
    if version is not None:
        options["version"] = version
    if retrieval is not None:
        options["retrieval"] = to_data(retrieval)
    return PolicySpec("with-skills", options)


def given_to(episode: Episode) -> tuple[str, ...]:
    """Ids of the skills that an episode's policy was given, for `Bank.credit`."""
    for step in episode.steps[:1]:
        return tuple(step.info.get("skills", {}).get("ids", ()))
    return ()


_lock = threading.Lock()
_without_models: dict[Any, Retriever] = {}


def _retriever(
    path: Path, version: int | None, digest: str, settings: Retrieval, models: ModelSession | None
) -> Retriever:
    """The index of a bank, made once in a process: every episode has a policy of its own."""
    key = (path, version, digest, settings)
    embedding = settings.embedder == "model" and settings.by != "lexical"
    if embedding and models is None:
        raise SpecError("Retrieval by a model's embeddings needs a ModelSession, or MODEL.")
    with _lock:
        known = _without_models
        if embedding and models is not None:
            known = models.kept
        if key not in known:
            embedder: Embedder | None = None
            if embedding and models is not None:
                embedder = ModelEmbedder(models)
            known[key] = Retriever(_checked(path, version, digest).skills, settings, embedder)
        return known[key]


def _checked(path: Path, version: int | None, digest: str) -> BankVersion:
    found = load_bank(path).freeze(version)
    if found.digest != digest:
        raise SpecError(
            f"{path} holds skills with the digest {found.digest}, not {digest}. Evaluate the bank "
            "that is meant: `harness skills log` lists the digests of all versions."
        )
    return found
