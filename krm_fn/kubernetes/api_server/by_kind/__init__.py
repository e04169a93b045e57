"""Rules of an API server about whole objects, one module for each group of kinds. `krm-fn check` imports those that it needs.

Each module has a function `validate(object)`. Fields have the right types and are not null. The rules hold after Kubernetes' defaults,
and for the feature gates that are on by default. What depends on the state of a cluster is not checked: free addresses, ports and classes.
"""

from __future__ import annotations

from krm_fn.base import registry
from krm_fn.kubernetes.api_server import object_meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from krm_fn.kubernetes.api_server import Rejection
    from krm_fn.kubernetes.types import Resource

_RBAC = "rbac.authorization.k8s.io/v1"
KINDS = {
    ("v1", "ConfigMap"): "data_rules",
    ("v1", "Secret"): "data_rules",
    ("v1", "Service"): "service_rules",
    ("v1", "PersistentVolumeClaim"): "claim_rules",
    ("apps/v1", "DaemonSet"): "daemon_set_rules",
    ("apps/v1", "Deployment"): "deployment_rules",
    ("apps/v1", "ReplicaSet"): "deployment_rules",
    ("apps/v1", "StatefulSet"): "stateful_set_rules",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "autoscaler_rules",
    ("batch/v1", "Job"): "job_rules",
    ("networking.k8s.io/v1", "Ingress"): "ingress_rules",
    **dict.fromkeys([(_RBAC, kind) for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")], "access_rules"),
}
"""The module of each kind, by apiVersion and kind. Of other kinds, only the metadata is checked."""


def validate(resource: Resource) -> Iterator[Rejection]:
    """Yields the reasons why an API server rejects an object. Paths begin at the object."""
    kind = resource["kind"]
    for rejection in object_meta.validate(resource.get("metadata") or {}, kind):
        yield rejection.below("metadata")
    module = KINDS.get((resource["apiVersion"], kind))
    if module:
        yield from registry.get(_package(), module).validate(resource)


def _package() -> Any:
    import krm_fn.kubernetes.api_server.by_kind as package  # noqa: PLC0415 - the module itself, for the registry

    return package
