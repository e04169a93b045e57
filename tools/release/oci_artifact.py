"""Builds the OCI artifact with the platform's kustomizations, for an OCIRepository of Flux.

Follows the OCI Image Format Specification, "Image Layout", and Flux's media types (Flux documentation, "OCI Artifacts").
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from release import archives
from release.archives import Member
from release.description import Release

CONFIG_TYPE = "application/vnd.cncf.flux.config.v1+json"
LAYER_TYPE = "application/vnd.cncf.flux.content.v1.tar+gzip"
_MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
_INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
_LEFT_OUT = ("platform/migration/",)


def build(release: Release, source: Path, out: Path) -> Path:
    """Writes an image layout as `krm-fn-manifests-VERSION.oci.tar` into `out`, and returns its path."""
    target = out / f"krm-fn-manifests-{release.version}.oci.tar"
    target.write_bytes(archives.tar(layout(release, archives.tar_gz(content(source), release.epoch)), release.epoch))
    return target


def content(source: Path) -> dict[str, Member]:
    """The files of the artifact: the root kustomization and `platform`, without programs for migrations."""
    files = archives.members(source, (path for path in (source / "platform").rglob("*") if path.is_file()))
    kept = {name: member for name, member in files.items() if not name.startswith(_LEFT_OUT)}
    return kept | {"kustomization.yaml": Member((source / "kustomization.yaml").read_bytes())}


def layout(release: Release, layer: bytes) -> dict[str, Member]:
    """The files of an image layout with one layer."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.epoch))
    annotations = {
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.revision": f"{release.tag}@sha1:{release.revision}",
        "org.opencontainers.image.source": release.repository,
    }
    config = _json({"created": created})
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST_TYPE,
            "config": _descriptor(CONFIG_TYPE, config),
            "layers": [_descriptor(LAYER_TYPE, layer)],
            "annotations": annotations,
        }
    )
    index = {"schemaVersion": 2, "mediaType": _INDEX_TYPE, "manifests": [_descriptor(_MANIFEST_TYPE, manifest)]}
    blobs = {f"blobs/sha256/{archives.digest(data)}": Member(data) for data in (config, layer, manifest)}
    return {**blobs, "index.json": Member(_json(index)), "oci-layout": Member(_json({"imageLayoutVersion": "1.0.0"}))}


def _descriptor(media_type: str, data: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": f"sha256:{archives.digest(data)}", "size": len(data)}


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
