"""The identity of an object in a cluster: two resources with the same key are the same object."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

DYNAMO_GROUP = "nvidia.com"
V1ALPHA1, V1BETA1 = "nvidia.com/v1alpha1", "nvidia.com/v1beta1"
GRAPH, COMPONENT, ADAPTER = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"
REQUEST, MODEL = "DynamoGraphDeploymentRequest", "DynamoModel"
"""Kinds of Dynamo's API that users write."""

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
    ref = results.ref(resource)
    group = ref.api_version.rpartition("/")[0]
    namespace = "" if (group, ref.kind) in CLUSTER_SCOPED else ref.namespace or default_namespace
    return ObjectKey(group, ref.kind, namespace, ref.name)


def is_dynamo(resource: Resource) -> bool:
    """Returns true for a resource of Dynamo's API group, in any version."""
    version = resource.get("apiVersion")
    return isinstance(version, str) and version.partition("/")[0] == DYNAMO_GROUP
