"""The types of a container and of its fields, for the type checker. Other modules import them from `krm_fn.kube.types`."""

from __future__ import annotations

from typing import Any, TypedDict

IntOrString = int | str
Quantity = str | int | float
Quantities = dict[str, Quantity]


class LocalReference(TypedDict, total=False):
    """`LocalObjectReference`, and the sources of variables that name a whole Secret or ConfigMap."""

    name: str
    optional: bool


class KeySelector(TypedDict, total=False):
    """`SecretKeySelector` and `ConfigMapKeySelector`."""

    name: str
    key: str
    optional: bool


class FieldSelector(TypedDict, total=False):
    """`ObjectFieldSelector`."""

    apiVersion: str
    fieldPath: str


class ResourceFieldSelector(TypedDict, total=False):
    """The amount of a resource as the value of a variable."""

    containerName: str
    resource: str
    divisor: Quantity


class EnvVarSource(TypedDict, total=False):
    """The source of a variable's value."""

    fieldRef: FieldSelector
    resourceFieldRef: ResourceFieldSelector
    secretKeyRef: KeySelector
    configMapKeyRef: KeySelector
    fileKeyRef: dict[str, Any]


class EnvVar(TypedDict, total=False):
    """One environment variable."""

    name: str
    value: str
    valueFrom: EnvVarSource


class EnvFromSource(TypedDict, total=False):
    """All keys of a Secret or ConfigMap as environment variables."""

    prefix: str
    secretRef: LocalReference
    configMapRef: LocalReference


class ExecAction(TypedDict, total=False):
    """A command that Kubernetes runs in the container."""

    command: list[str]


class HTTPGetAction(TypedDict, total=False):
    """An HTTP request to the container."""

    path: str
    port: IntOrString
    host: str
    scheme: str
    httpHeaders: list[dict[str, str]]


class TCPSocketAction(TypedDict, total=False):
    """A TCP connection to the container."""

    port: IntOrString
    host: str


class GRPCAction(TypedDict, total=False):
    """A gRPC health request to the container."""

    port: int
    service: str


class Probe(TypedDict, total=False):
    """A probe: one handler, and its times in seconds."""

    exec: ExecAction
    httpGet: HTTPGetAction
    tcpSocket: TCPSocketAction
    grpc: GRPCAction
    initialDelaySeconds: int
    periodSeconds: int
    timeoutSeconds: int
    failureThreshold: int
    successThreshold: int
    terminationGracePeriodSeconds: int


class ContainerPort(TypedDict, total=False):
    """A port on which a container listens."""

    name: str
    containerPort: int
    hostPort: int
    hostIP: str
    protocol: str


class ResourceClaim(TypedDict, total=False):
    """A resource claim of the pod that a container uses."""

    name: str
    request: str


class Resources(TypedDict, total=False):
    """`ResourceRequirements`."""

    limits: Quantities
    requests: Quantities
    claims: list[ResourceClaim]


class VolumeMount(TypedDict, total=False):
    """A volume mounted into a container."""

    name: str
    mountPath: str
    subPath: str
    subPathExpr: str
    readOnly: bool
    recursiveReadOnly: str
    mountPropagation: str


class Container(TypedDict, total=False):
    """A container of a pod."""

    name: str
    image: str
    imagePullPolicy: str
    command: list[str]
    args: list[str]
    workingDir: str
    env: list[EnvVar]
    envFrom: list[EnvFromSource]
    terminationMessagePolicy: str
    ports: list[ContainerPort]
    resources: Resources
    volumeMounts: list[VolumeMount]
    livenessProbe: Probe
    readinessProbe: Probe
    startupProbe: Probe
    lifecycle: dict[str, Any]
    securityContext: dict[str, Any]
    restartPolicy: str
    stdin: bool
    tty: bool
