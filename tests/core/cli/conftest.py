from __future__ import annotations

from pathlib import Path

import pytest

from support.cli import Cli


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The real `harness`, in a folder of its own."""
    return Cli(tmp_path)
