"""The native part of the schemas: `native.json` for the check of a render, `merging.json` for patches of kustomize.

Only a new version of Kubernetes changes the two files: `make native` makes them from the OpenAPI v3 documents of a kube-apiserver.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from krm_fn import generate
from krm_fn.generate import kustomize_merge, structural
from krm_fn.schema.table import Schema

FILE = Path(__file__).parent / "native.json"
DOCUMENTS = (
    *("api/v1", "apis/apps/v1", "apis/autoscaling/v2", "apis/batch/v1"),  # models may use these four; patches merge by all of them
    *("apis/admissionregistration.k8s.io/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1", "apis/autoscaling/v1"),
    *("apis/certificates.k8s.io/v1", "apis/coordination.k8s.io/v1", "apis/discovery.k8s.io/v1", "apis/events.k8s.io/v1"),
    *("apis/flowcontrol.apiserver.k8s.io/v1", "apis/networking.k8s.io/v1", "apis/node.k8s.io/v1", "apis/policy/v1"),
    *("apis/rbac.authorization.k8s.io/v1", "apis/resource.k8s.io/v1", "apis/scheduling.k8s.io/v1", "apis/storage.k8s.io/v1"),
)
_FOR_MODELS = 4


class Native(NamedTuple):
    """The Kubernetes version of the definitions, and the definitions by name, in the form of the table."""

    kubernetes: str
    definitions: dict[str, Schema]


def load() -> Native:
    """The content of `native.json`. Only a clone has the file; raises FileNotFoundError in an installed package."""
    return Native(**json.loads(FILE.read_text("utf-8")))


def files(openapi: list[dict[str, Any]]) -> dict[Path, str]:
    """Both files with their text, made from OpenAPI v3 documents in the order of `DOCUMENTS`."""
    definitions = dict(sorted(structural.native_part(openapi[:_FOR_MODELS]).items()))
    native_part = Native(openapi[0]["info"]["version"], definitions)
    return {FILE: generate.text(native_part._asdict()), FILE.with_name("merging.json"): generate.text(kustomize_merge.natively(openapi))}


def documents(get: Callable[[str], Any]) -> list[dict[str, Any]]:
    """The OpenAPI documents of an API server; `get` returns the content of a path."""
    return [get(f"/openapi/v3/{name}") for name in DOCUMENTS]


def main() -> None:
    """Write both files from the named OpenAPI documents, or from those of a temporary kube-apiserver. Works in a clone."""
    parser = argparse.ArgumentParser(prog="python -m krm_fn.generate.native", description=main.__doc__)
    parser.add_argument("documents", nargs="*", type=Path, metavar="FILE", help="/openapi/v3/" + ", /openapi/v3/".join(DOCUMENTS))
    named = parser.parse_args().documents
    generate.write(files([json.loads(path.read_text("utf-8")) for path in named] if named else _served()))


def _served() -> list[dict[str, Any]]:
    from tests.testbed import control_plane, programs  # noqa: PLC0415 - only a clone has them

    needed = control_plane.Programs(*(programs.path(name) for name in ("etcd", "kube-apiserver", "kubectl")))
    with tempfile.TemporaryDirectory() as folder, control_plane.running(Path(folder), needed) as plane:
        return documents(plane.client.get)


if __name__ == "__main__":
    main()
