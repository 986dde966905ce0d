"""Whether the optional dependencies of an entry are installed, without importing them."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version


def missing_packages(extra: str) -> list[str]:
    """The packages of `extra`, such as `"harness-bridges[alfworld]"`, that are not installed."""
    distribution, _, wanted = extra.rstrip("]").partition("[")
    try:
        requirements = requires(distribution) or []
    except PackageNotFoundError:
        return [distribution]
    names = set(re.split(r"\s*,\s*", wanted))
    packages = [_package(line) for line in requirements if _extras_of(line) & names]
    return [package for package in packages if not _installed(package)]


def _extras_of(requirement: str) -> set[str]:
    _, _, marker = requirement.partition(";")
    return set(re.findall(r"""extra\s*==\s*["']([^"']+)["']""", marker))


def _package(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    return found.group() if found else requirement


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
