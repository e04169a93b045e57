"""The fields that name another object, by kind. The sources are the API references of Kubernetes v1.36 and of each other API.

A path is written with dots, and `[]` after a list. tests/kubernetes/test_references.py compares the table with the schemas of Kubernetes.
"""

from __future__ import annotations

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, metadata, paths
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


def _names(target: Target, *fields: str) -> tuple[NameField, ...]:
    return tuple(NameField(path_of(field), (target,)) for field in fields)


def _with_keys(target: Target, key: str, *fields: str) -> tuple[NameField, ...]:
    return tuple(NameField(path_of(field), (target,), keys=(path_of(key),)) for field in fields)


def _typed(targets: tuple[Target, ...], *fields: str) -> tuple[NameField, ...]:
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
GRAPH, ADAPTER = ((identity.DYNAMO_GROUP, kind) for kind in (identity.GRAPH, identity.ADAPTER))
LEADER_WORKER_SET = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
SCALED = (DEPLOYMENT, STATEFUL_SET, REPLICA_SET, LEADER_WORKER_SET, ADAPTER)
"""What an autoscaler scales."""

QUEUES: dict[str, Target] = {
    metadata.KAI_QUEUE: ("scheduling.run.ai", "Queue"),
    metadata.VOLCANO_QUEUE: ("scheduling.volcano.sh", "Queue"),
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
    *_with_keys(SECRET, "key", "valueFrom.secretKeyRef.name"),
    *_with_keys(CONFIG_MAP, "key", "valueFrom.configMapKeyRef.name"),
)
OF_CONTAINERS = (
    *below("env[]", OF_VARIABLES),
    *_names(SECRET, "envFrom[].secretRef.name"),
    *_names(CONFIG_MAP, "envFrom[].configMapRef.name"),
)
OF_CLAIM_SPECS = (
    *_names(STORAGE_CLASS, "storageClassName"),
    *_names(ATTRIBUTES_CLASS, "volumeAttributesClassName"),
    *_names(VOLUME, "volumeName"),
    *_typed((CLAIM, ("snapshot.storage.k8s.io", "VolumeSnapshot")), "dataSource.name", "dataSourceRef.name"),
)
_STORAGE = ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
"""Sources of volumes with a field `secretRef`."""
OF_PODS = (
    *below("initContainers[]", OF_CONTAINERS),
    *below("containers[]", OF_CONTAINERS),
    *below("ephemeralContainers[]", OF_CONTAINERS),
    *_names(CLAIM, "volumes[].persistentVolumeClaim.claimName"),
    *_with_keys(SECRET, "items[].key", "volumes[].secret.secretName"),
    *_with_keys(CONFIG_MAP, "items[].key", "volumes[].configMap.name"),
    *_with_keys(SECRET, "items[].key", "volumes[].projected.sources[].secret.name"),
    *_with_keys(CONFIG_MAP, "items[].key", "volumes[].projected.sources[].configMap.name"),
    *_names(("certificates.k8s.io", "ClusterTrustBundle"), "volumes[].projected.sources[].clusterTrustBundle.name"),
    *_names(SECRET, "volumes[].csi.nodePublishSecretRef.name", "volumes[].azureFile.secretName"),
    *_names(SECRET, *(f"volumes[].{source}.secretRef.name" for source in _STORAGE)),
    *_names(("secrets-store.csi.x-k8s.io", "SecretProviderClass"), "volumes[].csi.volumeAttributes.secretProviderClass"),
    *below("volumes[].ephemeral.volumeClaimTemplate.spec", OF_CLAIM_SPECS),
    *_names(SECRET, "imagePullSecrets[].name"),
    *_names(ACCOUNT, "serviceAccountName"),
    *_names(PRIORITY_CLASS, "priorityClassName"),
    *_names(RUNTIME_CLASS, "runtimeClassName"),
    *_names(RESOURCE_CLAIM, "resourceClaims[].resourceClaimName"),
    *_names(RESOURCE_CLAIM_TEMPLATE, "resourceClaims[].resourceClaimTemplateName"),
    *_names(("scheduling.k8s.io", "PodGroup"), "schedulingGroup.podGroupName"),
)

