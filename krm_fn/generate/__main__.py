"""Writes what is made from the models: `python -m krm_fn.generate`.

The native part comes from the OpenAPI v3 documents of a kube-apiserver.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from krm_fn import generate
from krm_fn.generate import catalog, crds, field_reference, kustomize_merge, kustomize_names, structural
from krm_fn.schema import table
from krm_fn.yamlio import emitter

DOCUMENTS = (
    *("api/v1", "apis/apps/v1", "apis/autoscaling/v2"),  # the first three hold what our kinds use, all of them what kustomize merges
    *("apis/admissionregistration.k8s.io/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1", "apis/autoscaling/v1"),
    *("apis/batch/v1", "apis/certificates.k8s.io/v1", "apis/coordination.k8s.io/v1", "apis/discovery.k8s.io/v1", "apis/events.k8s.io/v1"),
    *("apis/flowcontrol.apiserver.k8s.io/v1", "apis/networking.k8s.io/v1", "apis/node.k8s.io/v1", "apis/policy/v1"),
    *("apis/rbac.authorization.k8s.io/v1", "apis/resource.k8s.io/v1", "apis/scheduling.k8s.io/v1", "apis/storage.k8s.io/v1"),
)
ROOT = Path(__file__).parents[2]
CRDS, KUSTOMIZE, DOCS = ROOT / "platform" / "crds", ROOT / "platform" / "kustomize", ROOT / "docs" / "reference"
_MADE = "# Made from krm_fn/api by `make generate`.\n"


def tables(openapi: list[dict[str, Any]]) -> dict[Path, str]:
    """The two files that the package brings along, from OpenAPI v3 documents that hold every native definition (`DOCUMENTS`)."""
    checked = structural.table(structural.native_part(openapi), openapi[0]["info"]["version"])
    return {Path(table.FILE): generate.text(checked), kustomize_merge.FILE: generate.text(kustomize_merge.natively(openapi))}


def made() -> dict[Path, str]:
    """The files of a clone that are made from the models and the two tables."""
    definitions = {f"{each['spec']['names']['plural']}.yaml": each for each in crds.definitions()}
    examples = sorted(f"examples/{path.name}" for path in (ROOT / "examples").iterdir() if (path / "README.md").exists())
    listed = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [*definitions]}
    return {
        **{CRDS / name: _MADE + emitter.text(content) for name, content in {**definitions, "kustomization.yaml": listed}.items()},
        ROOT / "functions.yaml": _MADE + emitter.text(catalog.definition(examples)),
        ROOT / "metadata.yaml": _MADE + emitter.text(catalog.metadata(examples)),
        KUSTOMIZE / "openapi.json": generate.text(kustomize_merge.schema()),
        KUSTOMIZE / "names.yaml": _MADE + emitter.text(kustomize_names.references()),
        **{DOCS / name: page for name, page in field_reference.pages().items()},
    }


def documents(get: Callable[[str], Any]) -> list[dict[str, Any]]:
    """The OpenAPI documents of an API server; `get` returns what is at a path."""
    return [get(f"/openapi/v3/{name}") for name in DOCUMENTS]


def main() -> None:
    """Write everything from the OpenAPI documents named, or from those of a kube-apiserver started for this. Works in a clone."""
    parser = argparse.ArgumentParser(prog="python -m krm_fn.generate", description=main.__doc__)
    parser.add_argument("documents", nargs="*", type=Path, metavar="FILE", help="/openapi/v3/" + ", /openapi/v3/".join(DOCUMENTS))
    files = parser.parse_args().documents
    _write(tables([json.loads(path.read_text("utf-8")) for path in files] if files else _served()))
    table.load.cache_clear()
    _write(made())


def _write(files: dict[Path, str]) -> None:
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def _served() -> list[dict[str, Any]]:
    from tests.testbed import control_plane, programs  # noqa: PLC0415 - only a clone has them

    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed) as plane:
        return documents(plane.client.get)


if __name__ == "__main__":
    main()
