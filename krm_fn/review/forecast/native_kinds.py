"""The kinds of Kubernetes in one table: the fields that an update cannot change, and the Go function that has the rule.

Each function is in `pkg/apis/GROUP/validation` of Kubernetes 1.36, or in the file that the row names. Values are compared as an API server
stores them (`krm_fn.kubernetes.stored_objects`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths, stored_objects
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.review.forecast import native_conditions

_E = paths.EVERY
_SPEC: tuple[Path, ...] = (("spec", _E),)


class NativeKind(NamedTuple):
    """The rules for an update of one kind.

    `source` is the Go function. `immutable` are patterns of fields that cannot change, and `once` of fields that can be set, but not
    changed afterwards. `mutable` are the exceptions below them. `conditions` returns the paths of further refused fields, which depend on
    other fields. `remedy` is a way to make the change nevertheless; `{name}` is the name of the object.
    """

    source: str
    immutable: tuple[Path, ...] = ()
    mutable: tuple[Path, ...] = ()
    once: tuple[Path, ...] = ()
    conditions: Callable[[Resource, Resource], Iterable[Path]] | None = None
    remedy: str = ""


def _spec(*names: str) -> tuple[Path, ...]:
    return tuple(("spec", *name.split(".")) for name in names)


def _fields(*names: str) -> tuple[Path, ...]:
    return tuple((name,) for name in names)


_APPS, _BATCH, _NETWORK, _DEVICES = "apps", "batch", "networking.k8s.io", "resource.k8s.io"
_ADMISSION, _RBAC, _STORAGE = "admissionregistration.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io"
_FLOW, _CERTIFICATES = "flowcontrol.apiserver.k8s.io", "certificates.k8s.io"
_SET_FIELDS = ("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy")
_VOLUME_FIELDS = ("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions")

_CLAIM_REMEDY = (
    "give it another name (a generated one has the name of its service), or delete the ResourceClaimTemplate {name} before you apply; "
    "running pods keep their claims until they restart"
)
_DATA_REMEDY = "write the new data under another name"
_SET_REMEDY = "delete the StatefulSet {name} with --cascade=orphan, which keeps its pods, and apply it again"

KINDS: dict[tuple[str, str], NativeKind] = {
    ("", "ConfigMap"): NativeKind("ValidateConfigMapUpdate", conditions=native_conditions.config_map, remedy=_DATA_REMEDY),
    ("", "Endpoints"): NativeKind("ValidateEndpointsUpdate"),
    ("", "LimitRange"): NativeKind("pkg/registry/core/limitrange/strategy.go, ValidateUpdate"),
    ("", "Namespace"): NativeKind("ValidateNamespaceUpdate"),
    ("", "Node"): NativeKind("ValidateNodeUpdate", once=_spec("podCIDRs", "providerID")),
    ("", "PersistentVolume"): NativeKind(
        "ValidatePersistentVolumeUpdate",
        immutable=_SPEC,
        mutable=_spec(*_VOLUME_FIELDS, "nodeAffinity", "volumeAttributesClassName", "csi.controllerExpandSecretRef"),
        once=_spec("nodeAffinity", "csi.controllerExpandSecretRef"),
        conditions=native_conditions.persistent_volume,
    ),
    ("", "PersistentVolumeClaim"): NativeKind(
        "ValidatePersistentVolumeClaimUpdate, for a bound claim",
        immutable=(*_SPEC, ("metadata", "annotations", "volume.beta.kubernetes.io/storage-class")),
        mutable=_spec("volumeName", "storageClassName", "resources.requests.storage", "volumeAttributesClassName"),
        once=_spec("volumeName", "storageClassName"),
        conditions=native_conditions.claim,
    ),
    ("", "Pod"): NativeKind(
        "ValidatePodUpdate",
        immutable=_SPEC,
        mutable=(
            *(("spec", name, _E, "image") for name in ("containers", "initContainers")),
            *_spec("activeDeadlineSeconds", "tolerations", "schedulingGates", "nodeSelector", "affinity.nodeAffinity"),
        ),
        conditions=native_conditions.pod,
    ),
    ("", "PodTemplate"): NativeKind("ValidatePodTemplateUpdate"),
    ("", "ReplicationController"): NativeKind("ValidateReplicationControllerUpdate"),
    ("", "ResourceQuota"): NativeKind("ValidateResourceQuotaUpdate", conditions=native_conditions.quota),
    ("", "Secret"): NativeKind("ValidateSecretUpdate", immutable=_fields("type"), conditions=native_conditions.secret, remedy=_DATA_REMEDY),
    ("", "Service"): NativeKind("ValidateServiceUpdate", conditions=native_conditions.service),
    ("", "ServiceAccount"): NativeKind("ValidateServiceAccountUpdate"),
    (_ADMISSION, "MutatingAdmissionPolicy"): NativeKind("ValidateMutatingAdmissionPolicyUpdate"),
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): NativeKind("ValidateMutatingAdmissionPolicyBindingUpdate"),
    (_ADMISSION, "MutatingWebhookConfiguration"): NativeKind("ValidateMutatingWebhookConfigurationUpdate"),
    (_ADMISSION, "ValidatingAdmissionPolicy"): NativeKind("ValidateValidatingAdmissionPolicyUpdate"),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): NativeKind("ValidateValidatingAdmissionPolicyBindingUpdate"),
    (_ADMISSION, "ValidatingWebhookConfiguration"): NativeKind("ValidateValidatingWebhookConfigurationUpdate"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): NativeKind(
        "validateCustomResourceDefinitionSpecUpdate in k8s.io/apiextensions-apiserver",
        immutable=_spec("group", "scope", "names.kind", "names.plural"),
        conditions=native_conditions.definition,
    ),
    ("apiregistration.k8s.io", "APIService"): NativeKind("ValidateAPIServiceUpdate in k8s.io/kube-aggregator"),
    (_APPS, "ControllerRevision"): NativeKind("ValidateControllerRevisionUpdate", immutable=_fields("data")),
    (_APPS, "DaemonSet"): NativeKind("ValidateDaemonSetSpecUpdate", immutable=_spec("selector")),
    (_APPS, "Deployment"): NativeKind("ValidateDeploymentUpdate", immutable=_spec("selector")),
    (_APPS, "ReplicaSet"): NativeKind("ValidateReplicaSetUpdate", immutable=_spec("selector")),
    (_APPS, "StatefulSet"): NativeKind(
        "ValidateStatefulSetUpdate", immutable=_SPEC, mutable=_spec(*_SET_FIELDS, "minReadySeconds"), remedy=_SET_REMEDY
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): NativeKind("ValidateHorizontalPodAutoscalerUpdate"),
    (_BATCH, "CronJob"): NativeKind("ValidateCronJobUpdate"),
    (_BATCH, "Job"): NativeKind(
        "ValidateJobSpecUpdate",
        immutable=_spec("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"),
        conditions=native_conditions.job,
    ),
    (_CERTIFICATES, "CertificateSigningRequest"): NativeKind("ValidateCertificateSigningRequestUpdate"),
    ("coordination.k8s.io", "Lease"): NativeKind("ValidateLeaseUpdate"),
    ("discovery.k8s.io", "EndpointSlice"): NativeKind("ValidateEndpointSliceUpdate", immutable=_fields("addressType")),
    (_FLOW, "FlowSchema"): NativeKind("ValidateFlowSchemaUpdate"),
    (_FLOW, "PriorityLevelConfiguration"): NativeKind("ValidatePriorityLevelConfiguration"),
    (_NETWORK, "IPAddress"): NativeKind("ValidateIPAddressUpdate", immutable=_spec("parentRef")),
    (_NETWORK, "Ingress"): NativeKind("ValidateIngressUpdate"),
    (_NETWORK, "IngressClass"): NativeKind("validateIngressClassSpecUpdate", immutable=_spec("controller")),
    (_NETWORK, "NetworkPolicy"): NativeKind("ValidateNetworkPolicyUpdate"),
    (_NETWORK, "ServiceCIDR"): NativeKind("ValidateServiceCIDRUpdate", conditions=native_conditions.service_cidr),
    ("node.k8s.io", "RuntimeClass"): NativeKind("ValidateRuntimeClassUpdate", immutable=_fields("handler")),
    ("policy", "PodDisruptionBudget"): NativeKind("pkg/registry/policy/poddisruptionbudget/strategy.go, ValidateUpdate"),
    (_RBAC, "ClusterRole"): NativeKind("ValidateClusterRoleUpdate"),
    (_RBAC, "ClusterRoleBinding"): NativeKind("ValidateClusterRoleBindingUpdate", immutable=_fields("roleRef")),
    (_RBAC, "Role"): NativeKind("ValidateRoleUpdate"),
    (_RBAC, "RoleBinding"): NativeKind("ValidateRoleBindingUpdate", immutable=_fields("roleRef")),
    (_DEVICES, "DeviceClass"): NativeKind("ValidateDeviceClassUpdate"),
    (_DEVICES, "ResourceClaim"): NativeKind("ValidateResourceClaimUpdate", immutable=_SPEC),
    (_DEVICES, "ResourceClaimTemplate"): NativeKind("ValidateResourceClaimTemplateUpdate", immutable=_SPEC, remedy=_CLAIM_REMEDY),
    (_DEVICES, "ResourceSlice"): NativeKind("validateResourceSliceSpec", immutable=_spec("driver", "nodeName", "pool.name")),
    ("scheduling.k8s.io", "PriorityClass"): NativeKind("ValidatePriorityClassUpdate", immutable=_fields("value", "preemptionPolicy")),
    (_STORAGE, "CSIDriver"): NativeKind("ValidateCSIDriverUpdate", immutable=_spec("attachRequired", "volumeLifecycleModes")),
    (_STORAGE, "CSINode"): NativeKind("ValidateCSINodeUpdate", conditions=native_conditions.csi_node),
    (_STORAGE, "CSIStorageCapacity"): NativeKind("ValidateCSIStorageCapacityUpdate", immutable=_fields("nodeTopology", "storageClassName")),
    (_STORAGE, "StorageClass"): NativeKind(
        "ValidateStorageClassUpdate", immutable=_fields("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")
    ),
    (_STORAGE, "VolumeAttachment"): NativeKind("ValidateVolumeAttachmentUpdate", immutable=_SPEC),
    (_STORAGE, "VolumeAttributesClass"): NativeKind("ValidateVolumeAttributesClassUpdate", immutable=_fields("driverName", "parameters")),
}
"""The rules by group and kind."""


def remedy(key: ObjectKey) -> str:
    """Returns a way to make a refused change nevertheless. `{name}` is the name of the object."""
    known = KINDS.get((key.group, key.kind))
    return (known.remedy if known else "") or f"delete the {key.kind} {{name}} and apply it again"


def refused_fields(group: str, kind: str, old: Resource, new: Resource) -> tuple[Path, ...]:
    """Returns the paths of the changed fields that an API server refuses; empty if it accepts the change, or for an unknown kind."""
    rules = KINDS.get((group, kind))
    if rules is None:
        return ()
    stored = [stored_objects.of(old), stored_objects.of(new, old)]
    fixed = [stored_objects.without(resource, rules.mutable) for resource in stored]
    changed = [*_changed_paths(rules.immutable, *fixed), *_changed_paths(rules.once, *stored, is_set=True)]
    return tuple(dict.fromkeys((*changed, *(rules.conditions(*stored) if rules.conditions else ()))))


def _changed_paths(patterns: Iterable[Path], old: Resource, new: Resource, *, is_set: bool = False) -> Iterator[Path]:
    """Yields the paths of the fields that differ. If `is_set` is true, fields that the old object lacks are left out."""
    for path in dict.fromkeys(path for resource in (old, new) for path, _ in paths.find(resource, tuple(patterns))):
        before = paths.at(old, path)
        if before != paths.at(new, path) and not (is_set and before is None):
            yield path
