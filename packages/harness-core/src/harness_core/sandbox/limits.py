"""How much one worker may use."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import gt


@frozen
class SandboxLimits:
    """What the generated code of one episode may use.

    Args:
        call_seconds: wall-clock time of one call: of the load, or of the hooks of one step.
        cpu_seconds: CPU time of the whole episode.
        memory_mb: address space of the worker, the interpreter's own 20 to 30 included.
        bytes_in: the largest message that the host sends.
        bytes_out: the largest message that the worker may answer with.
    """

    call_seconds: float = field(default=2.0, validator=gt(0))
    cpu_seconds: int = field(default=60, validator=gt(0))
    memory_mb: int = field(default=256, validator=gt(0))
    bytes_in: int = field(default=4 << 20, validator=gt(0))
    bytes_out: int = field(default=1 << 20, validator=gt(0))
