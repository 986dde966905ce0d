"""Generated code is hostile until proven otherwise: four walls around the text of a contract.

1. `source`: an allow-list over its syntax tree;
2. `nursery`, `parent`, `worker`, `inside`: an empty process of its own, one per episode;
3. `kernel`: what the operating system lets that process do;
4. `wire`: what may cross between it and this process.
"""

from harness_core.sandbox.kernel import Wall, walls
from harness_core.sandbox.limits import SandboxLimits
from harness_core.sandbox.session import ContractSession
from harness_core.sandbox.source import Source, check_source

__all__ = ["ContractSession", "SandboxLimits", "Source", "Wall", "check_source", "walls"]
