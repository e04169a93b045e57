"""The fields that name another object, by kind. The sources are the API references of Kubernetes v1.36 and of each other API.

A path is written with dots, and `[]` after a list. tests/kubernetes/test_references.py compares the table with the schemas of Kubernetes.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, paths
from krm_fn.kubernetes.paths import EVERY, TemplatePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.base.results import Path

Target = tuple[str, str]
"""Group and kind of a named object."""


class NameField(NamedTuple):
    """A field that holds the name of an object. `path` is its path, from an object or from a pod spec.

    `targets` are the kinds of objects that it can name. If `is_typed`, a field `kind` beside the name has the kind; without it, the first
    target is meant. `keys` are the paths of keys that the object must have, from the parent of the name.
    """

    path: Path
    targets: tuple[Target, ...]
    is_typed: bool = False
    keys: tuple[Path, ...] = ()


def path_of(text: str) -> Path:
    """Returns the path of a field.

    >>> path_of("volumes[].secret.secretName")
    ('volumes', '*', 'secret', 'secretName')
    """
    steps: list[str | int] = []
    for name in text.split("."):
        steps.extend((name.removesuffix("[]"), EVERY) if name.endswith("[]") else (name,))
    return tuple(steps)


def fields_of_kind(target: Target, *fields: str) -> tuple[NameField, ...]:
    """Returns fields that name an object of one kind."""
    return tuple(NameField(path_of(field), (target,)) for field in fields)


def with_keys(target: Target, key: str, *fields: str) -> tuple[NameField, ...]:
    """Returns fields that name an object of one kind, with the path of a key that it must have."""
    return tuple(NameField(path_of(field), (target,), keys=(path_of(key),)) for field in fields)


def fields_of_kinds(targets: tuple[Target, ...], *fields: str) -> tuple[NameField, ...]:
    """Returns fields that name an object of one of several kinds."""
    return tuple(NameField(path_of(field), targets, is_typed=True) for field in fields)


def below(path: str, fields: tuple[NameField, ...]) -> tuple[NameField, ...]:
    """Returns fields of an inner value as fields of the value that has it at this path."""
    return tuple(field._replace(path=(*path_of(path), *field.path)) for field in fields)


CONFIG_MAP, SECRET, SERVICE, ACCOUNT = ("", "ConfigMap"), ("", "Secret"), ("", "Service"), ("", "ServiceAccount")
CLAIM, VOLUME = ("", "PersistentVolumeClaim"), ("", "PersistentVolume")
STORAGE_CLASS, ATTRIBUTES_CLASS = ("storage.k8s.io", "StorageClass"), ("storage.k8s.io", "VolumeAttributesClass")
PRIORITY_CLASS, RUNTIME_CLASS = ("scheduling.k8s.io", "PriorityClass"), ("node.k8s.io", "RuntimeClass")
INGRESS_CLASS = ("networking.k8s.io", "IngressClass")
DEVICE_CLASS, RESOURCE_CLAIM = ("resource.k8s.io", "DeviceClass"), ("resource.k8s.io", "ResourceClaim")
RESOURCE_CLAIM_TEMPLATE = ("resource.k8s.io", "ResourceClaimTemplate")
ROLE, CLUSTER_ROLE = (("rbac.authorization.k8s.io", kind) for kind in ("Role", "ClusterRole"))
DEPLOYMENT, STATEFUL_SET, REPLICA_SET = (("apps", kind) for kind in ("Deployment", "StatefulSet", "ReplicaSet"))
GATEWAY, ISTIO_GATEWAY = ("gateway.networking.k8s.io", "Gateway"), ("networking.istio.io", "Gateway")
POOL, OLD_POOL = ("inference.networking.k8s.io", "InferencePool"), ("inference.networking.x-k8s.io", "InferencePool")
TRIGGERS = (("keda.sh", "TriggerAuthentication"), ("keda.sh", "ClusterTriggerAuthentication"))
LEADER_WORKER_SET = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
SCALED = (DEPLOYMENT, STATEFUL_SET, REPLICA_SET, LEADER_WORKER_SET)
"""What an autoscaler scales."""

QUEUES: dict[str, Target] = {
    identity.KAI_QUEUE: ("scheduling.run.ai", "Queue"),
    identity.VOLCANO_QUEUE: ("scheduling.volcano.sh", "Queue"),
}
"""Labels and annotations of pods, and of the set, that name a queue of a scheduler."""
_CLUSTER_SCOPED = frozenset(
    {
        *QUEUES.values(),
        TRIGGERS[1],
        ("gateway.networking.k8s.io", "GatewayClass"),
        ("certificates.k8s.io", "ClusterTrustBundle"),
        ("grove.io", "ClusterTopology"),
    }
)
"""Kinds besides those of Kubernetes' v1 API whose objects are in no namespace."""
NO_OBJECTS = ("User", "Group")
"""Kinds of subjects that are no objects."""
BUILT_IN = frozenset(
    {
        (ACCOUNT, "default"),  # Kubernetes creates this one in each namespace
        (PRIORITY_CLASS, "system-cluster-critical"),
        (PRIORITY_CLASS, "system-node-critical"),
        (SERVICE, "kubernetes"),
        (ISTIO_GATEWAY, "mesh"),  # a reserved word of VirtualServices for all sidecars
    }
)
"""Objects that every cluster has, by kind and name."""

