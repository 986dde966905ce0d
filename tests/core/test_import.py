import subprocess
import sys

DEPENDENCIES = {"harness_core", "attr", "attrs", "cattrs", "cattr", "pluggy"}
"""What `import harness_core` may load besides the standard library."""

NEW_MODULES = """
import sys
before = set(sys.modules)
import harness_core
print(*(set(sys.modules) - before))
"""

TIMED = """
import time
before = time.perf_counter()
import harness_core
print(time.perf_counter() - before)
"""

MILLISECONDS = 150


def test_importing_the_core_loads_only_the_standard_library_and_its_three_dependencies():
    """No optional or heavy package is loaded before it is used."""
    done = subprocess.run(
        [sys.executable, "-c", NEW_MODULES], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "harness_core" in loaded
    assert loaded - sys.stdlib_module_names <= DEPENDENCIES


def test_importing_the_core_is_quick():
    """Under 150 ms on the clock, at the best of ten: what others do to the machine counts less."""
    assert min(import_milliseconds() for _ in range(10)) < MILLISECONDS


def import_milliseconds():
    done = subprocess.run([sys.executable, "-c", TIMED], capture_output=True, text=True, check=True)
    return 1000 * float(done.stdout)
