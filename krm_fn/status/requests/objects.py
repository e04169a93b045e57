"""The generated graph and its ConfigMaps as they are applied, or committed: with the names, labels and annotations that the request gives.

Follows the reference's `internal/controller/dynamographdeploymentrequest_controller.go` createDGD and createAdditionalResources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource
    from krm_fn.profiling.output import Output
    from krm_fn.status.requests import Request


def graph(output: Output, request: Request) -> Resource:
    """The generated graph as the request wants it deployed. Raises ValueError if there is no graph.

    A user's labels and annotations win over the generated ones. The namespace of the generated graph is not used.
    """
    generated = request.choose(output)
    if generated is None:
        raise ValueError(output.problem)
    target = request.place(generated)
    marks = {**_marks(request), **_texts(request.overrides.get("labels"))}
    annotations = {**_texts(labels.notes(generated)), **_texts(request.overrides.get("annotations"))}
    metadata: dict[str, Any] = {"name": target.name, "namespace": target.namespace, "labels": {**_texts(labels.of(generated)), **marks}}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": generated.get("apiVersion"), "kind": target.kind, "metadata": metadata, "spec": generated.get("spec") or {}}


def config_maps(output: Output, request: Request) -> list[Resource]:
    """The ConfigMaps beside the graph. None if the output was changed since the profiler wrote it."""
    return [] if output.edited else [_config_map(each, request) for each in output.config_maps]


def _config_map(written: Resource, request: Request) -> Resource:
    metadata: dict[str, Any] = {
        "name": written["metadata"]["name"],
        "namespace": request.place(written).namespace,
        "labels": {**_texts(labels.of(written)), **_marks(request)},
    }
    if annotations := _texts(labels.notes(written)):
        metadata["annotations"] = annotations
    content: dict[str, Any] = {key: written[key] for key in ("data", "binaryData", "immutable") if key in written}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **content}


def _marks(request: Request) -> Labels:
    """The labels that lead from an object to its request."""
    return {
        labels.REQUEST_NAME: request.key.name,
        labels.REQUEST_NAMESPACE: request.key.namespace,
        labels.MODEL_MANAGED_BY: labels.OPERATOR,
    }


def _texts(found: Any) -> Labels:
    return {key: text for key, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}
