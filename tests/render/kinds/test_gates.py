"""Gates open by the runtime version of an image and by the origin version of a graph, from the first release that has them."""

from __future__ import annotations

import pytest

from krm_fn.base import registry
from krm_fn.kubernetes import version
from krm_fn.render.kinds import gates, releases, types

NAMES = registry.entries(releases)


def opened(release, tag="", origin=""):
    """The names of the gates that an image tag and an origin version open."""
    number = releases.get(release).number
    return {gate.name for gate in gates.open_gates(number, version.core(tag), origin)} - {gates.NEW_PROFILER.name}


OF_IMAGES = {"CanaryHealthChecks", "IncreasedWorkerFailureThreshold", "NativeRustEPP"}
SINCE_1_6 = {"PlannerDGDComponentStatus", "FrontendStartupProbe", "StrictNamespacePrefix"}


@pytest.mark.parametrize(
    ("release", "tag", "expected"),
    [
        ("v1_5", "", set()),  # an unknown version opens nothing
        ("v1_5", "1.4.9", set()),
        ("v1_5", "1.5.0", OF_IMAGES),
        ("v1_5", "v1.5.1-rc1", OF_IMAGES),  # a pre-release of an image counts as its release
        ("v1_5", "1.5.0-rc1", OF_IMAGES),
        ("v1_5", "1.6.1", OF_IMAGES),  # the release does not have the newer gates
        ("v1_6", "1.5.9", OF_IMAGES),
        ("v1_6", "1.6.0", OF_IMAGES | SINCE_1_6),
        ("v1_6", "2.0.0", OF_IMAGES | SINCE_1_6),
        ("v1_4", "1.6.0", set()),  # releases before 1.5 have no gates of images
        ("v1_2", "1.6.0", set()),
        ("v1_7", "1.6.0", OF_IMAGES | SINCE_1_6),
        ("v0_9", "1.6.0", set()),  # the oldest release has no gates for pods
    ],
)
def test_gates_of_images(release, tag, expected):
    assert opened(release, tag) == expected


@pytest.mark.parametrize(
    ("origin", "is_open"),
    [
        ("1.0.0", True),
        ("v1.0.0", True),
        ("1", True),  # missing numbers are 0
        ("1.5", True),
        ("1.0.0+build", True),
        ("1.0.0-rc1", False),  # a pre-release of an operator is below its release
        ("0.9.9", False),
        ("main", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("release", ["v1_2", "v1_5"])
def test_gates_of_operators(release, origin, is_open):
    assert ("VLLMMultiprocessing" in opened(release, origin=origin)) == is_open


def test_an_open_gate_changes_only_its_own_defaults():
    release = releases.get("v1_6")
    frontend = types.get("frontend")
    default = frontend.defaults_in(release, frontend.release_key)
    changed = gates.apply_gates(default, frontend.release_key, gates.open_gates(release.number, (1, 6, 0), ""))
    assert dict(changed.env) == {**dict(default.env), "DYN_NAMESPACE_PREFIX_STRICT": "true"}
    assert {name for name, _ in changed.probes} == {"livenessProbe", "readinessProbe", "startupProbe"}
    assert changed._replace(env=default.env, probes=default.probes) == default


def test_the_table_names_keys_and_variables_of_its_releases():
    """A gate for an unknown component type, or one that changes an unknown probe, would change nothing."""
    newest = releases.get(NAMES[-1])
    assert {key for gate in gates.GATES for key in gate.types} <= set(newest.types)
    assert {gate.release for gate in gates.GATES} <= {releases.get(name).number for name in NAMES}
    assert len({gate.name for gate in gates.GATES}) == len(gates.GATES)