_DEVICES = _names(
    DEVICE_CLASS,
    *(f"devices.requests[].{holder}deviceClassName" for holder in ("exactly.", "firstAvailable[].", "")),  # the last one in v1beta1
)
_TLS = (
    *_names(SECRET, "ca.secret.name", "cert.secret.name", "keySecret.name"),
    *_names(CONFIG_MAP, "ca.configMap.name", "cert.configMap.name"),
)
_ENDPOINT = (
    *_names(SECRET, "basicAuth.username.name", "basicAuth.password.name", "bearerTokenSecret.name", "authorization.credentials.name"),
    *_names(SECRET, "oauth2.clientId.secret.name", "oauth2.clientSecret.name"),
    *_names(CONFIG_MAP, "oauth2.clientId.configMap.name"),
    *below("tlsConfig", _TLS),
)
_ROUTE = (
    *_typed((GATEWAY, SERVICE), "spec.parentRefs[].name"),
    *_typed((SERVICE, POOL, OLD_POOL), "spec.rules[].backendRefs[].name", "spec.rules[].filters[].requestMirror.backendRef.name"),
)
_SUBJECTS = _typed((ACCOUNT,), "subjects[].name")
_WEBHOOK = _names(SERVICE, "webhooks[].clientConfig.service.name")
_CSI_SECRETS = ("controllerExpand", "controllerPublish", "nodeExpand", "nodePublish", "nodeStage")

OF_V1ALPHA1_COMPONENTS = (
    *_names(CONFIG_MAP, "eppConfig.configMapRef.name"),
    *_names(SECRET, "envFromSecret", "ingress.tls.secretName", "frontendSidecar.envFromSecret"),
    *_names(INGRESS_CLASS, "ingress.ingressControllerClassName"),
    *_names(CLAIM, "volumeMounts[].name"),
    *_names(DEVICE_CLASS, "gpuMemoryService.deviceClassName"),
    *below("envs[]", OF_VARIABLES),
    *below("frontendSidecar.envs[]", OF_VARIABLES),
    *below("extraPodSpec", (*OF_PODS, *below("mainContainer", OF_CONTAINERS))),
)
OF_V1BETA1_COMPONENTS = (
    *_names(CONFIG_MAP, "eppConfig.configMapRef.name"),
    *_names(CLAIM, "compilationCache.pvcName"),
    *_names(DEVICE_CLASS, "experimental.gpuMemoryService.deviceClassName"),
    *below("podTemplate.spec", OF_PODS),
)

