"""Rules of an API server about fields that few pods have. A render imports a module only if a pod has one of its fields.

The tables name the module of each field. Each module has a function `validate(holder, context)`: `holder` is the object that has the
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

    from krm_fn.kubernetes.api_server import Rejection
    from krm_fn.kubernetes.types import Labels

    Fields = Mapping[str, Any]


class Context(NamedTuple):
    """The pod that contains a field, the container that contains it, and true if this is an init container."""

    spec: Fields
    container: Fields = {}
    is_init: bool = False


POD = {
    "affinity": "scheduling_rules",
    "dnsConfig": "dns_rules",
    "dnsPolicy": "dns_rules",
    "hostAliases": "network_rules",
    "hostNetwork": "network_rules",
    "hostUsers": "network_rules",
    "hostnameOverride": "network_rules",
    "os": "os_rules",
    "overhead": "pod_resource_rules",
    "readinessGates": "gate_rules",
    "resources": "pod_resource_rules",
    "schedulingGates": "gate_rules",
    "shareProcessNamespace": "network_rules",
    "tolerations": "toleration_rules",
    "topologySpreadConstraints": "spread_rules",
}
POD_SECURITY = dict.fromkeys(
    (
        *("appArmorProfile", "fsGroupChangePolicy", "seLinuxChangePolicy", "seccompProfile"),
        *("supplementalGroups", "supplementalGroupsPolicy", "sysctls", "windowsOptions"),
    ),
    "pod_security_rules",
)
"""Fields of the security context of a pod."""

CONTAINER = {
    "lifecycle": "lifecycle_rules",
    "resizePolicy": "container_rules",
    "restartPolicy": "container_rules",
    "restartPolicyRules": "container_rules",
    "securityContext": "container_security_rules",
    "volumeDevices": "device_rules",
}
SOURCE = {"fileKeyRef": "env_source_rules", "resourceFieldRef": "env_source_rules"}
"""Sources of an environment variable."""

MOUNT = dict.fromkeys(("mountPropagation", "recursiveReadOnly", "subPathExpr"), "mount_rules")
VOLUME = {
    **dict.fromkeys(
        (
            *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker"),
            *("gcePersistentDisk", "gitRepo", "glusterfs", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte"),
            *("rbd", "scaleIO", "storageos", "vsphereVolume"),
        ),
        "storage_rules",
    ),
    "downwardAPI": "volume_rules",
    "ephemeral": "ephemeral_rules",
    "projected": "volume_rules",
}
ANNOTATION = dict.fromkeys(
    (
        *("container.apparmor.security.beta.kubernetes.io", "container.seccomp.security.alpha.kubernetes.io"),
        *("controller.kubernetes.io", "kubernetes.io", "scheduler.alpha.kubernetes.io", "seccomp.security.alpha.kubernetes.io"),
    ),
    "annotation_rules",
)
"""Domains of annotations that Kubernetes reads."""


def validate(table: Mapping[str, str], holder: Fields, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of an object by the modules of its fields. `table` is one of the tables of this module."""
    yield from _validate(table, holder, holder, context)


def validate_annotations(annotations: Labels, context: Context) -> Iterator[Rejection]:
    """Yields the rejections of annotations of a pod that Kubernetes reads. Paths begin with the key."""
    yield from _validate(ANNOTATION, [key.partition("/")[0] for key in annotations], annotations, context)


def _validate(table: Mapping[str, str], fields: Iterable[str], holder: Fields, context: Context) -> Iterator[Rejection]:
    for module in registry.modules(sys.modules[__name__], dict.fromkeys(table[field] for field in fields if field in table)):
        yield from module.validate(holder, context)
