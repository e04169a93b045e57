"""The types of Kubernetes objects, for the type checker. At run time every object is a plain dict.

Fields have the names and types of the Kubernetes API. Volumes and metadata list only the fields that the code reads or writes; all other
fields of an object pass through unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict

    from krm_fn.kube.container_types import *  # noqa: F403 - other modules import all types from here
    from krm_fn.kube.container_types import Container, LocalReference, Quantities, Quantity, Resources

    Resource = dict[str, Any]  # a whole object of any kind
    Labels = dict[str, str]
    Role = Literal["main", "leader", "worker"]
    ProbeName = Literal["livenessProbe", "readinessProbe", "startupProbe"]
    WordsField = Literal["command", "args"]
    ResourceSide = Literal["limits", "requests"]
    HandlerName = Literal["exec", "httpGet", "tcpSocket", "grpc"]

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
