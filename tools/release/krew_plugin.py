"""Builds the plugin of kubectl: an archive with the zipapp, and the manifest with which krew installs it.

Follows krew's developer guide, "Writing Krew plugin manifests".
"""

from __future__ import annotations

from pathlib import Path

import yaml
from release import archives
from release.archives import Member
from release.description import Release

_BINARY = "krm-fn.pyz"
_SYSTEMS = ("linux", "darwin")
_DESCRIPTION = """\
Renders NVIDIA Dynamo graphs to native Kubernetes objects, checks them, and shows what a change does.
The commands are those of krm-fn, for example `kubectl {plugin} check graphs` and `kubectl {plugin} render graph.yaml`.
"""
_CAVEATS = """\
The plugin needs Python 3.11 or newer as python3.
"""


def build(release: Release, source: Path, single_file: Path, out: Path) -> list[Path]:
    """Writes `kubectl-PLUGIN-VERSION.tar.gz` and the manifest `PLUGIN.yaml` into `out`, and returns their paths."""
    plugin = release.names.plugin
    archive, manifest = out / f"kubectl-{plugin}-{release.version}.tar.gz", out / f"{plugin}.yaml"
    files = {_BINARY: Member(single_file.read_bytes(), is_executable=True), "LICENSE": Member((source / "LICENSE").read_bytes())}
    archive.write_bytes(archives.tar_gz(files, release.epoch))
    platform = {
        "uri": release.address(archive.name),
        "sha256": archives.digest(archive.read_bytes()),
        "files": [{"from": name, "to": "."} for name in sorted(files)],
        "bin": _BINARY,
    }
    content = {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": plugin},
        "spec": {
            "version": release.tag,
            "homepage": release.repository,
            "shortDescription": "Render and check NVIDIA Dynamo graphs",
            "description": _DESCRIPTION.format(plugin=plugin),
            "caveats": _CAVEATS,
            "platforms": [{"selector": {"matchLabels": {"os": system}}, **platform} for system in _SYSTEMS],
        },
    }
    manifest.write_text(yaml.safe_dump(content, sort_keys=False, width=1000))
    return [archive, manifest]
