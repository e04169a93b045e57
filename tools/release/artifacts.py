"""Builds all artifacts of a release that need no container engine."""

from __future__ import annotations

import tempfile
from pathlib import Path

from release import chart, homebrew_formula, krew_plugin, manifests, oci_artifact, provenance, python_packages, single_file, source_tree
from release.description import Release, ReleaseError


def build(release: Release, out: Path) -> list[Path]:
    """Builds into an empty or missing folder, and returns the paths of all files.

    Raises ReleaseError if the folder is not empty or if a build fails.
    """
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise ReleaseError(f"{out} is not empty; delete it first")
    with tempfile.TemporaryDirectory() as name:
        source = source_tree.export(release, Path(name) / "source")
        sdist, wheel = python_packages.build(release, source, out)
        zipapp, bill = single_file.build(release, source, wheel, out)
        files = [
            *(sdist, wheel, zipapp, bill),
            *manifests.build(release, source, out),
            oci_artifact.build(release, source, out),
            chart.build(release, source, out),
            *krew_plugin.build(release, source, zipapp, out),
            homebrew_formula.build(release, zipapp, out),
        ]
    return [*files, *provenance.build(release, files, out)]
