"""Many episodes at once, in processes that can be killed."""

from harness_core.rollout.pool import RolloutPool, Unit
from harness_core.rollout.remote import Limits

__all__ = ["Limits", "RolloutPool", "Unit"]
