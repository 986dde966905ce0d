"""Finds the command, runs it, and turns what it raises into a message and an exit code.

0: done. 1: the work failed. 2: the request was wrong. 70: a bug. 130, 143: Ctrl-C, SIGTERM.
141: the reader of the output went away.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import tempfile
import traceback
from io import TextIOWrapper

from cyclopts import App, CycloptsError, Parameter

from harness_core.cli.console import err, out
from harness_core.cli.interrupts import exit_code, unwind_on_sigterm
from harness_core.errors import HarnessError, RegistrationError, UnknownIdError

ABOUT = """Reshape what an agent meets, without touching the benchmark underneath.

For example::

    harness list
    harness play ENV
    harness run ENV --tasks 20 --policy random

Everywhere::

    --plugin MODULE   registers an importable plugin first; may be repeated
    --debug           shows tracebacks; so does HARNESS_DEBUG=1
"""


def run(arguments: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    unwind_on_sigterm()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # a shell closed it with >&-
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    debug = "--debug" in arguments or os.environ.get("HARNESS_DEBUG", "0") not in ("", "0")
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as interrupt:
        return exit_code(interrupt)
    except (CycloptsError, argparse.ArgumentError) as error:
        return _wrong_usage(error)
    except HarnessError as error:
        _tell(str(error), debug)
        return 2 if error.fault == "caller" else 1
    except BrokenPipeError:
        _drop_output()
        return 141
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return _bug(error, debug)
        _drop_output()
        _tell(f"{error}. Free some space, or point TMPDIR to a larger disk.", debug)
        return 1
    except Exception as error:
        return _bug(error, debug)


def _dispatch(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--plugin", action="append", default=[])
    parser.add_argument("--debug", action="store_true")
    everywhere, rest = parser.parse_known_args(arguments)
    for module in everywhere.plugin:
        _register(module)
    app = _app(rest[0] if rest else "")
    result = app(rest, exit_on_error=False, print_error=False)
    return result if isinstance(result, int) else 0


def _register(module: str) -> None:
    from harness_core.registry import register

    if (here := os.getcwd()) not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does
    try:
        register(module)
    except HarnessError:
        raise
    except Exception as error:
        told = f"Plugin module {module!r} is broken: {type(error).__name__}: {error}."
        raise RegistrationError(told) from error


def _app(called: str) -> App:
    """The app with all commands, of which only the one that is called gets imported."""
    from importlib.metadata import version

    from harness_core.registry import load, registry

    app = App(
        name="harness",
        help=ABOUT,
        help_format="plaintext",
        version=lambda: version("harness-core"),
        version_flags=["--version"],
        default_parameter=Parameter(negative=()),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        console=out,
        error_console=err,
    )
    commands = registry().entries("command")
    if called not in {*commands, "", "--help", "-h", "--version"}:
        raise UnknownIdError("command", called, commands, "`harness --help` shows all.")
    for id, claims in commands.items():
        if id == called:
            app.command(load("command", id), name=id)
        else:
            app.command(claims[0][1].target, name=id, help=claims[0][1].summary)
    return app


def _tell(message: str, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    err.print(f"harness: {message}", soft_wrap=True, style="red")


def _wrong_usage(error: Exception) -> int:
    told = str(error)
    if isinstance(error, CycloptsError):
        error.verbose = False
        told = str(error).strip()
        chain = " ".join(["harness", *(error.command_chain or ())])
        told += f" See `{chain} --help`."
    _tell(told, debug=False)
    return 2


def _bug(error: Exception, debug: bool) -> int:
    _drop_output()
    try:
        descriptor, name = tempfile.mkstemp(prefix="harness-bug-", suffix=".txt")
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write("".join(traceback.format_exception(error)))
        where = f"The traceback is in {name}."
    except OSError:
        where = "Run it again with --debug to see the traceback."
    _tell(f"This is a bug: {type(error).__name__}: {error}. {where}", debug)
    return 70


def _drop_output() -> None:
    """Points stdout at nothing, so that the interpreter's last flush cannot fail."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
