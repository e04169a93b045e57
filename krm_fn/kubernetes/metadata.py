"""Readers of labels and annotations, and keys of both that Kubernetes' own tools and schedulers define."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # kubectl writes it on each object for itself

# the queue of a pod in a scheduler
KAI_QUEUE = "kai.scheduler/queue"
VOLCANO_QUEUE = "scheduling.grove.io/volcano-queue"


def labels(resource: "dict[str, Any]") -> "dict[str, Any]":
    """Returns the labels of a resource; empty if it has none."""
    return _mapping(resource, "labels")


def annotations(resource: "dict[str, Any]") -> "dict[str, Any]":
    """Returns the annotations of a resource; empty if it has none."""
    return _mapping(resource, "annotations")


def _mapping(resource: "dict[str, Any]", key: str) -> "dict[str, Any]":
    metadata = resource.get("metadata")
    value = metadata.get(key) if isinstance(metadata, dict) else None
    return value if isinstance(value, dict) else {}
