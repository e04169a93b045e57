"""The files of an adopted namespace: resources, the configuration, and a Kustomization. `migration_steps` has the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import function_config
from krm_fn.kube import labels
from krm_fn.review.adopt import edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.types import Resource

CONFIGURATION, KUSTOMIZATION, STEPS = "render.yaml", "kustomization.yaml", "MIGRATION.md"

_PROGRAM = "exec: {path: krm-fn}\n"


def resources(written: Sequence[Resource], spec: Mapping[str, Any]) -> dict[str, Resource]:
    """The resources by file name: those of users, the configuration as a KRM function, and a Kustomization."""
    files = {file_name(resource): resource for resource in written}
    return {
        **files,
        CONFIGURATION: edits.annotated(configuration(spec), {labels.FUNCTION: _PROGRAM}),
        KUSTOMIZATION: {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(files),
            "transformers": [CONFIGURATION],
        },
    }


def configuration(spec: Mapping[str, Any]) -> Resource:
    """The settings as a DynamoRender."""
    return {"apiVersion": function_config.API_VERSION, "kind": function_config.KIND, "metadata": {"name": "render"}, "spec": dict(spec)}


def settings(spec: Mapping[str, Any]) -> Config:
    """The settings as a render reads them."""
    return function_config.read(configuration(spec))[0]


def file_name(resource: Resource) -> str:
    """The name of the file of a resource."""
    return f"{resource['kind']}_{resource['metadata']['name']}.yaml".lower()
