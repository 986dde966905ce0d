import json
import os
import subprocess
import sys
from importlib import import_module

import pluggy
import pytest

from harness_core import hookspecs, registry
from harness_core.errors import MissingExtraError, RegistrationError, SpecError, UnknownIdError
from harness_core.hookspecs import KINDS, Entry, hookimpl
from harness_core.registry import Registry, helper_source, import_extra, load
from harness_core.testing import CorridorEnv

PLUGIN = """
from harness_core.hookspecs import Entry, hookimpl

@hookimpl
def harness_envs():
    return [Entry("{id}", "an env", "harness_core.testing.corridor:CorridorEnv")]
"""

ASK = """
import json
from harness_core.registry import registry
found = registry()
ids = list(found.entries("env"))
print(json.dumps({"envs": ids, "components": list(found.entries("component")),
                  "broken": found.broken}))
"""


MAKE_MINE = """
from harness_core import HarnessError, make
try:
    print(make("mine").reset().task.id)
except HarnessError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def site(tmp_path):
    """A folder in which distributions can be installed, and a way to ask a process that sees it."""

    class Site:
        def install(self, name, source, entry=None):
            """What pip leaves behind: a module, and a dist-info with its entry point."""
            module = name.replace("-", "_")
            (tmp_path / f"{module}.py").write_text(source)
            info = tmp_path / f"{module}-1.0.dist-info"
            info.mkdir()
            info.joinpath("METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
            )
            info.joinpath("entry_points.txt").write_text(f"[harness]\n{entry or name} = {module}\n")

        def run(self, code, **env):
            path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
            done = subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "PYTHONPATH": path, **env},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        def ask(self, **env):
            return json.loads(self.run(ASK, **env))

    return Site()


def test_an_installed_distribution_is_found_by_its_entry_point(site):
    """A package that names a plugin module in the group `harness` needs nothing else."""
    site.install("mybench", PLUGIN.format(id="mine"))
    assert "mine" in site.ask()["envs"]
    assert site.run(MAKE_MINE).strip() == "length-2"


def test_the_allow_list_keeps_others_out(site):
    """`HARNESS_PLUGINS` names the third-party entry points to load; built-ins stay."""
    for name in ("one", "two", "three"):
        site.install(name, PLUGIN.format(id=f"env-{name}"))
    found = site.ask(HARNESS_PLUGINS="one, three")
    assert {"env-one", "env-three"} <= set(found["envs"])
    assert "env-two" not in found["envs"]
    assert "stage" in found["components"]
    assert "env-one" not in site.ask(HARNESS_PLUGINS="")["envs"]


def test_the_off_switch_leaves_the_built_ins(site):
    """`HARNESS_DISABLE_PLUGINS=1` loads no third party; `0` means nothing."""
    site.install("mybench", PLUGIN.format(id="mine"))
    found = site.ask(HARNESS_DISABLE_PLUGINS="1")
    assert "mine" not in found["envs"]
    assert "stage" in found["components"]
    assert "mine" in site.ask(HARNESS_DISABLE_PLUGINS="0")["envs"]


def hook(definition):
    return f"from harness_core.hookspecs import Entry, hookimpl\n@hookimpl\n{definition}\n"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import no_such_module_here", "no_such_module_here"),
        ("def (", "SyntaxError"),
        ("raise SystemExit", "SystemExit"),
        (hook("def harness_enws(): return []"), "harness_enws"),
        (hook("def harness_envs(nonsense): return []"), "nonsense"),
        (hook("def harness_envs(): return 1 / 0"), "ZeroDivisionError"),
        (hook("def harness_envs(): return ['mine']"), "AttributeError"),
    ],
)
def test_a_broken_plugin_breaks_nothing_else(site, source, told):
    """Whatever is wrong with one plugin is on record, and the others are all there."""
    site.install("abroken", source)
    site.install("zfine", PLUGIN.format(id="mine"))
    found = site.ask()
    assert "mine" in found["envs"]
    assert "stage" in found["components"]
    assert told in found["broken"]["abroken"]


def test_an_unknown_id_tells_of_broken_plugins(site):
    """Who misses an id learns at once that a plugin failed to load."""
    site.install("abroken", "1 / 0")
    assert "plugin abroken failed: ZeroDivisionError" in site.run(MAKE_MINE)


def test_a_third_party_cannot_take_the_name_of_a_built_in(site):
    """The built-in plugin stays, and the one that claims its name is on record as broken."""
    site.install("impostor", PLUGIN.format(id="mine"), entry="core")
    found = site.ask()
    assert "stage" in found["components"]
    assert "core" in found["broken"]


def test_two_plugins_with_one_id_are_named_when_it_is_used(site):
    """Listing works; using the id names both plugins and the two ways out."""
    site.install("one", PLUGIN.format(id="mine"))
    site.install("two", PLUGIN.format(id="mine"))
    told = site.run(MAKE_MINE)
    assert "one" in told
    assert "two" in told
    assert "HARNESS_PLUGINS" in told
    assert "no" not in site.run(
        "from harness_core import make; make('mine')", HARNESS_PLUGINS="one"
    )


def test_a_missing_extra_answers_with_the_pip_line(site):
    """The entry says what provides its dependencies; the error is the line to type."""
    site.install("heavy_env", "import a_heavy_dependency\nclass Env: pass")
    site.install(
        "mybench",
        hook("def harness_envs(): return [Entry('mine', '', 'heavy_env:Env', 'mybench[server]')]"),
    )
    told = site.run(MAKE_MINE)
    assert told.startswith("MissingExtraError")
    assert "pip install 'mybench[server]'" in told
    assert "a_heavy_dependency" in told


def test_listing_imports_no_target(site):
    """Entries are read without importing what they name."""
    site.install("heavy_env", "raise RuntimeError('imported')")
    site.install(
        "mybench",
        hook("def harness_envs(): return [Entry('mine', '', 'heavy_env:Env')]"),
    )
    assert "mine" in site.ask()["envs"]


def test_an_extra_that_is_there_is_imported():
    """`import_extra` gives the module, or the pip line."""
    assert import_extra("json", "any[thing]") is json
    with pytest.raises(MissingExtraError, match=r"pip install 'mybench\[server\]'"):
        import_extra("no_such_module_here", "mybench[server]")


class Broken:
    """A plugin object whose targets do not exist."""

    @hookimpl
    def harness_envs(self):
        return [
            Entry("gone-module", "", "no_such_module_here:Env"),
            Entry("gone-name", "", "harness_core.env:NoSuchEnv"),
            Entry("gone-helpers", "", "harness_core.env:Env", helpers="no_such_module_here"),
        ]


@pytest.fixture
def broken():
    registry.registry().add(Broken(), "test-broken")
    yield
    registry.registry().manager.unregister(name="test-broken")


@pytest.mark.parametrize("id", ["gone-module", "gone-name"])
def test_a_target_that_does_not_exist_is_the_plugins_fault(broken, id):
    """The error names kind, id and what is missing."""
    with pytest.raises(RegistrationError, match=f"env '{id}'.*(no_such_module_here|NoSuchEnv)"):
        load("env", id)


def test_helpers_that_do_not_exist_are_the_plugins_fault(broken):
    """An env may lend only a module that is there; one that lends none lends nothing."""
    with pytest.raises(RegistrationError, match="no_such_module_here"):
        helper_source("gone-helpers")
    assert helper_source("gone-name") == ""


def test_register_needs_no_entry_point():
    """A module registered by name is found, may be registered twice, and is remembered."""
    registry.register("harness_core.testing.plugin")
    registry.register("harness_core.testing.plugin")
    assert load("env", "corridor") is CorridorEnv
    assert registry.registered_modules().count("harness_core.testing.plugin") == 1


def test_registering_a_built_in_again_changes_nothing():
    """A module that an entry point already named is not registered a second time."""
    before = registry.registry().entries("component")
    registry.register("harness_core.plugin")
    assert registry.registry().entries("component") == before


def test_registering_nonsense_is_refused(tmp_path, monkeypatch):
    """A module that cannot be imported, or implements no known hook, is named."""
    with pytest.raises(RegistrationError, match="no_such_module_here"):
        registry.register("no_such_module_here")
    (tmp_path / "bad_plugin.py").write_text(
        "from harness_core.hookspecs import hookimpl\n@hookimpl\ndef harness_enws(): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RegistrationError, match=r"harness_enws.*harness_core.hookspecs"):
        registry.register("bad_plugin")
    assert not registry.registry().manager.has_plugin("bad_plugin")


def test_ids_of_classes_and_classes_of_ids_agree():
    """Every registered component is written under the id that reads it."""
    for id in registry.registry().entries("component"):
        assert registry.id_of("component", load("component", id)) == id
    with pytest.raises(SpecError, match="not registered"):
        registry.id_of("component", CorridorEnv)


HOOKS = [name for name in vars(hookspecs) if name.startswith("harness_")]


def test_every_kind_has_its_hook():
    """The kinds are the hooks that return entries; the others observe."""
    observers = {"harness_episode_started", "harness_episode_finished", "harness_run_finished"}
    assert set(KINDS.values()) | observers == set(HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_each_hook_is_documented_and_can_be_implemented(hook):
    """Each has a docstring, and a plugin that implements it is called with its arguments."""
    spec = getattr(hookspecs, hook)
    assert spec.__doc__
    names = list(pluggy._hooks.varnames(spec)[0])
    called = []
    plugin = type("Plugin", (), {})()
    source = f"def {hook}(self, {', '.join(names)}): called.append(({', '.join(names)}))"
    scope = {"called": called}
    exec(source, scope)
    setattr(type(plugin), hook, hookimpl(scope[hook]))
    own = Registry(frozenset())
    own.add(plugin, "test")
    getattr(own.manager.hook, hook)(**dict.fromkeys(names, "given"))
    assert len(called) == 1


BUILT_IN = [
    pytest.param(kind, id, [entry for _, entry in claims], id=f"{kind}-{id}")
    for kind in KINDS
    for id, claims in Registry(frozenset()).entries(kind).items()
]


@pytest.mark.parametrize(("kind", "id", "claims"), BUILT_IN)
def test_each_built_in_is_reachable_by_id(kind, id, claims):
    """It is registered once, says what it is, and its target exists (extras installed or not)."""
    assert len(claims) == 1
    assert claims[0].summary
    module, _, attribute = claims[0].target.partition(":")
    if claims[0].extra and not importable(module):
        with pytest.raises(MissingExtraError):
            load(kind, id)
    else:
        assert load(kind, id) is getattr(import_module(module), attribute)


def importable(module):
    try:
        import_module(module)
    except ModuleNotFoundError:
        return False
    return True


def test_no_built_in_plugin_is_broken():
    """What this project registers itself loads without a record of failure."""
    assert Registry(frozenset()).broken == {}


def test_an_unknown_id_of_any_kind_is_an_unknown_id():
    """Each kind answers for itself."""
    for kind in KINDS:
        with pytest.raises(UnknownIdError, match=f"There is no {kind} 'nowhere'"):
            load(kind, "nowhere")
