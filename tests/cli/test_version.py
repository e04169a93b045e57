"""`krm-fn version`."""

from __future__ import annotations

import json

import krm_fn
from krm_fn.render.resolve import release_choice
from tests.cli import console


def test_the_version_for_programs():
    """A script can ask which releases of the operator a render can follow."""
    known = json.loads(console.run("version", "-o", "json").out)
    assert known["version"] == krm_fn.__version__
    assert known["releases"] == list(release_choice.RELEASES)
    assert known["apiVersions"] == ["nvidia.com/v1alpha1", "nvidia.com/v1beta1"]


def test_the_version_for_people():
    """The first line is that of --version."""
    assert console.run("version").out.splitlines()[0] == console.run("--version").out.strip() == f"krm-fn {krm_fn.__version__}"
