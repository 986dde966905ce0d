"""Conformance checks for third parties: is my env an env, my component a component?

    from harness_core.testing import check_env, check_component

    def test_my_env():
        check_env(lambda: make("mybench", task="one"))

The Hypothesis strategies are in `harness_core.testing.strategies` (extra `testing`).
"""

from harness_core.testing.component_checks import check_component
from harness_core.testing.corridor import CorridorEnv
from harness_core.testing.env_checks import check_env
from harness_core.testing.report import ConformanceError
from harness_core.testing.tap import Tap

__all__ = ["ConformanceError", "CorridorEnv", "Tap", "check_component", "check_env"]
