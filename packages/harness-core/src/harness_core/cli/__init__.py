"""The command line `harness`. The commands are in one file each, imported when they are called."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point: runs the command in `sys.argv` and exits with its code."""
    try:
        from harness_core.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # during the imports
        code = 130
    sys.exit(code)
