"""The only task runner: `nox -s tests`, `reproduce`, `bench`, `lint`, `docs`, `compat`."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import nox

nox.options.sessions = ["lint", "tests"]
nox.options.reuse_existing_virtualenvs = True

PACKAGES = ["harness-core", "harness-bridges", "harness-rigger", "harness-skills"]
EXTRAS = {"harness-core": "[llm]", "harness-skills": "[retrieval]"}
TEST_TOOLS = ["pytest>=8", "hypothesis>=6.100", "pytest-timeout>=2.3", "pytest-cov>=5"]

# Hundreds of test processes start; compiling every module anew would be most of their time.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}

# ALFWorld's own requirements pull in 400 MB that its text engine never imports.
NATIVE = ["jericho==3.3.1", "fast-downward-textworld==20.6.4"]
ALFWORLD = ["alfworld==0.4.2", "textworld==1.7.0"]
ALFWORLD_NEEDS = [
    *("numpy", "tqdm", "networkx", "more_itertools", "tatsu==5.8.3"),
    *("hashids", "mementos", "termcolor", "prompt_toolkit"),
]


def wheel_folder() -> Path:
    """Where native wheels are kept between runs; they take minutes to compile."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return cache / "harness" / f"wheels-{platform.system()}-{platform.machine()}".lower()


def install_packages(session: nox.Session, *others: str, extras: bool = True) -> None:
    """The project's packages, editable, with the extras that calls of models need."""
    names = [f"packages/{name}{EXTRAS.get(name, '') if extras else ''}" for name in PACKAGES]
    editable = [part for name in names for part in ("-e", name)]
    session.install(*editable, *others)


def install_alfworld(session: nox.Session) -> None:
    """ALFWorld on TextWorld; compiles its two native packages once per machine."""
    wheels = wheel_folder()
    built = [name.split("==")[0].replace("-", "_") for name in NATIVE]
    if not all(list(wheels.glob(f"{name}-*.whl")) for name in built):
        session.run("python", "-m", "pip", "wheel", "--no-deps", *NATIVE, "-w", str(wheels))
    session.install("--no-deps", *map(str, sorted(wheels.glob("*.whl"))), *ALFWORLD)
    session.install(*ALFWORLD_NEEDS)


@nox.session
def tests(session: nox.Session) -> None:
    """All tests, on the real engines. `nox -s tests -- -k stage` runs a part."""
    install_packages(session, *TEST_TOOLS, "matplotlib>=3.8", "markdown-it-py>=3")
    install_alfworld(session)
    session.run("pytest", "--ignore=tests/bench", *session.posargs, env=BYTECODE)


@nox.session(python="3.12")
def compat(session: nox.Session) -> None:
    """The tests that need no engine, on the other supported Python."""
    install_packages(session, *TEST_TOOLS)
    session.run(
        "pytest", "--ignore=tests/bench", "-m", "not textworld", *session.posargs, env=BYTECODE
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types and import directions."""
    install_packages(session, "ruff>=0.9", "mypy>=1.15", "import-linter>=2.1", "pytest", "nox")
    session.install("hypothesis", "gymnasium")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy", *(f"packages/{name}/src" for name in PACKAGES), "noxfile.py")
    session.run("lint-imports")


@nox.session
def bench(session: nox.Session) -> None:
    """Speed, as ratios measured in one run."""
    install_packages(session, "pytest>=8", "pytest-benchmark>=5", "gymnasium>=1.0")
    install_alfworld(session)
    session.run("pytest", "tests/bench", *session.posargs)


@nox.session
def reproduce(session: nox.Session) -> None:
    """Experiments: `-- --list`, `-- NAME`, `-- NAME --scale small`."""
    asks_models = session.posargs[:1] not in ([], ["target-band"], ["--list"])
    install_packages(session, "matplotlib>=3.8", "markdown-it-py>=3", extras=asks_models)
    session.run("harness", "reproduce", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation as a site in `site/`; broken links fail."""
    install_packages(session, "mkdocs-material>=9.5", "mkdocstrings[python]>=0.26", extras=False)
    session.run("mkdocs", "build", "--strict", *session.posargs)
