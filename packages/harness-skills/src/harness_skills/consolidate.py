"""How new skills enter a bank: by rules that count, or by a model's judgement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Protocol

from attrs import frozen

from harness_core.episode import Failure
from harness_core.errors import HarnessError, SpecError
from harness_core.models.answers import Unusable
from harness_core.models.transcript import tokens_of
from harness_core.rates import Rate
from harness_core.values import JsonDict
from harness_skills.answers import read_items, text_in, texts_in
from harness_skills.bank import Bank, BankVersion, Use
from harness_skills.embedders import Embedder, StaticEmbedder
from harness_skills.induce import skill_in
from harness_skills.item import CAPS, Provenance, Skill
from harness_skills.merge import duplicates
from harness_skills.operations import Operation
from harness_skills.prompts import consolidation_prompt, operation_schema
from harness_skills.writer import Writer

Z = 2.58
"""Of the 99 % interval: every consolidation looks at every skill again."""


@frozen
class Consolidation:
    """What a consolidation left over.

    Args:
        returned: new skills that nothing was decided about; give them to the next one.
        notes: that were not read.
        problem: why; `None` if all went well.
    """

    returned: tuple[Skill, ...] = ()
    notes: tuple[str, ...] = ()
    problem: Failure | None = None


class Consolidator(Protocol):
    """Changes a bank by new skills."""

    def consolidate(
        self, bank: Bank, new: Sequence[Skill], notes: Sequence[str] = ()
    ) -> Consolidation:
        """Applies one change to `bank`, or none."""


class CountingRules:
    """No model: repetition is merged, what clearly does harm goes, everything else is added.

    A skill does harm if the whole 99 % interval of the success rate of episodes that were given it
    lies below the rate of all skills' uses. Notes are left to others.

    Args:
        embedder: for finding repetition; by default a static one.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def consolidate(
        self, bank: Bank, new: Sequence[Skill], notes: Sequence[str] = ()
    ) -> Consolidation:
        """See `Consolidator`."""
        harmful = _harmful(bank)
        old = [skill for skill in bank.freeze().skills if skill.id not in harmful]
        operations = [
            Operation("remove", targets=(id,), reason=f"solved {rate} with it")
            for id, rate in harmful.items()
        ]
        operations += _merged(old, new, duplicates(old, new, self._embedder))
        if operations:
            bank.apply(operations, "counting rules")
        return Consolidation(notes=tuple(notes))