OF_VARIABLES = (
    *with_keys(SECRET, "key", "valueFrom.secretKeyRef.name"),
    *with_keys(CONFIG_MAP, "key", "valueFrom.configMapKeyRef.name"),
)
OF_CONTAINERS = (
    *below("env[]", OF_VARIABLES),
    *fields_of_kind(SECRET, "envFrom[].secretRef.name"),
    *fields_of_kind(CONFIG_MAP, "envFrom[].configMapRef.name"),
)
OF_CLAIM_SPECS = (
    *fields_of_kind(STORAGE_CLASS, "storageClassName"),
    *fields_of_kind(ATTRIBUTES_CLASS, "volumeAttributesClassName"),
    *fields_of_kind(VOLUME, "volumeName"),
    *fields_of_kinds((CLAIM, ("snapshot.storage.k8s.io", "VolumeSnapshot")), "dataSource.name", "dataSourceRef.name"),
)
_STORAGE = ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
"""Sources of volumes with a field `secretRef`."""
OF_PODS = (
    *below("initContainers[]", OF_CONTAINERS),
    *below("containers[]", OF_CONTAINERS),
    *below("ephemeralContainers[]", OF_CONTAINERS),
    *fields_of_kind(CLAIM, "volumes[].persistentVolumeClaim.claimName"),
    *with_keys(SECRET, "items[].key", "volumes[].secret.secretName"),
    *with_keys(CONFIG_MAP, "items[].key", "volumes[].configMap.name"),
    *with_keys(SECRET, "items[].key", "volumes[].projected.sources[].secret.name"),
    *with_keys(CONFIG_MAP, "items[].key", "volumes[].projected.sources[].configMap.name"),
    *fields_of_kind(("certificates.k8s.io", "ClusterTrustBundle"), "volumes[].projected.sources[].clusterTrustBundle.name"),
    *fields_of_kind(SECRET, "volumes[].csi.nodePublishSecretRef.name", "volumes[].azureFile.secretName"),
    *fields_of_kind(SECRET, *(f"volumes[].{source}.secretRef.name" for source in _STORAGE)),
    *fields_of_kind(("secrets-store.csi.x-k8s.io", "SecretProviderClass"), "volumes[].csi.volumeAttributes.secretProviderClass"),
    *below("volumes[].ephemeral.volumeClaimTemplate.spec", OF_CLAIM_SPECS),
    *fields_of_kind(SECRET, "imagePullSecrets[].name"),
    *fields_of_kind(ACCOUNT, "serviceAccountName"),
    *fields_of_kind(PRIORITY_CLASS, "priorityClassName"),
    *fields_of_kind(RUNTIME_CLASS, "runtimeClassName"),
    *fields_of_kind(RESOURCE_CLAIM, "resourceClaims[].resourceClaimName"),
    *fields_of_kind(RESOURCE_CLAIM_TEMPLATE, "resourceClaims[].resourceClaimTemplateName"),
    *fields_of_kind(("scheduling.k8s.io", "PodGroup"), "schedulingGroup.podGroupName"),
)

