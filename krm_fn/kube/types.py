"""The types of Kubernetes objects, for the type checker. At run time every object is a plain dict.

Fields have the names and types of the Kubernetes API. Volumes and metadata list only the fields that the code reads or writes; all other
fields of an object pass through unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict

    Resource = dict[str, Any]  # a whole object of any kind
    Labels = dict[str, str]
    IntOrString = int | str
    Quantity = str | int | float
    Quantities = dict[str, Quantity]
    Role = Literal["main", "leader", "worker"]
    ProbeName = Literal["livenessProbe", "readinessProbe", "startupProbe"]
    WordsField = Literal["command", "args"]
    ResourceSide = Literal["limits", "requests"]
    HandlerName = Literal["exec", "httpGet", "tcpSocket", "grpc"]

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

    class SecretVolume(TypedDict, total=False):
        """`SecretVolumeSource`."""

        secretName: str
        defaultMode: int

    class ConfigMapVolume(TypedDict, total=False):
        """`ConfigMapVolumeSource`."""

        name: str
        items: list[dict[str, Any]]
        defaultMode: int

    class ClaimVolume(TypedDict, total=False):
        """`PersistentVolumeClaimVolumeSource`."""

        claimName: str
        readOnly: bool

    class EmptyDirVolume(TypedDict, total=False):
        """`EmptyDirVolumeSource`."""

        medium: str
        sizeLimit: Quantity

    class EphemeralVolume(TypedDict, total=False):
        """`EphemeralVolumeSource`."""

        volumeClaimTemplate: ClaimTemplate

    class ClaimTemplate(TypedDict, total=False):
        """`PersistentVolumeClaimTemplate`."""

        metadata: Metadata
        spec: ClaimSpec

    class ClaimSpec(TypedDict, total=False):
        """`PersistentVolumeClaimSpec`."""

        accessModes: list[str]
        resources: Resources
        storageClassName: str

    class Volume(TypedDict, total=False):
        """A volume of a pod."""

        name: str
        secret: SecretVolume
        configMap: ConfigMapVolume
        persistentVolumeClaim: ClaimVolume
        emptyDir: EmptyDirVolume
        ephemeral: EphemeralVolume
        hostPath: dict[str, str]

    class Toleration(TypedDict, total=False):
        """A taint that the pod tolerates."""

        key: str
        operator: str
        value: str
        effect: str
        tolerationSeconds: int

    class PodResourceClaim(TypedDict, total=False):
        """A resource claim of a pod."""

        name: str
        resourceClaimName: str
        resourceClaimTemplateName: str

    class PodSecurityContext(TypedDict, total=False):
        """The security settings of all containers of a pod."""

        fsGroup: int
        runAsNonRoot: bool
        runAsUser: int
        runAsGroup: int

    class DNSConfig(TypedDict, total=False):
        """`PodDNSConfig`."""

        nameservers: list[str]

    class PodSpec(TypedDict, total=False):
        """A pod."""

        containers: list[Container]
        initContainers: list[Container]
        ephemeralContainers: list[Container]
        volumes: list[Volume]
        resources: Resources
        resourceClaims: list[PodResourceClaim]
        overhead: Quantities
        serviceAccountName: str
        imagePullSecrets: list[LocalReference]
        securityContext: PodSecurityContext
        restartPolicy: str
        terminationGracePeriodSeconds: int
        activeDeadlineSeconds: int
        shareProcessNamespace: bool
        schedulerName: str
        nodeName: str
        nodeSelector: Labels
        tolerations: list[Toleration]
        topologySpreadConstraints: list[dict[str, Any]]
        dnsPolicy: str
        dnsConfig: DNSConfig

    class Metadata(TypedDict, total=False):
        """`ObjectMeta`."""

        name: str
        namespace: str
        labels: Labels
        annotations: Labels

    class PodTemplate(TypedDict, total=False):
        """`PodTemplateSpec`."""

        metadata: Metadata
        spec: PodSpec

else:  # modules import the names at run time too; making these classes would add a millisecond to each start

    def __getattr__(name: str) -> type:
        if not name[0].isupper():
            raise AttributeError(name)
        return dict
