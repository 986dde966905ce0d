"""What a rigging said and decided, from the records of its run."""

from __future__ import annotations

from harness_core.cli.console import say
from harness_core.store import RunStore
from harness_core.values import JsonDict


def riggings(store: RunStore) -> list[JsonDict]:
    """Each rigged task: its diagnosis with the candidates, in order, and the outcome so far."""
    trials = store.records("trial")
    ended = {each["rigging"]: each for each in store.records("rigged")}
    found = []
    for diagnosis in sorted(store.records("diagnosis"), key=lambda d: (d["round"], d["task"])):
        own = [each for each in trials if each["rigging"] == diagnosis["rigging"]]
        result = ended.get(diagnosis["rigging"], {})
        outcome = {name: result.get(name) for name in ("outcome", "reason", "digest")}
        found.append({**diagnosis, **outcome, "trials": own})
    return found


def print_riggings(found: list[JsonDict]) -> None:
    """Prints them, one after the other."""
    for rigging in found:
        ended = (
            f"{rigging['outcome']} ({rigging['reason']})" if rigging["outcome"] else "unfinished"
        )
        say(f"{rigging['task']}, round {rigging['round']}: {ended}")
        say(f"  diagnosis: {rigging['weakness']}")
        for shown in rigging["shown_by"]:
            say(f"    {shown}")
        if rigging["direction"] or rigging["skip"]:
            say(f"  direction: {rigging['direction'] or 'skip, ' + rigging['skip']}")
        for trial in rigging["trials"]:
            say(f"  [{trial['number'] + 1}] {trial['rationale']}")
            say(f"      {trial['decision']}, {trial['reason']}: {trial['message']}")
        say()
