"""Rules of an API server about fields that few pods have. A render imports a module only if a pod has one of its fields.

The tables name the module and the function of each field. A function takes `holder` and `context`: `holder` is the object that has the
field, and the paths of the rejections begin at it.
"""

from __future__ import annotations

import sys

from krm_fn.base import registry
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Labels

    Fields = Mapping[str, Any]


class Context(NamedTuple):
    """The pod that contains a field, the container that contains it, and true if this is an init container."""

    spec: Fields
    container: Fields = {}
    is_init: bool = False


POD = {
    "affinity": "scheduling_rules.validate_affinity",
    "dnsConfig": "network_rules.validate_dns",
    "dnsPolicy": "network_rules.validate_dns",
    "hostAliases": "network_rules.validate_host",
    "hostNetwork": "network_rules.validate_host",
    "hostUsers": "network_rules.validate_host",
    "hostnameOverride": "network_rules.validate_host",
    "os": "security_rules.validate_os",
    "overhead": "pod_resource_rules.validate",
    "readinessGates": "scheduling_rules.validate_gates",
    "resources": "pod_resource_rules.validate",
    "schedulingGates": "scheduling_rules.validate_gates",
    "shareProcessNamespace": "network_rules.validate_host",
    "tolerations": "scheduling_rules.validate_tolerations",
    "topologySpreadConstraints": "scheduling_rules.validate_spread",
}
POD_SECURITY = dict.fromkeys(
    (
        *("appArmorProfile", "fsGroupChangePolicy", "seLinuxChangePolicy", "seccompProfile"),
        *("supplementalGroups", "supplementalGroupsPolicy", "sysctls", "windowsOptions"),
    ),
    "security_rules.validate_pod",
)
"""Fields of the security context of a pod."""

CONTAINER = {
    "lifecycle": "container_rules.validate_lifecycle",
    "resizePolicy": "container_rules.validate_restart",
    "restartPolicy": "container_rules.validate_restart",
    "restartPolicyRules": "container_rules.validate_restart",
    "securityContext": "security_rules.validate_container",
    "volumeDevices": "mount_rules.validate_devices",
}
SOURCE = {"fileKeyRef": "container_rules.validate_env_source", "resourceFieldRef": "container_rules.validate_env_source"}
"""Sources of an environment variable."""

MOUNT = dict.fromkeys(("mountPropagation", "recursiveReadOnly", "subPathExpr"), "mount_rules.validate_mount")
VOLUME = {
    **dict.fromkeys(
        (
            *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker"),
            *("gcePersistentDisk", "gitRepo", "glusterfs", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte"),
            *("rbd", "scaleIO", "storageos", "vsphereVolume"),
        ),
        "storage_rules.validate",
    ),
    "downwardAPI": "volume_rules.validate_projected",
    "ephemeral": "volume_rules.validate_ephemeral",
    "projected": "volume_rules.validate_projected",
}
ANNOTATION = dict.fromkeys(
    (
        *("container.apparmor.security.beta.kubernetes.io", "container.seccomp.security.alpha.kubernetes.io"),
        *("controller.kubernetes.io", "kubernetes.io", "scheduler.alpha.kubernetes.io", "seccomp.security.alpha.kubernetes.io"),
    ),
    "annotation_rules.validate",
)
"""Domains of annotations that Kubernetes reads."""


def validate(table: Mapping[str, str], holder: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of an object by the functions of its fields. `table` is one of the tables of this module."""
    yield from _validate(table, holder, holder, context)


def validate_annotations(annotations: Labels, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of annotations of a pod that Kubernetes reads. Paths begin with the key."""
    yield from _validate(ANNOTATION, [key.partition("/")[0] for key in annotations], annotations, context)


def _validate(table: Mapping[str, str], fields: Iterable[str], holder: Fields, context: Context) -> Iterator[Rejection]:
    for function in dict.fromkeys(table[field] for field in fields if field in table):
        yield from registry.attribute(sys.modules[__name__], function)(holder, context)
