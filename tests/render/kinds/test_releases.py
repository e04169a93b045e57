"""A release of the operator is one value, chosen in one place, and no module compares releases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import krm_fn
from krm_fn.base import registry
from krm_fn.render.kinds import releases, types
from krm_fn.render.kinds.releases import Release
from krm_fn.syncer.status import model_endpoints

PACKAGE = Path(krm_fn.__file__).parent
RELEASES = registry.entries(releases)


@pytest.mark.parametrize("release", RELEASES)
def test_a_file_is_a_release(release):
    assert isinstance(releases.get(release), Release)


def test_an_unknown_release_is_refused():
    with pytest.raises(KeyError):
        releases.get("v0_0")


@pytest.mark.parametrize("release", RELEASES)
def test_the_defaults_of_each_component_type_are_in_the_release(release):
    """A renamed entry would silently give a type the neutral defaults."""
    found = releases.get(release)
    native = {types.get("epp").release_key} if not found.picker.native_cache else set()  # older releases have no native endpoint pickers
    wanted = {types.get(name).key(is_configured=configured) for name in types.names() for configured in (True, False)} - {""} - native
    assert wanted | ({releases.SIDECAR_KEY} if found.sidecar_mode else set()) == set(found.types)


@pytest.mark.parametrize("release", RELEASES)
def test_adapters_are_loaded_at_the_system_port_of_each_release(release):
    """The syncer does not know which release a pod is of."""
    assert releases.get(release).ports.system == model_endpoints.PORT


def test_only_the_resolver_knows_a_release():
    """Every other module reads facts from its plan."""
    naming = re.compile(r"\bv[0-9]+_[0-9]+\b|releases\.get\(")
    named = {str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py") if naming.search(file.read_text())}
    assert {name for name in named if not name.startswith("render/kinds/releases/")} == {"render/resolve/release_choice.py"}
