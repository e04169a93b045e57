"""A folder is a registry: what lies in it can be had by name, and only what is asked for is imported."""

from __future__ import annotations

import sys

import pytest

from krm_fn import registry
from krm_fn.manifests import backends, components, workloads
from krm_fn.manifests.backends import Backend
from krm_fn.manifests.components import Component


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with two entries, one private module and a file that is none."""
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


@pytest.mark.parametrize("name", ["plum", "_peel", "__init__", "", "../pear", "notes"])
def test_a_name_that_is_not_in_the_folder_is_refused(package, name):
    with pytest.raises(KeyError):
        registry.get(package, name)


def test_every_engine_says_what_it_is():
    assert set(backends.names()) == {"noop", "sglang", "trtllm", "vllm"}
    assert all(isinstance(backends.get(name), Backend) for name in backends.names())


def test_every_carrier_can_be_had():
    assert "deployment" in workloads.names()
    assert all(hasattr(workloads.get(name), "render") and hasattr(workloads.get(name), "entries") for name in workloads.names())


@pytest.mark.parametrize("name", ["frontend", "worker", "prefill", "decode", "planner", "epp"])
def test_every_component_type_has_answers_of_its_own(name):
    assert type(components.get(name)) is not Component


@pytest.mark.parametrize("name", ["", "default", "main", "Worker", "__init__", "../worker"])
def test_an_unknown_component_type_has_the_neutral_answers(name):
    """Types are compared exactly (reference: component_common.go)."""
    assert type(components.get(name)) is Component
