"""The types of native objects, for the type checker. At run time every object is a plain dict.

Made from krm_fn/schemas/generate/native.json by `make generate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import IntOrString, Quantity


class ConfigMapKeySelector(TypedDict, total=False):
    """`io.k8s.api.core.v1.ConfigMapKeySelector`."""

    key: str
    name: str
    optional: bool


class ConfigMapVolumeSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.ConfigMapVolumeSource`."""

    defaultMode: int
    items: list[dict[str, Any]]
    name: str
    optional: bool


class Container(TypedDict, total=False):
    """`io.k8s.api.core.v1.Container`."""

    args: list[str]
    command: list[str]
    env: list[EnvVar]
    envFrom: list[EnvFromSource]
    image: str
    imagePullPolicy: str
    lifecycle: dict[str, Any]
    livenessProbe: Probe
    name: str
    ports: list[ContainerPort]
    readinessProbe: Probe
    resizePolicy: list[dict[str, Any]]
    resources: ResourceRequirements
    restartPolicy: str
    restartPolicyRules: list[dict[str, Any]]
    securityContext: dict[str, Any]
    startupProbe: Probe
    stdin: bool
    stdinOnce: bool
    terminationMessagePath: str
    terminationMessagePolicy: str
    tty: bool
    volumeDevices: list[dict[str, Any]]
    volumeMounts: list[VolumeMount]
    workingDir: str


class ContainerPort(TypedDict, total=False):
    """`io.k8s.api.core.v1.ContainerPort`."""

    containerPort: int
    hostIP: str
    hostPort: int
    name: str
    protocol: str


class EmptyDirVolumeSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.EmptyDirVolumeSource`."""

    medium: str
    sizeLimit: Quantity


class EnvFromSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.EnvFromSource`."""

    configMapRef: dict[str, Any]
    prefix: str
    secretRef: dict[str, Any]


class EnvVar(TypedDict, total=False):
    """`io.k8s.api.core.v1.EnvVar`."""

    name: str
    value: str
    valueFrom: EnvVarSource


class EnvVarSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.EnvVarSource`."""

    configMapKeyRef: ConfigMapKeySelector
    fieldRef: ObjectFieldSelector
    fileKeyRef: dict[str, Any]
    resourceFieldRef: ResourceFieldSelector
    secretKeyRef: SecretKeySelector


class EphemeralVolumeSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.EphemeralVolumeSource`."""

    volumeClaimTemplate: PersistentVolumeClaimTemplate


class ExecAction(TypedDict, total=False):
    """`io.k8s.api.core.v1.ExecAction`."""

    command: list[str]


class GRPCAction(TypedDict, total=False):
    """`io.k8s.api.core.v1.GRPCAction`."""

    port: int
    service: str


class HTTPGetAction(TypedDict, total=False):
    """`io.k8s.api.core.v1.HTTPGetAction`."""

    host: str
    httpHeaders: list[dict[str, Any]]
    path: str
    port: IntOrString
    scheme: str


class LocalObjectReference(TypedDict, total=False):
    """`io.k8s.api.core.v1.LocalObjectReference`."""

    name: str


class ObjectFieldSelector(TypedDict, total=False):
    """`io.k8s.api.core.v1.ObjectFieldSelector`."""

    apiVersion: str
    fieldPath: str


class ObjectMeta(TypedDict, total=False):
    """`io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`."""

    annotations: dict[str, str]
    creationTimestamp: str
    deletionGracePeriodSeconds: int
    deletionTimestamp: str
    finalizers: list[str]
    generateName: str
    generation: int
    labels: dict[str, str]
    managedFields: list[dict[str, Any]]
    name: str
    namespace: str
    ownerReferences: list[dict[str, Any]]
    resourceVersion: str
    selfLink: str
    uid: str


class PersistentVolumeClaimSpec(TypedDict, total=False):
    """`io.k8s.api.core.v1.PersistentVolumeClaimSpec`."""

    accessModes: list[str]
    dataSource: dict[str, Any]
    dataSourceRef: dict[str, Any]
    resources: ResourceRequirements
    selector: dict[str, Any]
    storageClassName: str
    volumeAttributesClassName: str
    volumeMode: str
    volumeName: str


class PersistentVolumeClaimTemplate(TypedDict, total=False):
    """`io.k8s.api.core.v1.PersistentVolumeClaimTemplate`."""

    metadata: ObjectMeta
    spec: PersistentVolumeClaimSpec


class PersistentVolumeClaimVolumeSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource`."""

    claimName: str
    readOnly: bool


class PodDNSConfig(TypedDict, total=False):
    """`io.k8s.api.core.v1.PodDNSConfig`."""

    nameservers: list[str]
    options: list[dict[str, Any]]
    searches: list[str]


class PodResourceClaim(TypedDict, total=False):
    """`io.k8s.api.core.v1.PodResourceClaim`."""

    name: str
    resourceClaimName: str
    resourceClaimTemplateName: str


class PodSecurityContext(TypedDict, total=False):
    """`io.k8s.api.core.v1.PodSecurityContext`."""

    appArmorProfile: dict[str, Any]
    fsGroup: int
    fsGroupChangePolicy: str
    runAsGroup: int
    runAsNonRoot: bool
    runAsUser: int
    seLinuxChangePolicy: str
    seLinuxOptions: dict[str, Any]
    seccompProfile: dict[str, Any]
    supplementalGroups: list[int]
    supplementalGroupsPolicy: str
    sysctls: list[dict[str, Any]]
    windowsOptions: dict[str, Any]


class PodSpec(TypedDict, total=False):
    """`io.k8s.api.core.v1.PodSpec`."""

    activeDeadlineSeconds: int
    affinity: dict[str, Any]
    automountServiceAccountToken: bool
    containers: list[Container]
    dnsConfig: PodDNSConfig
    dnsPolicy: str
    enableServiceLinks: bool
    ephemeralContainers: list[Container]
    hostAliases: list[dict[str, Any]]
    hostIPC: bool
    hostNetwork: bool
    hostPID: bool
    hostUsers: bool
    hostname: str
    hostnameOverride: str
    imagePullSecrets: list[LocalObjectReference]
    initContainers: list[Container]
    nodeName: str
    nodeSelector: dict[str, str]
    os: dict[str, Any]
    overhead: dict[str, Quantity]
    preemptionPolicy: str
    priority: int
    priorityClassName: str
    readinessGates: list[dict[str, Any]]
    resourceClaims: list[PodResourceClaim]
    resources: ResourceRequirements
    restartPolicy: str
    runtimeClassName: str
    schedulerName: str
    schedulingGates: list[dict[str, Any]]
    schedulingGroup: dict[str, Any]
    securityContext: PodSecurityContext
    serviceAccount: str
    serviceAccountName: str
    setHostnameAsFQDN: bool
    shareProcessNamespace: bool
    subdomain: str
    terminationGracePeriodSeconds: int
    tolerations: list[Toleration]
    topologySpreadConstraints: list[dict[str, Any]]
    volumes: list[Volume]


class PodTemplateSpec(TypedDict, total=False):
    """`io.k8s.api.core.v1.PodTemplateSpec`."""

    metadata: ObjectMeta
    spec: PodSpec


class Probe(TypedDict, total=False):
    """`io.k8s.api.core.v1.Probe`."""

    exec: ExecAction
    failureThreshold: int
    grpc: GRPCAction
    httpGet: HTTPGetAction
    initialDelaySeconds: int
    periodSeconds: int
    successThreshold: int
    tcpSocket: TCPSocketAction
    terminationGracePeriodSeconds: int
    timeoutSeconds: int


class ResourceClaim(TypedDict, total=False):
    """`io.k8s.api.core.v1.ResourceClaim`."""

    name: str
    request: str


class ResourceFieldSelector(TypedDict, total=False):
    """`io.k8s.api.core.v1.ResourceFieldSelector`."""

    containerName: str
    divisor: Quantity
    resource: str


class ResourceRequirements(TypedDict, total=False):
    """`io.k8s.api.core.v1.ResourceRequirements`."""

    claims: list[ResourceClaim]
    limits: dict[str, Quantity]
    requests: dict[str, Quantity]


class SecretKeySelector(TypedDict, total=False):
    """`io.k8s.api.core.v1.SecretKeySelector`."""

    key: str
    name: str
    optional: bool


class SecretVolumeSource(TypedDict, total=False):
    """`io.k8s.api.core.v1.SecretVolumeSource`."""

    defaultMode: int
    items: list[dict[str, Any]]
    optional: bool
    secretName: str


class TCPSocketAction(TypedDict, total=False):
    """`io.k8s.api.core.v1.TCPSocketAction`."""

    host: str
    port: IntOrString


class Toleration(TypedDict, total=False):
    """`io.k8s.api.core.v1.Toleration`."""

    effect: str
    key: str
    operator: str
    tolerationSeconds: int
    value: str


class Volume(TypedDict, total=False):
    """`io.k8s.api.core.v1.Volume`."""

    awsElasticBlockStore: dict[str, Any]
    azureDisk: dict[str, Any]
    azureFile: dict[str, Any]
    cephfs: dict[str, Any]
    cinder: dict[str, Any]
    configMap: ConfigMapVolumeSource
    csi: dict[str, Any]
    downwardAPI: dict[str, Any]
    emptyDir: EmptyDirVolumeSource
    ephemeral: EphemeralVolumeSource
    fc: dict[str, Any]
    flexVolume: dict[str, Any]
    flocker: dict[str, Any]
    gcePersistentDisk: dict[str, Any]
    gitRepo: dict[str, Any]
    glusterfs: dict[str, Any]
    hostPath: dict[str, Any]
    image: dict[str, Any]
    iscsi: dict[str, Any]
    name: str
    nfs: dict[str, Any]
    persistentVolumeClaim: PersistentVolumeClaimVolumeSource
    photonPersistentDisk: dict[str, Any]
    portworxVolume: dict[str, Any]
    projected: dict[str, Any]
    quobyte: dict[str, Any]
    rbd: dict[str, Any]
    scaleIO: dict[str, Any]
    secret: SecretVolumeSource
    storageos: dict[str, Any]
    vsphereVolume: dict[str, Any]


class VolumeMount(TypedDict, total=False):
    """`io.k8s.api.core.v1.VolumeMount`."""

    mountPath: str
    mountPropagation: str
    name: str
    readOnly: bool
    recursiveReadOnly: str
    subPath: str
    subPathExpr: str