_DEVICES = fields_of_kind(
    DEVICE_CLASS,
    *(f"devices.requests[].{holder}deviceClassName" for holder in ("exactly.", "firstAvailable[].", "")),  # the last one in v1beta1
)
_TLS = (
    *fields_of_kind(SECRET, "ca.secret.name", "cert.secret.name", "keySecret.name"),
    *fields_of_kind(CONFIG_MAP, "ca.configMap.name", "cert.configMap.name"),
)
_ENDPOINT = (
    *fields_of_kind(
        SECRET, "basicAuth.username.name", "basicAuth.password.name", "bearerTokenSecret.name", "authorization.credentials.name"
    ),
    *fields_of_kind(SECRET, "oauth2.clientId.secret.name", "oauth2.clientSecret.name"),
    *fields_of_kind(CONFIG_MAP, "oauth2.clientId.configMap.name"),
    *below("tlsConfig", _TLS),
)
_ROUTE = (
    *fields_of_kinds((GATEWAY, SERVICE), "spec.parentRefs[].name"),
    *fields_of_kinds((SERVICE, POOL, OLD_POOL), "spec.rules[].backendRefs[].name", "spec.rules[].filters[].requestMirror.backendRef.name"),
)
_SUBJECTS = fields_of_kinds((ACCOUNT,), "subjects[].name")
_WEBHOOK = fields_of_kind(SERVICE, "webhooks[].clientConfig.service.name")
_CSI_SECRETS = ("controllerExpand", "controllerPublish", "nodeExpand", "nodePublish", "nodeStage")

BY_KIND: dict[Target, tuple[NameField, ...]] = {
    ("", "PersistentVolume"): (
        *fields_of_kinds((CLAIM,), "spec.claimRef.name"),
        *fields_of_kind(STORAGE_CLASS, "spec.storageClassName"),
        *fields_of_kind(ATTRIBUTES_CLASS, "spec.volumeAttributesClassName"),
        *fields_of_kind(SECRET, *(f"spec.csi.{use}SecretRef.name" for use in _CSI_SECRETS), "spec.azureFile.secretName"),
        *fields_of_kind(SECRET, *(f"spec.{source}.secretRef.name" for source in _STORAGE)),
    ),
    CLAIM: below("spec", OF_CLAIM_SPECS),
    ACCOUNT: fields_of_kind(SECRET, "secrets[].name", "imagePullSecrets[].name"),
    ("apiregistration.k8s.io", "APIService"): fields_of_kind(SERVICE, "spec.service.name"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOK,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOK,
    STATEFUL_SET: (*fields_of_kind(SERVICE, "spec.serviceName"), *below("spec.volumeClaimTemplates[].spec", OF_CLAIM_SPECS)),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        *fields_of_kinds(SCALED, "spec.scaleTargetRef.name"),
        *fields_of_kinds((SERVICE,), "spec.metrics[].object.describedObject.name"),
    ),
    ("networking.k8s.io", "Ingress"): (
        *fields_of_kind(INGRESS_CLASS, "spec.ingressClassName"),
        *fields_of_kind(SECRET, "spec.tls[].secretName"),
        *fields_of_kind(SERVICE, "spec.defaultBackend.service.name", "spec.rules[].http.paths[].backend.service.name"),
        *fields_of_kinds((), "spec.defaultBackend.resource.name", "spec.rules[].http.paths[].backend.resource.name"),
    ),
    INGRESS_CLASS: fields_of_kinds((), "spec.parameters.name"),
    ("rbac.authorization.k8s.io", "RoleBinding"): (*fields_of_kinds((ROLE, CLUSTER_ROLE), "roleRef.name"), *_SUBJECTS),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (*fields_of_kinds((CLUSTER_ROLE,), "roleRef.name"), *_SUBJECTS),
    RESOURCE_CLAIM: below("spec", _DEVICES),
    RESOURCE_CLAIM_TEMPLATE: below("spec.spec", _DEVICES),
    ("grove.io", "PodCliqueSet"): (
        *fields_of_kind(PRIORITY_CLASS, "spec.template.priorityClassName"),
        *below("spec.template.resourceClaimTemplates[].templateSpec.spec", _DEVICES),
    ),
    ("keda.sh", "ScaledObject"): (
        *fields_of_kinds(SCALED, "spec.scaleTargetRef.name"),
        *fields_of_kinds(TRIGGERS, "spec.triggers[].authenticationRef.name"),
    ),
    ("keda.sh", "ScaledJob"): (
        *fields_of_kinds(TRIGGERS, "spec.triggers[].authenticationRef.name"),
        *below("spec.jobTargetRef.template.spec", OF_PODS),
    ),
    **dict.fromkeys(
        TRIGGERS, (*fields_of_kind(SECRET, "spec.secretTargetRef[].name"), *fields_of_kind(CONFIG_MAP, "spec.configMapTargetRef[].name"))
    ),
    ("gateway.networking.k8s.io", "HTTPRoute"): _ROUTE,
    ("gateway.networking.k8s.io", "GRPCRoute"): _ROUTE,
    GATEWAY: (
        *fields_of_kind(("gateway.networking.k8s.io", "GatewayClass"), "spec.gatewayClassName"),
        *fields_of_kinds((SECRET,), "spec.listeners[].tls.certificateRefs[].name"),
    ),
    POOL: fields_of_kinds((SERVICE,), "spec.endpointPickerRef.name"),
    OLD_POOL: fields_of_kinds((SERVICE,), "spec.extensionRef.name"),
    ("inference.networking.x-k8s.io", "InferenceModel"): fields_of_kinds((OLD_POOL,), "spec.poolRef.name"),
    ("inference.networking.x-k8s.io", "InferenceObjective"): fields_of_kinds((POOL,), "spec.poolRef.name"),
    ("monitoring.coreos.com", "PodMonitor"): below("spec.podMetricsEndpoints[]", _ENDPOINT),
    ("monitoring.coreos.com", "ServiceMonitor"): below("spec.endpoints[]", _ENDPOINT),
    ("networking.istio.io", "VirtualService"): (
        *fields_of_kind(
            SERVICE, *(f"spec.{protocol}[].route[].destination.host" for protocol in ("http", "tcp", "tls")), "spec.http[].mirror.host"
        ),
        *fields_of_kind(ISTIO_GATEWAY, "spec.gateways[]"),
    ),
    ("networking.istio.io", "DestinationRule"): fields_of_kind(SERVICE, "spec.host"),
    ISTIO_GATEWAY: fields_of_kind(SECRET, "spec.servers[].tls.credentialName"),
}
"""The fields outside of pods, by group and kind."""

