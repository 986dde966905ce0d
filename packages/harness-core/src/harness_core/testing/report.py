"""Collects the promises that a checked thing breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

Check = Callable[[], Iterable[str]]
"""Yields one sentence for each broken promise, with the fix."""


class ConformanceError(AssertionError):
    """A checked env or component breaks promises; the message lists all that were found."""


def run_checks(subject: str, checks: Mapping[str, Check]) -> list[str]:
    """Runs every check, even when some fail.

    Returns:
        The names of the checks.

    Raises:
        ConformanceError: with every broken promise.
    """
    broken: list[str] = []
    for name, check in checks.items():
        try:
            for told in check():
                broken.append(f"{name}: {told}")
        except Exception as error:
            broken.append(f"{name}: the check met {type(error).__name__}: {error}")
    if broken:
        promises = [f"- {told}" for told in dict.fromkeys(broken)]
        lines = "\n".join(promises)
        raise ConformanceError(f"{subject} breaks its promises ({len(promises)}):\n{lines}")
    return list(checks)
