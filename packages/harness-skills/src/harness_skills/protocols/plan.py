"""A protocol as data: which arms there are, and how much of each is run."""

from __future__ import annotations

from attrs import field, frozen

from harness_core.errors import SpecError
from harness_core.values import JsonDict


@frozen
class Arm:
    """One way to come by skills, and what they are then worth.

    Args:
        name: the row in the table.
        source: id of a source of envs; empty for no skills at all.
        options: of the source.
        model: instead of the run's; for a comparison of models.
        left_out: a family of tasks that is not trained on; the arm is evaluated on it alone.
        joined: names of earlier arms whose banks are joined, instead of a source.
    """

    name: str
    source: str = ""
    options: JsonDict = field(factory=dict)
    model: str = ""
    left_out: str = ""
    joined: tuple[str, ...] = ()


@frozen
class Scale:
    """How much is run.

    Args:
        train: tasks to learn from.
        test: held-out tasks; each is played once in every evaluation.
        envs: training envs of an arm, the same number for all.
        every: envs after which the skills are renewed and the next batch is made for the policy
            that has them.
        rollouts: of the policy in each training env.
        runs: evaluations, each with other seeds.
        max_steps: step budget of an episode.
    """

    train: int
    test: int
    envs: int
    every: int
    rollouts: int = 3
    runs: int = 3
    max_steps: int = 50

    def __attrs_post_init__(self) -> None:
        counts = (self.train, self.test, self.envs, self.every, self.rollouts, self.runs)
        if min(counts) < 1 or self.every > self.envs:
            raise SpecError(f"A scale has numbers from 1, and every <= envs; got {self}.")


@frozen
class Plan:
    """A protocol.

    Args:
        title: of the report.
        arms: in the order in which they are run.
        each_batch: evaluate after every batch of envs, not only at the end.
        published: the paper's figures, row name -> column name -> figure, for the table.
        note: what the published figures are of.
    """

    title: str
    arms: tuple[Arm, ...]
    each_batch: bool = False
    published: JsonDict = field(factory=dict)
    note: str = ""

    def __attrs_post_init__(self) -> None:
        seen: set[str] = set()
        for arm in self.arms:
            if arm.name in seen or not set(arm.joined) <= seen:
                raise SpecError(
                    f"Arm {arm.name!r}: names are unique, and only earlier arms can be joined."
                )
            seen.add(arm.name)
