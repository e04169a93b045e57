"""Removes from an exported resource what its author did not write: the fields of the API server, and the bookkeeping of controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource

_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")
_STATUSES = (labels.PRESERVED_GRAPH_STATUS, labels.PRESERVED_COMPONENT_STATUS, labels.PRESERVED_REQUEST_STATUS)
_BOOKKEEPING = (labels.LAST_APPLIED, labels.LAST_APPLIED_HASH, labels.LAST_APPLIED_GENERATION)
_TOOLS = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id")
_TOOL_LABELS = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "argocd.argoproj.io/instance")
_WRITTEN_BY_USERS = (labels.IGNORE,)
_FINALIZERS = ("nvidia.com/finalizer", "foregroundDeletion", "orphan")


def clean(resource: Resource) -> Resource:
    """The resource with apiVersion, kind, metadata and its own fields, and without its status.

    Of the metadata, name, namespace, labels, annotations and finalizers stay, except those that a controller or a GitOps tool wrote. The
    annotations of a newer operator about hashes, versions and fields of other API versions stay: they decide about names and pods.
    """
    metadata = resource["metadata"]
    kept = {key: metadata[key] for key in _METADATA if metadata.get(key)}
    annotations = {key: value for key, value in labels.notes(resource).items() if not _is_bookkeeping(key)}
    ours = {key: value for key, value in labels.of(resource).items() if not _is_mark(key, value)}
    finalizers = [each for each in kept.get("finalizers", ()) if each not in _FINALIZERS]
    kept |= {"labels": ours, "annotations": annotations, "finalizers": finalizers}
    body = {key: value for key, value in resource.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return {
        "apiVersion": resource["apiVersion"],
        "kind": resource["kind"],
        "metadata": {key: kept[key] for key in _METADATA if kept.get(key)},
        **body,
    }


def without_empty_lists(value: Any) -> Any:
    """The value without fields that hold an empty list. An operator's client leaves them out, and Grove counts one as a change of pods."""
    if isinstance(value, dict):
        return {key: without_empty_lists(inner) for key, inner in value.items() if inner != []}
    return [without_empty_lists(each) for each in value] if isinstance(value, list) else value


def annotated(resource: Resource, annotations: Labels) -> Resource:
    """The resource with further annotations."""
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**labels.notes(resource), **annotations}}}


def _is_bookkeeping(key: str) -> bool:
    """True for an annotation that a controller, kubectl, a GitOps tool or an earlier render wrote."""
    rendered = key.startswith(labels.PREFIX) and key not in _WRITTEN_BY_USERS
    return rendered or key in (*_STATUSES, *_BOOKKEEPING, *_TOOLS)


def _is_mark(key: str, value: str) -> bool:
    """True for a label by which a GitOps tool or an earlier render knows its objects."""
    return key.startswith(_TOOL_LABELS) or (key == labels.MANAGED_BY and value == labels.MANAGER)
