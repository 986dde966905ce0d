"""Two engines side by side on the same games: `walks` types, `compare` watches, `traces` keeps."""

from harness_bridges.alfworld.diff.compare import (
    Difference,
    Engine,
    begin,
    compare,
    open_engine,
    shrink,
)
from harness_bridges.alfworld.diff.traces import Trace, read_traces, record, retrace, write_traces
from harness_bridges.alfworld.diff.walks import KINDS

__all__ = [
    "KINDS",
    "Difference",
    "Engine",
    "Trace",
    "begin",
    "compare",
    "open_engine",
    "read_traces",
    "record",
    "retrace",
    "shrink",
    "write_traces",
]
