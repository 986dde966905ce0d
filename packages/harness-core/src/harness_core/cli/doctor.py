"""`harness doctor`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

from attrs import asdict, frozen
from cyclopts import Parameter

from harness_core.cli.console import say, say_json, table
from harness_core.cli.extras import missing_packages
from harness_core.errors import HarnessError
from harness_core.registry import BUILT_IN, registry

MIN_TMP = 200_000_000
"""Bytes that a few workers and their sandboxes may need."""


@frozen
class Check:
    """One line of the report.

    Args:
        what: the thing looked at.
        state: `"ok"`, `"note"` for what is absent but not needed, or `"broken"`.
        detail: what was found, and what to do about it.
    """

    what: str
    state: str
    detail: str


def doctor(*, as_json: Annotated[bool, Parameter("--json")] = False) -> int:
    """Checks this machine and this installation. Exits with 1 if something is broken.

    For example::

        harness doctor
        harness doctor --json

    Args:
        as_json: print one JSON document.
    """
    checks = [
        Check("python", "ok", f"{sys.version.split()[0]} at {sys.executable}"),
        *_packages(),
        *_plugins(),
        *_sandbox(),
        _tmp(),
        Check("cores", "ok", str(cores())),
        *_envs(),
        *_models(),
    ]
    usable = all(check.state != "broken" for check in checks)
    if as_json:
        say_json({"usable": usable, "checks": [asdict(check) for check in checks]})
    else:
        table(["", "what", "found"], [(check.state, check.what, check.detail) for check in checks])
        say("Everything needed is here." if usable else "Something is broken: see above.")
    return 0 if usable else 1


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _packages() -> Iterator[Check]:
    for name in sorted(BUILT_IN):
        try:
            yield Check(name, "ok", version(name))
        except PackageNotFoundError:
            yield Check(name, "note", "not installed")


def _plugins() -> Iterator[Check]:
    for name, _ in sorted(registry().manager.list_name_plugin()):
        yield Check(f"plugin {name}", "ok", "loaded")
    for name, why in registry().broken.items():
        yield Check(f"plugin {name}", "broken", f"{why}. Update or uninstall it.")


def _sandbox() -> Iterator[Check]:
    from harness_core.sandbox import walls

    try:
        found = walls()
    except HarnessError as error:
        yield Check("sandbox", "broken", str(error))
        return
    for wall in found:
        yield Check(f"sandbox {wall.name}", "ok" if wall.active else "note", wall.detail)
    if not any(wall.active for wall in found):
        yield Check("sandbox", "broken", "No wall stands, so generated code must not run here.")


def _tmp() -> Check:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    state = "ok" if free >= MIN_TMP else "broken"
    hint = "" if state == "ok" else "; free some, or point TMPDIR to a larger disk"
    return Check("temporary space", state, f"{free / 1e9:.1f} GB free in {folder}{hint}")


def _envs() -> Iterator[Check]:
    for id, claims in registry().entries("env").items():
        for _, entry in claims:
            missing = missing_packages(entry.extra) if entry.extra else []
            if missing:
                told = f"{', '.join(missing)} not installed; run: pip install '{entry.extra}'"
                yield Check(f"env {id}", "note", told)
            else:
                yield Check(f"env {id}", "ok", "installed")
        if len(claims) > 1:
            names = " and ".join(name for name, _ in claims)
            yield Check(f"env {id}", "broken", f"claimed by {names}; uninstall one")


def _models() -> Iterator[Check]:
    """Whether models can be asked. Of variables only the names are told: some hold keys."""
    missing = missing_packages("harness-core[llm]")
    if missing:
        told = f"{', '.join(missing)} not installed; run: pip install 'harness-core[llm]'"
        yield Check("models", "note", told)
    else:
        yield Check("models", "ok", "installed")
    ours = ("MODEL", "HARNESS_ENDPOINTS")
    named = sorted(
        name
        for name, value in os.environ.items()
        if value and (name in ours or name.startswith(("MODEL_", "HARNESS_MODEL_")))
    )
    told = f"{', '.join(named)} set" if named else "none is named; set MODEL"
    yield Check("model names", "ok" if named else "note", told)