BY_KIND: dict[Target, tuple[NameField, ...]] = {
    ("", "PersistentVolume"): (
        *_typed((CLAIM,), "spec.claimRef.name"),
        *_names(STORAGE_CLASS, "spec.storageClassName"),
        *_names(ATTRIBUTES_CLASS, "spec.volumeAttributesClassName"),
        *_names(SECRET, *(f"spec.csi.{use}SecretRef.name" for use in _CSI_SECRETS), "spec.azureFile.secretName"),
        *_names(SECRET, *(f"spec.{source}.secretRef.name" for source in _STORAGE)),
    ),
    CLAIM: below("spec", OF_CLAIM_SPECS),
    ACCOUNT: _names(SECRET, "secrets[].name", "imagePullSecrets[].name"),
    ("apiregistration.k8s.io", "APIService"): _names(SERVICE, "spec.service.name"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _WEBHOOK,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _WEBHOOK,
    STATEFUL_SET: (*_names(SERVICE, "spec.serviceName"), *below("spec.volumeClaimTemplates[].spec", OF_CLAIM_SPECS)),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        *_typed(SCALED, "spec.scaleTargetRef.name"),
        *_typed((SERVICE,), "spec.metrics[].object.describedObject.name"),
    ),
    ("networking.k8s.io", "Ingress"): (
        *_names(INGRESS_CLASS, "spec.ingressClassName"),
        *_names(SECRET, "spec.tls[].secretName"),
        *_names(SERVICE, "spec.defaultBackend.service.name", "spec.rules[].http.paths[].backend.service.name"),
        *_typed((), "spec.defaultBackend.resource.name", "spec.rules[].http.paths[].backend.resource.name"),
    ),
    INGRESS_CLASS: _typed((), "spec.parameters.name"),
    ("rbac.authorization.k8s.io", "RoleBinding"): (*_typed((ROLE, CLUSTER_ROLE), "roleRef.name"), *_SUBJECTS),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (*_typed((CLUSTER_ROLE,), "roleRef.name"), *_SUBJECTS),
    RESOURCE_CLAIM: below("spec", _DEVICES),
    RESOURCE_CLAIM_TEMPLATE: below("spec.spec", _DEVICES),
    ("grove.io", "PodCliqueSet"): (
        *_names(PRIORITY_CLASS, "spec.template.priorityClassName"),
        *below("spec.template.resourceClaimTemplates[].templateSpec.spec", _DEVICES),
    ),
    ("keda.sh", "ScaledObject"): (
        *_typed(SCALED, "spec.scaleTargetRef.name"),
        *_typed(TRIGGERS, "spec.triggers[].authenticationRef.name"),
    ),
    ("keda.sh", "ScaledJob"): (
        *_typed(TRIGGERS, "spec.triggers[].authenticationRef.name"),
        *below("spec.jobTargetRef.template.spec", OF_PODS),
    ),
    **dict.fromkeys(TRIGGERS, (*_names(SECRET, "spec.secretTargetRef[].name"), *_names(CONFIG_MAP, "spec.configMapTargetRef[].name"))),
    ("gateway.networking.k8s.io", "HTTPRoute"): _ROUTE,
    ("gateway.networking.k8s.io", "GRPCRoute"): _ROUTE,
    GATEWAY: (
        *_names(("gateway.networking.k8s.io", "GatewayClass"), "spec.gatewayClassName"),
        *_typed((SECRET,), "spec.listeners[].tls.certificateRefs[].name"),
    ),
    POOL: _typed((SERVICE,), "spec.endpointPickerRef.name"),
    OLD_POOL: _typed((SERVICE,), "spec.extensionRef.name"),
    ("inference.networking.x-k8s.io", "InferenceModel"): _typed((OLD_POOL,), "spec.poolRef.name"),
    ("inference.networking.x-k8s.io", "InferenceObjective"): _typed((POOL,), "spec.poolRef.name"),
    ("monitoring.coreos.com", "PodMonitor"): below("spec.podMetricsEndpoints[]", _ENDPOINT),
    ("monitoring.coreos.com", "ServiceMonitor"): below("spec.endpoints[]", _ENDPOINT),
    ("networking.istio.io", "VirtualService"): (
        *_names(
            SERVICE, *(f"spec.{protocol}[].route[].destination.host" for protocol in ("http", "tcp", "tls")), "spec.http[].mirror.host"
        ),
        *_names(ISTIO_GATEWAY, "spec.gateways[]"),
    ),
    ("networking.istio.io", "DestinationRule"): _names(SERVICE, "spec.host"),
    ISTIO_GATEWAY: _names(SECRET, "spec.servers[].tls.credentialName"),
    GRAPH: (
        *_names(PRIORITY_CLASS, "spec.priorityClassName"),
        *_names(CLAIM, "spec.pvcs[].name"),
        *below("spec.envs[]", OF_VARIABLES),
        *below("spec.env[]", OF_VARIABLES),
        *below(f"spec.services.{EVERY}", OF_V1ALPHA1_COMPONENTS),
        *below("spec.components[]", OF_V1BETA1_COMPONENTS),
    ),
    (identity.DYNAMO_GROUP, identity.COMPONENT): (*below("spec", OF_V1ALPHA1_COMPONENTS), *below("spec", OF_V1BETA1_COMPONENTS)),
    ADAPTER: _names(GRAPH, "spec.dgdRef.name"),
    (identity.DYNAMO_GROUP, identity.REQUEST): (
        *_names(CONFIG_MAP, "spec.profilingConfig.configMapRef.name"),
        *_names(CLAIM, "spec.profilingConfig.outputPVC", "spec.modelCache.pvcName"),
        *below("spec.overrides.profilingJob.template.spec", OF_PODS),
    ),
}
"""The fields outside of pods, by group and kind. Those of Dynamo's kinds are the fields of both API versions."""

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
}
"""The pod templates of all kinds that have one, by group and kind."""


def is_namespaced(group: str, kind: str) -> bool:
    """Returns true if objects of a kind are in a namespace."""
    return (group, kind) not in identity.CLUSTER_SCOPED and (group, kind) not in _CLUSTER_SCOPED