_POD = TemplatePath(("metadata",), ("spec",))
TEMPLATES: dict[str, tuple[TemplatePath, ...]] = {
    "Pod": (_POD,),
    "PodTemplate": (TemplatePath(path_of("template.metadata"), path_of("template.spec")),),
    "CronJob": (TemplatePath(path_of("spec.jobTemplate.spec.template.metadata"), path_of("spec.jobTemplate.spec.template.spec")),),
}
"""The pod templates of kinds that have them elsewhere than `paths.POD_TEMPLATES`."""

WORKLOADS: dict[Target, tuple[TemplatePath, ...]] = {
    ("", "Pod"): TEMPLATES["Pod"],
    ("", "PodTemplate"): TEMPLATES["PodTemplate"],
    **{("apps", kind): paths.NATIVE_TEMPLATES for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")},
    ("", "ReplicationController"): paths.NATIVE_TEMPLATES,
    ("batch", "Job"): paths.NATIVE_TEMPLATES,
    ("batch", "CronJob"): TEMPLATES["CronJob"],
    LEADER_WORKER_SET: paths.GROUP_TEMPLATES,
    ("grove.io", "PodCliqueSet"): paths.CLIQUE_TEMPLATES,
    ("disaggregatedset.x-k8s.io", "DisaggregatedSet"): paths.ROLE_TEMPLATES,
}
"""The pod templates of all kinds that have one, by group and kind."""


def is_namespaced(group: str, kind: str) -> bool:
    """Returns true if objects of a kind are in a namespace."""
    return (group, kind) not in identity.CLUSTER_SCOPED and (group, kind) not in _CLUSTER_SCOPED
