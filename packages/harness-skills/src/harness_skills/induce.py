"""Skills from episodes, written by a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from threading import Thread, current_thread
from typing import Any

from attrs import field, frozen

from harness_core.episode import Episode, Failure
from harness_core.errors import HarnessError
from harness_core.models.answers import Unusable
from harness_core.models.transcript import transcript
from harness_core.serial import digest_of
from harness_core.store import RunStore
from harness_core.values import JsonDict
from harness_skills.answers import read_items, text_in
from harness_skills.item import CAPS, Outcome, Provenance, Skill
from harness_skills.prompts import induction_prompt, skill_schema
from harness_skills.writer import Writer


@frozen
class Experience:
    """An episode that something may be learned from.

    Args:
        episode: with a verdict.
        stack: what was played, as `StackSpec.to_dict` writes it.
        key: of the unit.
    """

    episode: Episode
    stack: JsonDict = field(factory=dict, hash=False)
    key: str = ""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task, and those that are chained to it."""
        return tuple(dict.fromkeys((self.episode.task.id, *_tasks_in(self.stack))))


def experiences(store: RunStore) -> list[Experience]:
    """Every episode of a run that counts; what infrastructure or components ended does not."""
    return [
        Experience(episode, unit["stack"], digest_of(unit))
        for unit, episode in store.episodes()
        if episode.success is not None
    ]


@frozen
class Induction:
    """What came of a round.

    Args:
        skills: that were written.
        returned: experiences that nothing could be learned from yet: no answer could be used, or
            none came. Give them to the next round.
        problems: why.
    """

    skills: tuple[Skill, ...] = ()
    returned: tuple[Experience, ...] = ()
    problems: tuple[Failure, ...] = ()


class Inducer:
    """Writes skills from episodes, task by task.

    Args:
        writer: the model.
        contrast: show successes and failures of a task together, where there are both; else each
            kind is shown on its own.
        at_once: episodes of one task that are shown together at most.
        tokens: of the episodes in one prompt.
        most: skills of one answer.
        categories: that a skill may be of; the first is for those that name none.
        workers: questions at a time.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        contrast: bool = True,
        at_once: int = 4,
        tokens: int = 6000,
        most: int = 3,
        categories: Sequence[str] = ("strategy", "pitfall"),
        workers: int = 8,
    ) -> None:
        if min(at_once, most, workers, len(categories)) < 1:
            raise HarnessError("at_once, most, workers and the number of categories start at 1.")
        self._writer, self._contrast, self._at_once = writer, contrast, at_once
        self._tokens, self._most, self._workers = tokens, most, workers
        self._categories = tuple(categories)

    def induce(
        self, experiences: Iterable[Experience], round_number: int = 0, sample: int = 0
    ) -> Induction:
        """Skills from `experiences`, in any order; those without a verdict are passed over.

        Args:
            experiences: of any tasks.
            round_number: noted in the provenance.
            sample: another number gets other answers.

        Raises:
            HarnessError: what stops the run: a limit is reached, or the model is refused.
        """
        asking: set[Thread] = set()

        def learn(batch: list[Experience]) -> Induction:
            asking.add(current_thread())
            return self._learn(batch, round_number, sample)

        batches = list(self._batches(experiences))
        with ThreadPoolExecutor(min(self._workers, len(batches) or 1)) as pool:
            asked = [pool.submit(learn, batch) for batch in batches]
            try:
                results = [each.result() for each in asked]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._writer.models.interrupt(asking)
                raise
        return Induction(
            tuple(dict.fromkeys(skill for each in results for skill in each.skills)),
            tuple(kept for each in results for kept in each.returned),
            tuple(problem for each in results for problem in each.problems),
        )

    def _batches(self, experiences: Iterable[Experience]) -> Iterator[list[Experience]]:
        """Experiences of one task that are shown together; the same ones in any order."""
        counted = (each for each in experiences if each.episode.success is not None)
        by_task: dict[tuple[str, ...], list[Experience]] = {}
        for each in sorted(counted, key=lambda each: (each.tasks, each.key, each.episode.seed)):
            by_task.setdefault(each.tasks, []).append(each)
        for group in by_task.values():
            good = [each for each in group if each.episode.success]
            bad = [each for each in group if not each.episode.success]
            turns = [each for pair in zip_longest(good, bad) for each in pair if each is not None]
            for kind in [turns] if self._contrast else [good, bad]:
                for first in range(0, len(kind), self._at_once):
                    yield kind[first : first + self._at_once]

    def _learn(self, batch: list[Experience], round_number: int, sample: int) -> Induction:
        outcome, provenance = _outcome(batch), _provenance(batch, round_number)
        system, user = induction_prompt(
            outcome,
            [(each.episode.success is True, self._told(each, len(batch))) for each in batch],
            self._most,
            self._categories,
        )
        schema = skill_schema(self._categories)
        try:
            skills = self._writer.ask(
                system, user, schema, lambda text: self._read(text, provenance), sample
            )
        except HarnessError as error:
            if error.fault == "caller":
                raise
            return Induction(returned=tuple(batch), problems=(Failure.of(error),))
        return Induction(tuple(skills))

    def _told(self, experience: Experience, sharing: int) -> str:
        return transcript(experience.episode, self._tokens // sharing)

    def _read(self, text: str, provenance: Provenance) -> list[Skill]:
        items = read_items(text, "skills")[: self._most]
        return [skill_in(item, self._categories, provenance) for item in items]


def skill_in(item: JsonDict, categories: Sequence[str], provenance: Provenance) -> Skill:
    """The skill that a model wrote; of the first category where it names none of them.

    Raises:
        Unusable: it has no title or no content.
    """
    texts = {name: text_in(item, name) for name in CAPS}
    for name in ("title", "content"):
        if not texts[name]:
            raise Unusable(f'A skill has no "{name}".')
    known = {category.lower(): category for category in categories}
    texts["category"] = known.get(texts["category"].lower(), categories[0])
    return Skill.fitted(provenance, **texts)


def _outcome(batch: Sequence[Experience]) -> Outcome:
    solved = {each.episode.success for each in batch}
    return "both" if len(solved) == 2 else "success" if True in solved else "failure"


def _provenance(batch: Sequence[Experience], round_number: int) -> Provenance:
    stacks = dict.fromkeys(digest_of(each.stack) for each in batch if each.stack)
    keys = dict.fromkeys(each.key for each in batch if each.key)
    return Provenance(batch[0].tasks, tuple(stacks), tuple(keys), round_number, _outcome(batch))


def _tasks_in(data: Any) -> Iterator[str]:
    """The tasks of a stack's JSON, and of the stacks inside its components."""
    if isinstance(data, dict):
        if isinstance(data.get("task"), str) and "env" in data:
            yield data["task"]
        data = list(data.values())
    if isinstance(data, list):
        for each in data:
            yield from _tasks_in(each)