class ModelConsolidator:
    """A model decides what becomes of each new skill.

    Args:
        writer: the model.
        tokens: of the bank's skills that it is shown: those that are nearest to the new ones; and
            of the new ones that it is asked about at once.
        categories: that a skill may be of, besides those in the bank.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        tokens: int = 8000,
        categories: Sequence[str] = ("strategy", "pitfall"),
    ) -> None:
        self._writer, self._tokens, self._own = writer, tokens, tuple(categories)

    def consolidate(
        self, bank: Bank, new: Sequence[Skill], notes: Sequence[str] = (), sample: int = 0
    ) -> Consolidation:
        """See `Consolidator`; another `sample` gets other answers.

        Raises:
            HarnessError: what stops the run: a limit is reached, or the model is refused.
        """
        returned: tuple[Skill, ...] = ()
        unread: tuple[str, ...] = tuple(notes)
        problem: Failure | None = None
        for some in _within(new, self._tokens) or ([[]] if notes else []):
            left = self._decide(bank, some, unread, sample)
            returned, unread = (*returned, *left.returned), left.notes
            problem = problem or left.problem
        return Consolidation(returned, unread, problem)

    def _decide(
        self, bank: Bank, new: Sequence[Skill], notes: Sequence[str], sample: int
    ) -> Consolidation:
        """One question about as many new skills as fit into it."""
        categories = tuple(dict.fromkeys((*self._own, *bank.freeze().categories)))
        shown = _labelled("S", _nearest(bank.freeze().skills, new, self._tokens))
        coming = _labelled("N", new)
        system, user = consolidation_prompt(
            [_line(label, skill, bank.uses.get(skill.id)) for label, skill in shown.items()],
            [_line(label, skill) for label, skill in coming.items()],
            notes,
            categories,
        )

        def applied(text: str) -> set[str]:
            reading = _Reading(bank.freeze(), shown, coming, categories)
            items = read_items(text, "operations")
            operations = [each for item in items for each in reading.operations(item)]
            try:
                if operations:
                    bank.apply(operations, "model")
            except SpecError as error:
                raise Unusable(str(error)) from error
            return reading.decided

        try:
            decided = self._writer.ask(system, user, operation_schema(categories), applied, sample)
        except HarnessError as error:
            if error.fault == "caller":
                raise
            return Consolidation(tuple(new), tuple(notes), Failure.of(error))
        return Consolidation(
            tuple(skill for label, skill in coming.items() if label not in decided)
        )


class _Reading:
    """Turns what the model wrote into operations."""

    def __init__(
        self,
        bank: BankVersion,
        shown: dict[str, Skill],
        coming: dict[str, Skill],
        categories: Sequence[str],
    ) -> None:
        self._bank = {skill.id: skill for skill in bank.skills}
        self._shown, self._coming, self._categories = shown, coming, categories
        self.decided: set[str] = set()

    def operations(self, item: JsonDict) -> list[Operation]:
        """What one object asks for.

        Raises:
            Unusable: it names a skill that was not shown, or lacks something.
        """
        kind, reason = text_in(item, "op").lower(), text_in(item, "reason")[:500]
        new = self._named(item, "new", self._coming)
        targets = self._named(item, "targets", self._shown)
        again = [label for label in new if label in self.decided]
        if again:
            raise Unusable(f"{again[0]} is named twice.")
        self.decided.update(new)
        ids = tuple(skill.id for skill in targets.values())
        try:
            if kind == "remove":
                return [Operation("remove", targets=ids, reason=reason)]
            if kind == "skip":
                return [Operation("skip", skill, reason=reason) for skill in new.values()]
            if kind == "add" or (kind == "merge" and not ids):
                return [self._added(self._skill(item, [*new.values()]), reason)]
            if kind in ("update", "merge"):
                skill = self._skill(item, [*targets.values(), *new.values()])
                return [Operation("update" if kind == "update" else "merge", skill, ids, reason)]
        except SpecError as error:
            raise Unusable(str(error)) from error
        raise Unusable(f'"op" is add, update, merge, remove or skip, not {kind!r:.40}.')

    def _added(self, skill: Skill, reason: str) -> Operation:
        known = self._bank.get(skill.id)
        if known is None:
            return Operation("add", skill, reason=reason)
        return Operation("merge", known.taught_by(skill.provenance), (known.id,), reason)

    def _named(self, item: JsonDict, name: str, known: dict[str, Skill]) -> dict[str, Skill]:
        labels = [label.upper().strip("[]: ") for label in texts_in(item, name)]
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise Unusable(f'"{name}" names {unknown[0]!r:.40}; there are: {", ".join(known)}.')
        return {label: known[label] for label in labels}

    def _skill(self, item: JsonDict, sources: list[Skill]) -> Skill:
        """What was written, or the first source where nothing was; taught by all of them."""
        if not sources:
            raise Unusable('Such an operation names a skill in "new" or "targets".')
        provenance = reduce(Provenance.joined, [each.provenance for each in sources])
        first = sources[0]
        whole = {name: text_in(item, name) or getattr(first, name) for name in CAPS}
        return skill_in(whole, (first.category, *self._categories), provenance)


def _harmful(bank: Bank) -> dict[str, Rate]:
    uses = {skill.id: bank.uses.get(skill.id, Use()) for skill in bank.freeze().skills}
    overall = sum(uses.values(), Use()).rate.value
    rates = {id: use.rate for id, use in uses.items() if use.shown}
    return {id: rate for id, rate in rates.items() if rate.interval(Z)[1] < overall}


def _merged(
    old: Sequence[Skill], new: Sequence[Skill], same: Sequence[int | None]
) -> list[Operation]:
    """Adds, and merges into what is there: each skill gets one operation."""
    skills = [*old, *new]
    kept: dict[int, Skill] = {}
    home: dict[int, int] = {}
    for place, twin in enumerate(same, start=len(old)):
        home[place] = place if twin is None else home.get(twin, twin)
        before = kept.get(home[place], skills[home[place]])
        own = skills[place].provenance
        kept[home[place]] = before if home[place] == place else before.taught_by(own)
    return [
        Operation("merge", skill, (skill.id,), "said again")
        if place < len(old)
        else Operation("add", skill)
        for place, skill in kept.items()
    ]


def _labelled(letter: str, skills: Sequence[Skill]) -> dict[str, Skill]:
    return {f"{letter}{number}": skill for number, skill in enumerate(skills, start=1)}


def _line(label: str, skill: Skill, use: Use | None = None) -> str:
    used = f" (given {use.shown} times, solved {use.solved})" if use else ""
    return f"{label} [{skill.category}]{used} {skill.title} | {skill.description} | {skill.content}"


def _within(skills: Sequence[Skill], tokens: int) -> list[list[Skill]]:
    """`skills` in groups of at most so many tokens each; a larger one stands alone."""
    groups: list[list[Skill]] = []
    room = 0
    for skill in skills:
        size = tokens_of(_line("N100", skill))
        if size > room:
            groups.append([])
            room = tokens
        groups[-1].append(skill)
        room -= size
    return groups


def _nearest(bank: Sequence[Skill], new: Sequence[Skill], tokens: int) -> list[Skill]:
    """The skills of a bank that fit into `tokens`, those first that are like new ones."""
    order = list(range(len(bank)))
    if bank and new and tokens_of("".join(_line("S100", skill) for skill in bank)) > tokens:
        texts = [skill.text for skill in (*bank, *new)]
        vectors = StaticEmbedder(texts).vectors(texts)
        nearness = (vectors[: len(bank)] @ vectors[len(bank) :].T).max(axis=1).round(5)
        order.sort(key=lambda place: (-float(nearness[place]), place))
    shown = set()
    for place in order:
        tokens -= tokens_of(_line("S100", bank[place]))
        if tokens < 0:
            break
        shown.add(place)
    return [skill for place, skill in enumerate(bank) if place in shown]
