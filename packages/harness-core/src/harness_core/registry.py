"""Finds what plugins register. Discovery and lifecycle only; never part of a step."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from harness_core import hookspecs
from harness_core.errors import (
    InvalidAction,
    MissingExtraError,
    RegistrationError,
    SpecError,
    UnknownIdError,
)
from harness_core.hookspecs import KINDS, Entry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILT_IN = {f"harness-{name}" for name in ("core", "bridges", "rigger", "skills", "bpe", "rl")}


class Registry:
    """The plugins of this process.

    Args:
        allow: names of the third-party entry points to load; `None` loads all.
    """

    def __init__(self, allow: frozenset[str] | None = None) -> None:
        self.manager = pluggy.PluginManager("harness")
        self.manager.add_hookspecs(hookspecs)
        self.broken: dict[str, str] = {}
        from importlib.metadata import entry_points  # slow to import, and only needed here

        points = entry_points(group="harness")
        for point in sorted(points, key=lambda point: (not _is_built_in(point), point.name)):
            if allow is None or point.name in allow or _is_built_in(point):
                self._load_point(point)

    def _load_point(self, point: EntryPoint) -> None:
        try:
            self.add(point.load(), point.name)
        except (Exception, SystemExit) as error:  # a broken plugin takes no other with it
            self.broken[point.name] = f"{type(error).__name__}: {error}"

    def add(self, plugin: object, name: str) -> None:
        """Registers a plugin module or object.

        Raises:
            RegistrationError: it implements a hook that does not exist, or its name is taken.
        """
        if self.manager.is_registered(plugin):
            return
        if self.manager.has_plugin(name):
            raise RegistrationError(f"There is a plugin {name!r} already: rename this one.")
        try:
            self.manager.register(plugin, name)
            self.manager.check_pending()
        except pluggy.PluginValidationError as error:
            self.manager.unregister(name=name)
            raise RegistrationError(
                f"Plugin {name!r}: {error}. Hooks are listed in harness_core.hookspecs."
            ) from error

    def entries(self, kind: str) -> dict[str, list[tuple[str, Entry]]]:
        """What is registered as `kind`: id -> (plugin name, entry), usually one each."""
        hook = getattr(self.manager.hook, KINDS[kind])
        found: dict[str, list[tuple[str, Entry]]] = {}
        for implementation in hook.get_hookimpls():
            name = implementation.plugin_name
            try:
                for entry in implementation.function():
                    found.setdefault(entry.id, []).append((name, entry))
            except Exception as error:  # nor does one whose hook is broken
                self.broken[name] = f"{KINDS[kind]}() raised {type(error).__name__}: {error}"
        return dict(sorted(found.items()))

    def entry(self, kind: str, id: str) -> Entry:
        """The entry `id`.

        Raises:
            UnknownIdError: with the nearest ids.
            RegistrationError: two plugins claim the id.
        """
        found = self.entries(kind)
        if id not in found:
            broken = "; ".join(f"plugin {name} failed: {why}" for name, why in self.broken.items())
            raise UnknownIdError(kind, id, found, broken)
        claims = found[id]
        if len(claims) > 1:
            names = " and ".join(name for name, _ in claims)
            raise RegistrationError(
                f"The {kind} {id!r} is registered by {names}. Uninstall one, or name the plugins "
                "to load in HARNESS_PLUGINS."
            )
        return claims[0][1]


def _is_built_in(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name.replace("_", "-") in BUILT_IN


@cache
def registry() -> Registry:
    """The registry of this process, filled from entry points at the first call.

    `HARNESS_PLUGINS=a,b` loads only these third-party entry points; `HARNESS_DISABLE_PLUGINS=1`
    loads none. The built-ins are always there.
    """
    if os.environ.get("HARNESS_DISABLE_PLUGINS", "") not in ("", "0"):
        return Registry(frozenset())
    allowed = os.environ.get("HARNESS_PLUGINS")
    if allowed is None:
        return Registry()
    return Registry(frozenset(name.strip() for name in allowed.split(",") if name.strip()))


_registered: list[str] = []


def register(module: str) -> None:
    """Registers an importable module as a plugin, without an entry point.

    Raises:
        RegistrationError: it cannot be imported, or implements an unknown hook.
    """
    try:
        plugin = import_module(module)
    except ImportError as error:
        raise RegistrationError(f"Plugin module {module!r} cannot be imported: {error}.") from error
    registry().add(plugin, module)
    if module not in _registered:
        _registered.append(module)


def registered_modules() -> list[str]:
    """The modules given to `register`, for worker processes to register as well."""
    return list(_registered)


@cache
def load(kind: str, id: str) -> Any:
    """The registered object.

    Raises:
        UnknownIdError: no plugin registers `id`.
        MissingExtraError: its dependencies are not installed.
        RegistrationError: its target does not exist.
    """
    entry = registry().entry(kind, id)
    module, _, attribute = entry.target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if entry.extra:
            raise _missing(f"The {kind} {id!r}", entry.extra, error) from error
        raise RegistrationError(f"The {kind} {id!r} cannot be imported: {error}.") from error
    except (ImportError, AttributeError) as error:
        raise RegistrationError(f"The {kind} {id!r} is broken: {error}.") from error


def construct(kind: str, id: str, options: Mapping[str, Any]) -> Any:
    """An instance of the registered class, or what the registered function returns.

    Args:
        kind: see `hookspecs.KINDS`.
        id: among that kind.
        options: keyword arguments.

    Raises:
        SpecError: options that it does not take; the message lists those that it takes.
        UnknownIdError, MissingExtraError, RegistrationError: as `load` says.
    """
    make = load(kind, id)
    try:
        return make(**options)
    except (TypeError, InvalidAction) as error:
        raise SpecError(
            f"{kind.capitalize()} {id!r} does not take these options: {error}. {_parameters(make)}"
        ) from error


def _parameters(make: Callable[..., Any]) -> str:
    from inspect import signature

    with contextlib.suppress(TypeError, ValueError):  # what is written in C has no signature
        names = [name for name in signature(make).parameters if name != "task"]
        return f"It takes: {', '.join(names)}." if names else "It takes none."
    return ""


def import_extra(module: str, extra: str) -> ModuleType:
    """Imports an optional dependency.

    Args:
        module: what to import, such as `"textworld"`.
        extra: what provides it, such as `"harness-bridges[alfworld]"`.

    Raises:
        MissingExtraError: with the `pip install` line.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise _missing(f"This needs {module!r}, which", extra, error) from error


