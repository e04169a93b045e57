"""Changes of objects of Kubernetes that an API server refuses, and similar changes that it accepts."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.review.forecast import native_objects
from tests.review.forecast.edits import written
from tests.review.forecast.native_objects import named

Path = tuple[str | int, ...]


class Refusal(NamedTuple):
    """A change of one field, or of its holder. `cause` is the refused field, empty if the change is accepted."""

    reason: str
    old: dict[str, Any]
    path: Path
    value: Any
    cause: Path


_SUBJECTS = [{"kind": "ServiceAccount", "name": "planner", "namespace": "default"}]
_STORAGE = ("spec", "resources", "requests", "storage")
_JOB_POD = ("spec", "template", "spec")
_CONTAINER = ("spec", "containers", 0)
_SETS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_REF = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "second"}
_AFFINITY = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
        ]
    }
}
_NFS, _CSI = {"path": "/b", "server": "a"}, {"driver": "example.com", "volumeHandle": "second"}
_DEVICE = {"deviceClassName": "gpu.nvidia.com", "count": 2}
_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "second"}
_REQUEST = ("devices", "requests", 0, "exactly")

ALL = (
    # RBAC
    *(
        row
        for kind in ("RoleBinding", "ClusterRoleBinding")
        for row in (
            Refusal(f"the role of a {kind}", named(kind), ("roleRef",), _ROLE, ("roleRef",)),
            Refusal(f"the subjects of a {kind}", named(kind), ("subjects",), _SUBJECTS, ()),
        )
    ),
    Refusal("the rules of a role", named("ClusterRole"), ("rules", 0, "verbs"), ["get", "list"], ()),
    # claims and volumes
    Refusal("the class of a claim", named("PersistentVolumeClaim"), ("spec", "storageClassName"), "slow", ("spec", "storageClassName")),
    Refusal("the modes of a claim", named("PersistentVolumeClaim"), ("spec", "accessModes"), ["ReadWriteMany"], ("spec", "accessModes")),
    Refusal("the mode of a claim", named("PersistentVolumeClaim"), ("spec", "volumeMode"), "Block", ("spec", "volumeMode")),
    Refusal("the default mode of a claim", named("PersistentVolumeClaim"), ("spec", "volumeMode"), "Filesystem", ()),
    Refusal("a smaller claim", named("PersistentVolumeClaim"), _STORAGE, "1Gi", _STORAGE),
    Refusal("a larger claim", named("PersistentVolumeClaim"), _STORAGE, "3Gi", ()),
    Refusal("the same size of a claim", named("PersistentVolumeClaim"), _STORAGE, "2048Mi", ()),
    Refusal("a label of a claim", named("PersistentVolumeClaim"), ("metadata", "labels"), {"a": "c"}, ()),
    Refusal("the source of a claim", named("PersistentVolumeClaim"), ("spec", "dataSourceRef"), _REF, ("spec", "dataSource")),
    Refusal("the path of a volume", named("PersistentVolume", "server"), ("spec", "nfs"), _NFS, ("spec", "nfs")),
    Refusal("the handle of a volume", named("PersistentVolume"), ("spec", "csi"), _CSI, ("spec", "csi")),
    Refusal("the policy of a volume", named("PersistentVolume"), ("spec", "persistentVolumeReclaimPolicy"), "Delete", ()),
    Refusal("the size of a volume", named("PersistentVolume"), ("spec", "capacity", "storage"), "2Gi", ()),
    Refusal("the parameters of a class", named("StorageClass"), ("parameters", "a"), "c", ("parameters",)),
    Refusal("the provisioner of a class", named("StorageClass"), ("provisioner",), "example.com/second", ("provisioner",)),
    Refusal("the default policy of a class", named("StorageClass"), ("reclaimPolicy",), "Delete", ()),
    Refusal("the policy of a class", named("StorageClass"), ("reclaimPolicy",), "Retain", ("reclaimPolicy",)),
    Refusal("a class that no longer expands", named("StorageClass"), ("allowVolumeExpansion",), False, ()),
    Refusal("attaching of a driver", named("CSIDriver"), ("spec", "attachRequired"), True, ("spec", "attachRequired")),
    # data
    Refusal("the type of a Secret", named("Secret"), ("type",), "example.com/other", ("type",)),
    Refusal("the default type of a Secret", named("Secret"), ("type",), "Opaque", ()),
    Refusal("an immutable ConfigMap", named("ConfigMap", "fixed"), ("data", "a"), "2", ("data",)),
    Refusal("a ConfigMap that is no longer immutable", named("ConfigMap", "fixed"), ("immutable",), False, ("immutable",)),
    Refusal("a ConfigMap", named("ConfigMap"), ("data", "a"), "2", ()),
    Refusal("a ConfigMap that becomes immutable", named("ConfigMap"), ("immutable",), True, ()),
    Refusal("an immutable Secret", named("Secret", "fixed"), ("data", "a"), "Mg==", ("data",)),
    Refusal("a text of an immutable Secret", named("Secret", "fixed"), ("stringData", "b"), "3", ("data",)),
    Refusal("the same data of an immutable Secret as text", named("Secret", "fixed"), ("stringData", "a"), "1", ()),
    Refusal("a text that leaves an immutable Secret stays", named("Secret", "fixed"), ("stringData",), None, ()),
    # services
    Refusal("a Service that becomes headless", named("Service"), ("spec", "clusterIP"), "None", ("spec", "clusterIP")),
    Refusal("another address", named("Service", "fixed"), ("spec", "clusterIP"), "10.0.77.8", ("spec", "clusterIP")),
    Refusal("an address that leaves the file stays", named("Service", "fixed"), ("spec", "clusterIP"), None, ()),
    Refusal("another type of a Service", named("Service"), ("spec", "type"), "NodePort", ()),
    Refusal("another class", named("Service", "balanced"), ("spec", "loadBalancerClass"), "example.com/two", ("spec", "loadBalancerClass")),
    Refusal("the controller of a class", named("IngressClass"), ("spec", "controller"), "example.com/second", ("spec", "controller")),
    # workloads
    *(
        row
        for kind in _SETS
        for row in (
            Refusal(f"no expressions in the selector of a {kind}", named(kind), ("spec", "selector", "matchExpressions"), [], ()),
            Refusal(f"the labels of a {kind}", named(kind), ("metadata", "labels"), {"a": "c"}, ()),
            Refusal(
                f"the selector of a {kind}",
                written(native_objects.json_copy(named(kind)), ("spec", "template", "metadata", "labels"), {"app": "changed", "b": "c"}),
                ("spec", "selector", "matchLabels", "b"),
                "c",
                ("spec", "selector"),
            ),
        )
    ),
    Refusal(
        "a claim template",
        named("StatefulSet"),
        ("spec", "volumeClaimTemplates", 0, *_STORAGE),
        "2Gi",
        ("spec", "volumeClaimTemplates"),
    ),
    Refusal("the kind of a claim template", named("StatefulSet"), ("spec", "volumeClaimTemplates", 0, "kind"), "PersistentVolumeClaim", ()),
    Refusal("the service of a StatefulSet", named("StatefulSet"), ("spec", "serviceName"), "second", ("spec", "serviceName")),
    Refusal("the default order of a StatefulSet", named("StatefulSet"), ("spec", "podManagementPolicy"), "OrderedReady", ()),
    Refusal(
        "the order of a StatefulSet", named("StatefulSet"), ("spec", "podManagementPolicy"), "Parallel", ("spec", "podManagementPolicy")
    ),
    Refusal("the template of a Job", named("Job", "runs"), (*_JOB_POD, "dnsPolicy"), "Default", ("spec", "template")),
    Refusal("a default in the template of a Job", named("Job", "runs"), (*_JOB_POD, "dnsPolicy"), "ClusterFirst", ()),
    Refusal("the tries of a Job", named("Job", "runs"), ("spec", "backoffLimit"), 3, ()),
    Refusal("the default mode of a Job", named("Job", "runs"), ("spec", "completionMode"), "NonIndexed", ()),
    Refusal("the completions of a Job", named("Job", "runs"), ("spec", "completions"), 3, ("spec", "completions")),
    Refusal("the parallel pods of a Job", named("Job", "runs"), ("spec", "parallelism"), 2, ()),
    Refusal(
        "the failure policy of a Job",
        named("Job", "runs"),
        ("spec", "podFailurePolicy", "rules", 0, "action"),
        "Ignore",
        ("spec", "podFailurePolicy"),
    ),
    Refusal("the nodes of a suspended Job", named("Job"), (*_JOB_POD, "nodeSelector"), {"zone": "b"}, ()),
    Refusal("the affinity of a suspended Job", named("Job"), (*_JOB_POD, "affinity"), _AFFINITY, ()),
    Refusal("the resources of a suspended Job", named("Job"), (*_JOB_POD, "containers", 0, "resources", "requests", "cpu"), "2", ()),
    Refusal("the image of a suspended Job", named("Job"), (*_JOB_POD, "containers", 0, "image"), "worker:2", ("spec", "template")),
    Refusal("the schedule of a CronJob", named("CronJob"), ("spec", "schedule"), "5 * * * *", ()),
    Refusal("the environment of a Pod", named("Pod"), (*_CONTAINER, "env", 0, "value"), "2", ("spec", "containers")),
    Refusal("the image of a Pod", named("Pod"), (*_CONTAINER, "image"), "registry.example/worker", ()),
    Refusal("the nodes of a Pod", named("Pod"), ("spec", "nodeSelector", "more"), "b", ("spec", "nodeSelector")),
    Refusal("the nodes of a Pod that waits", named("Pod", "gated"), ("spec", "nodeSelector", "more"), "b", ()),
    Refusal("one more toleration of a Pod", named("Pod"), ("spec", "tolerations", 1), {"key": "b", "operator": "Exists"}, ()),
    Refusal("no toleration of a Pod", named("Pod"), ("spec", "tolerations"), [], ("spec", "tolerations")),
    # devices and classes
    Refusal("a claim of devices", named("ResourceClaim"), ("spec", *_REQUEST), _DEVICE, ("spec", "devices")),
    Refusal("a template of claims", named("ResourceClaimTemplate"), ("spec", "spec", *_REQUEST), _DEVICE, ("spec", "spec")),
    Refusal("a default of a claim of devices", named("ResourceClaim"), ("spec", *_REQUEST, "allocationMode"), "ExactCount", ()),
    Refusal("a class of devices", named("DeviceClass"), ("spec", "selectors"), None, ()),
    Refusal("the value of a priority", named("PriorityClass"), ("value",), 2000, ("value",)),
    Refusal("the description of a priority", named("PriorityClass"), ("description",), "second", ()),
    Refusal("the handler of a runtime", named("RuntimeClass"), ("handler",), "second", ("handler",)),
    # policies
    Refusal("a budget", named("PodDisruptionBudget"), ("spec", "maxUnavailable"), 2, ()),
    Refusal("the selector of a budget", named("PodDisruptionBudget"), ("spec", "selector", "matchLabels", "app"), "second", ()),
    Refusal("the target of an autoscaler", named("HorizontalPodAutoscaler"), ("spec", "scaleTargetRef", "name"), "second", ()),
    Refusal("the scopes of a quota", named("ResourceQuota"), ("spec", "scopes"), ["NotBestEffort"], ("spec", "scopes")),
    Refusal("the URL of a webhook", named("ValidatingWebhookConfiguration"), ("webhooks", 0, "timeoutSeconds"), 5, ()),
    Refusal("the scope of a definition", named("CustomResourceDefinition"), ("spec", "scope"), "Cluster", ("spec", "scope")),
    Refusal("a short name of a definition", named("CustomResourceDefinition"), ("spec", "names", "shortNames"), ["wid"], ()),
)


def changed(refusal: Refusal) -> dict[str, Any]:
    """The object after the change."""
    copied: dict[str, Any] = native_objects.json_copy(refusal.old)
    return written(copied, refusal.path, refusal.value)
