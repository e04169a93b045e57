"""A folder is a registry: each module in it is an entry by its name, and only the entry asked for is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from krm_fn.base import registry
from krm_fn.render import engines
from krm_fn.render.engines import Engine
from krm_fn.render.kinds import types
from krm_fn.render.kinds.types import ComponentType
from krm_fn.render.manifests import workloads
from krm_fn.render.manifests.workloads import Workload


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with two entries, one private module and a file that is not a module."""
    folder = tmp_path / "fruits"
    folder.mkdir()
    for name, text in (("__init__", ""), ("pear", "TASTE = 'sweet'"), ("apple", "TASTE = 'sour'"), ("_peel", "")):
        (folder / f"{name}.py").write_text(text)
    (folder / "notes.txt").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    import fruits  # type: ignore[import-not-found]  # noqa: PLC0415 - it exists from here on

    yield fruits
    for name in [name for name in sys.modules if name.partition(".")[0] == "fruits"]:
        del sys.modules[name]


def test_names_are_the_modules_without_private_ones(package):
    assert registry.entries(package) == ("apple", "pear")


def test_an_entry_is_its_module_and_no_other_is_imported(package):
    assert registry.get(package, "pear").TASTE == "sweet"
    assert "fruits.apple" not in sys.modules


def test_an_attribute_of_an_entry_is_read_by_its_name(package):
    assert registry.attribute(package, "apple.TASTE") == "sour"


@pytest.mark.parametrize("name", ["plum", "_peel", "__init__", "", "../pear", "notes"])
def test_a_name_that_is_not_in_the_folder_is_refused(package, name):
    with pytest.raises(KeyError):
        registry.get(package, name)


@pytest.mark.parametrize("package", [engines, types, workloads], ids=lambda package: package.__name__)
def test_a_package_of_ours_is_listed_without_an_import(package):
    name = package.__name__.removeprefix("krm_fn.")
    program = f"import sys; from krm_fn.base import registry; print(*registry.entries_of({name!r}), {package.__name__!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*registry.entries(package), "False"]


def test_an_unknown_package_is_refused():
    with pytest.raises(FileNotFoundError):
        registry.entries_of("render.manifests.fruits")


@pytest.mark.parametrize("name", engines.names())
def test_an_engine_is_recognised_by_its_command(name):
    """An engine with another name than its file would not be found by the name in a graph."""
    engine = engines.get(name)
    assert isinstance(engine, Engine)
    assert engine.name == name
    assert engines.detect(["python3", "-m", f"dynamo.{name}"]) == [name]


def test_no_engine_has_the_neutral_answers():
    assert type(engines.NONE) is Engine
    assert engines.get("") is engines.get(engines.NONE.name) is engines.NONE
    assert engines.NONE.name not in engines.names()


@pytest.mark.parametrize("name", workloads.names())
@pytest.mark.parametrize("hook", ["render", "entries", "roles"])
def test_a_workload_answers_what_has_no_neutral_answer(name, hook):
    """`Workload` raises NotImplementedError for these."""
    assert getattr(type(workloads.get(name)), hook) is not getattr(Workload, hook)


@pytest.mark.parametrize("name", types.names())
def test_a_component_type_has_answers_of_its_own(name):
    assert isinstance(types.get(name), ComponentType)
    assert types.get(name) != types.UNKNOWN


@pytest.mark.parametrize("name", ["", "default", "main", "Worker", "__init__", "../worker"])
def test_an_unknown_component_type_has_the_neutral_answers(name):
    """Types are compared exactly (operator: component_common.go)."""
    assert types.get(name) is types.UNKNOWN
