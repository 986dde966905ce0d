"""A scripted model that takes its time."""

from __future__ import annotations

from harness_core.testing.model_script import Say, Seen


def after_50_ms(seen: Seen) -> Say:
    return Say("combine 1 + 2", delay=0.05)


def after_500_ms(seen: Seen) -> Say:
    return Say("combine 1 + 2", delay=0.5)
