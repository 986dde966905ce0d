"""An episode as text for a prompt: what the agent saw, thought and did, within so many tokens."""

from __future__ import annotations

from collections.abc import Sequence

from harness_core.episode import Episode, Step
from harness_core.values import Observation

BYTES_PER_TOKEN = 3
"""A cautious guess for text of any language; English has four or five."""

LEAST_TOKENS = 100
"""Below this there is no room for a goal and two steps."""


def tokens_of(text: str) -> int:
    """About how many tokens `text` has; rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def transcript(episode: Episode, tokens: int) -> str:
    """The goal, the first observation, and each step with the answer to it.

    Where that is too long, single long texts are cut in their middle first, then steps in the
    middle are left out: the first and the last ones stay. Every cut says how much is missing.
    The verdict and what layers kept from the agent are not in it.

    Args:
        episode: of any length.
        tokens: that the text may have by `tokens_of`; raised to `LEAST_TOKENS`.
    """
    tokens = max(tokens, LEAST_TOKENS)
    start = f"Goal: {episode.task.goal}\n\n{_seen(episode.start)}"
    end = f"(The episode ended after {len(episode.steps)} steps: {episode.ending}.)"
    blocks = [_block(number, step) for number, step in enumerate(episode.steps, start=1)]
    whole = "\n\n".join([start, *blocks, end])
    if tokens_of(whole) <= tokens:
        return whole
    start = shorten(start, tokens // 4)
    blocks = [shorten(block, tokens // 6) for block in blocks]
    room = tokens - tokens_of(start) - tokens_of(end) - 20  # for what joins them
    return "\n\n".join([start, *_ends(blocks, room), end])


def shorten(text: str, tokens: int) -> str:
    """`text`, with so much of its middle left out that it has about `tokens` tokens at most."""
    if tokens_of(text) <= tokens:
        return text
    kept = max(0, tokens * BYTES_PER_TOKEN - 45)  # the note takes up to 45
    data = text.encode("utf-8", "replace")
    head = data[: kept - kept // 2].decode("utf-8", "ignore")
    tail = data[len(data) - kept // 2 :].decode("utf-8", "ignore")
    missing = len(text) - len(head) - len(tail)
    return f"{head} (... {missing} characters left out ...) {tail}"


def _block(number: int, step: Step) -> str:
    act = str(step.action) or "(no action)"
    lines = [f"[{number}] {act}"]
    thought = step.text.strip()
    if thought and thought != act:
        lines.insert(0, f"[{number}] thought: {thought}")
    lines.append(_seen(step.shown))
    return "\n".join(lines)


def _seen(observation: Observation) -> str:
    pictures = len(observation.images)
    return observation.text + (f"\n({pictures} pictures)" if pictures else "")


def _ends(blocks: Sequence[str], room: int) -> list[str]:
    """First and last blocks in turns, as many as there is room for, and a note in between."""
    first, last = 0, len(blocks)
    while first < last:
        take_first = first <= len(blocks) - last
        room -= tokens_of(blocks[first] if take_first else blocks[last - 1]) + 1
        if room < 0:
            break
        first, last = (first + 1, last) if take_first else (first, last - 1)
    note = f"(... {last - first} steps left out: {first + 1} to {last} ...)"
    return [*blocks[:first], *([note] if first < last else []), *blocks[last:]]
