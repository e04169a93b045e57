"""Removes from an exported object the fields that a cluster added: those of the API server, of controllers and of tools."""

from __future__ import annotations

from typing import Any

from krm_fn.kube import labels
from krm_fn.kube.types import Resource

_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")
_STATUSES = (labels.PRESERVED_GRAPH_STATUS, labels.PRESERVED_COMPONENT_STATUS, labels.PRESERVED_REQUEST_STATUS)
_BOOKKEEPING = (labels.LAST_APPLIED, labels.LAST_APPLIED_HASH, labels.LAST_APPLIED_GENERATION, "deployment.kubernetes.io/revision")
_TOOLS = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "meta.helm.sh/")
_TOOL_LABELS = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "argocd.argoproj.io/instance", "helm.sh/chart")
_MANAGERS = ("Helm", labels.MANAGER)
_WRITTEN_BY_USERS = (labels.IGNORE,)
_FINALIZERS = ("nvidia.com/finalizer", "foregroundDeletion", "orphan")


def written(resource: Resource) -> Resource:
    """Returns a Dynamo resource as its author wrote it, without the annotations of an earlier render.

    Of the metadata, name, namespace, labels, annotations and finalizers stay, except those that a controller or a GitOps tool wrote. The
    annotations of a newer operator about hashes, versions and fields of other API versions stay: they decide about names and pods.
    """
    cleaned = native(resource)
    metadata = cleaned["metadata"]
    fields = {
        "labels": {key: value for key, value in labels.of(cleaned).items() if key != labels.MANAGED_BY or value not in _MANAGERS},
        "annotations": {key: value for key, value in labels.annotations(cleaned).items() if not _is_of_a_render(key)},
        "finalizers": [entry for entry in metadata.get("finalizers", ()) if entry not in _FINALIZERS],
    }
    return {**cleaned, "metadata": _present({**metadata, **fields})}


def native(resource: Resource) -> Resource:
    """Returns an object without its status, the metadata of the API server, and the marks by which tools and controllers know objects.

    The marks of an earlier render stay: a render writes them too. Owners are left out: an owner decides what is deleted, not what runs.
    """
    metadata = resource["metadata"]
    fields = {
        "labels": {key: value for key, value in labels.of(resource).items() if not key.startswith(_TOOL_LABELS)},
        "annotations": {key: value for key, value in labels.annotations(resource).items() if not _is_bookkeeping(key)},
        "finalizers": [entry for entry in _list(metadata.get("finalizers")) if isinstance(entry, str)],
    }
    body = {key: value for key, value in resource.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "metadata": _present({**metadata, **fields}), **body}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _present(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata that an author writes, in this order, without empty parts."""
    return {key: metadata[key] for key in _METADATA if metadata.get(key)}


def _is_bookkeeping(key: str) -> bool:
    """True for an annotation by which a controller, kubectl or a GitOps tool knows its objects."""
    return key in (*_STATUSES, *_BOOKKEEPING) or key.startswith(_TOOLS)


def _is_of_a_render(key: str) -> bool:
    return key.startswith(labels.PREFIX) and key not in _WRITTEN_BY_USERS
