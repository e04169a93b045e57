"""The metadata of an object: its identity in a cluster, its labels and its annotations.

Two resources with the same key are the same object.
"""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""An annotation that kubectl writes on each object for itself."""

KAI_QUEUE, VOLCANO_QUEUE = "kai.scheduler/queue", "scheduling.grove.io/volcano-queue"
"""A label and an annotation with the queue of a pod in a scheduler."""

CLUSTER_SCOPED = frozenset(
    {
        *(("", kind) for kind in ("Namespace", "Node", "PersistentVolume")),
        *(
            ("admissionregistration.k8s.io", f"{verb}{kind}")
            for verb in ("Mutating", "Validating")
            for kind in ("AdmissionPolicy", "AdmissionPolicyBinding", "WebhookConfiguration")
        ),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        *(("flowcontrol.apiserver.k8s.io", kind) for kind in ("FlowSchema", "PriorityLevelConfiguration")),
        *(("networking.k8s.io", kind) for kind in ("IPAddress", "IngressClass", "ServiceCIDR")),
        ("node.k8s.io", "RuntimeClass"),
        *(("rbac.authorization.k8s.io", kind) for kind in ("ClusterRole", "ClusterRoleBinding")),
        *(("resource.k8s.io", kind) for kind in ("DeviceClass", "ResourceSlice")),
        ("scheduling.k8s.io", "PriorityClass"),
        *(("storage.k8s.io", kind) for kind in ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass")),
    }
)
"""The kinds of Kubernetes whose objects are in no namespace, by group and kind."""


class ObjectKey(NamedTuple):
    """Group, kind, namespace and name. Resources that differ only in their version are the same object."""

    group: str
    kind: str
    namespace: str
    name: str


def key(resource: Resource, default_namespace: str = "") -> ObjectKey:
    """Returns the key of a resource. `default_namespace` is the namespace of resources without one.

    A kind whose objects are in no namespace has none.
    """
    return key_of(results.ref(resource), default_namespace)


def key_of(ref: results.Ref, default_namespace: str = "") -> ObjectKey:
    """Returns the key of the resource that a reference names."""
    group = ref.api_version.rpartition("/")[0]
    namespace = "" if (group, ref.kind) in CLUSTER_SCOPED else ref.namespace or default_namespace
    return ObjectKey(group, ref.kind, namespace, ref.name)


def labels_of(resource: Resource) -> dict[str, Any]:
    """Returns the labels of a resource; empty if it has none."""
    return _mapping(resource, "labels")


def annotations_of(resource: Resource) -> dict[str, Any]:
    """Returns the annotations of a resource; empty if it has none."""
    return _mapping(resource, "annotations")


def _mapping(resource: Resource, field: str) -> dict[str, Any]:
    metadata = resource.get("metadata")
    value = metadata.get(field) if isinstance(metadata, dict) else None
    return value if isinstance(value, dict) else {}
