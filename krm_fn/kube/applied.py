"""What of the items of kustomize and kpt reaches a cluster: not what is local, and not the annotations of these programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn.kube import labels

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_INTERNAL = ("internal.config.kubernetes.io/", "internal.config.k8s.io/", "config.k8s.io/", "kustomize.config.k8s.io/")
_OURS_TO_DROP = (labels.FUNCTION, labels.LEGACY_PATH, labels.LEGACY_INDEX)


def is_local(resource: Resource) -> bool:
    """True for a resource that is marked as one for tools only."""
    return labels.notes(resource).get(labels.LOCAL_CONFIG) == "true"


def without_annotations(resource: Resource) -> Resource:
    """The resource without the annotations that kustomize and kpt write for themselves; the same object if it has none."""
    annotations = labels.notes(resource)
    kept = {key: value for key, value in annotations.items() if key not in _OURS_TO_DROP and not key.startswith(_INTERNAL)}
    if len(kept) == len(annotations):
        return resource
    metadata = {key: value for key, value in resource["metadata"].items() if key != "annotations"}
    return {**resource, "metadata": {**metadata, "annotations": kept} if kept else metadata}