def _checkout(extra: str) -> str:
    """How to install one of this project's own packages, which a checkout has."""
    own = extra.split("[")[0] in BUILT_IN
    return f" (in a checkout: pip install 'packages/{extra}')" if own else ""


def _missing(what: str, extra: str, error: ModuleNotFoundError) -> MissingExtraError:
    return MissingExtraError(
        f"{what} is not installed completely (no module {error.name!r}). "
        f"Run: pip install '{extra}'{_checkout(extra)}"
    )


def id_of(kind: str, registered: type) -> str:
    """The id under which a class is registered.

    Raises:
        SpecError: it is not.
    """
    target = f"{registered.__module__}:{registered.__qualname__}"
    for id, claims in registry().entries(kind).items():
        if any(entry.target == target for _, entry in claims):
            return id
    raise SpecError(
        f"{registered.__qualname__} is not registered, so it cannot be written down. Return "
        f"Entry(id, summary, {target!r}) from {KINDS[kind]}() in a plugin module, and name the "
        "module in an entry point of the group 'harness' or in harness_core.registry.register()."
    )


@cache
def helper_source(env: str) -> str:
    """The source text of the helpers that a registered env lends to contracts.

    Raises:
        UnknownIdError: no such env.
        RegistrationError: it names a helper module that does not exist.
    """
    module = registry().entry("env", env).helpers
    if not module:
        return ""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise RegistrationError(f"Env {env!r} names the helper module {module!r}: not found.")
    return Path(spec.origin).read_text(encoding="utf-8")
