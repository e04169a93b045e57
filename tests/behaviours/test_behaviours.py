"""A release of the reference is one value, chosen in one place, and no module compares releases."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import krm_fn
from krm_fn import behaviours, registry
from krm_fn.behaviours import Behaviour
from krm_fn.manifests import components
from krm_fn.status import endpoints

PACKAGE = Path(krm_fn.__file__).parent
RELEASES = registry.entries(sys.modules["krm_fn.behaviours"])


@pytest.mark.parametrize("release", RELEASES)
def test_a_file_is_a_release(release):
    assert isinstance(behaviours.get(release), Behaviour)


def test_an_unknown_release_is_refused():
    with pytest.raises(KeyError):
        behaviours.get("v0_0")


@pytest.mark.parametrize("release", RELEASES)
def test_the_figures_of_each_component_type_are_in_the_release(release):
    """A renamed entry would silently give a type the neutral figures."""
    wanted = {components.get(name).figures for name in registry.entries(components)} - {""}
    assert wanted == set(behaviours.get(release).types)


@pytest.mark.parametrize("release", RELEASES)
def test_adapters_are_loaded_at_the_system_port_of_each_release(release):
    """The syncer does not know which release a pod is of."""
    assert behaviours.get(release).ports.system == endpoints.PORT


def test_only_the_resolver_knows_a_release():
    """Every other module reads facts from its plan."""
    naming = re.compile(r"\bv[0-9]+_[0-9]+\b|behaviours\.get\(")
    named = {str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py") if naming.search(file.read_text())}
    assert {name for name in named if not name.startswith("behaviours/")} == {"resolve/context.py"}
