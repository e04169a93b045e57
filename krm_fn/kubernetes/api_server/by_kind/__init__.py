"""Rules of an API server about whole objects, one module for each group of kinds. `krm-fn check` imports those that it needs.

Each function takes the object. Fields have the right types and are not null. The rules hold after Kubernetes' defaults, and for the
feature gates that are on by default. What depends on the state of a cluster is not checked: free addresses, ports and classes.
"""

from __future__ import annotations

import sys

from krm_fn.base import registry
from krm_fn.kubernetes.api_server import object_meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Resource

_RBAC = "rbac.authorization.k8s.io/v1"
KINDS = {
    ("v1", "ConfigMap"): "data_rules.validate",
    ("v1", "Secret"): "data_rules.validate",
    ("v1", "Service"): "service_rules.validate",
    ("v1", "PersistentVolumeClaim"): "claim_rules.validate",
    ("apps/v1", "DaemonSet"): "workload_rules.validate_daemon_set",
    ("apps/v1", "Deployment"): "workload_rules.validate_deployment",
    ("apps/v1", "ReplicaSet"): "workload_rules.validate_deployment",
    ("apps/v1", "StatefulSet"): "workload_rules.validate_stateful_set",
    ("autoscaling/v2", "HorizontalPodAutoscaler"): "autoscaler_rules.validate",
    ("batch/v1", "Job"): "job_rules.validate",
    ("networking.k8s.io/v1", "Ingress"): "ingress_rules.validate",
    **dict.fromkeys([(_RBAC, kind) for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")], "access_rules.validate"),
}
"""The module and the function of each kind, by apiVersion and kind. Of other kinds, only the metadata is checked."""


def validate(resource: Resource) -> Iterator[Rejection]:
    """Yields the reasons why an API server rejects an object. Paths begin at the object."""
    kind = resource["kind"]
    for rejection in object_meta.validate(resource.get("metadata") or {}, kind):
        yield rejection.below("metadata")
    function = KINDS.get((resource["apiVersion"], kind))
    if function:
        yield from registry.attribute(sys.modules[__name__], function)(resource)
