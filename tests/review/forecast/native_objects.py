"""One or more objects of each native kind that a repository next to graphs may hold, to be changed by random edits."""

from __future__ import annotations

import copy
from typing import Any

Object = dict[str, Any]

_LABELS = {"app": "changed"}
_PORTS = [{"name": "http", "port": 80, "targetPort": 8000}]
_CONTAINER = {
    "name": "main",
    "image": "registry.example/worker:1.0",
    "args": ["--model", "small"],
    "env": [{"name": "A", "value": "1"}],
    "ports": [{"name": "http", "containerPort": 8000}],
    "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
}
_POD: Object = {
    "containers": [_CONTAINER],
    "volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}],
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "nodeSelector": {"zone": "a"},
    "securityContext": {"fsGroup": 1000},
}
_SELECTOR = {"matchLabels": _LABELS}
_CLAIM_SPEC: Object = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "changed",
    "resources": {"requests": {"storage": "2Gi"}},
    "dataSourceRef": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "first"},
}
_DEVICES: Object = {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1}}]}
_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "first"}
_WEBHOOK: Object = {
    "name": "graphs.example.com",
    "admissionReviewVersions": ["v1"],
    "sideEffects": "None",
    "failurePolicy": "Ignore",
    "clientConfig": {"url": "https://example.com/check"},
    "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothing"]}],
}
_SCHEMA: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_DEFINITION: Object = {
    "group": "example.com",
    "scope": "Namespaced",
    "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList", "shortNames": ["wi"]},
    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _SCHEMA}}],
}


def _template(**fields: Any) -> Object:
    return {"metadata": {"labels": _LABELS, "annotations": {"note": "1"}}, "spec": {**_POD, **fields}}


def _of(api_version: str, kind: str, variant: str = "", **fields: Any) -> Object:
    name = "widgets.example.com" if kind == "CustomResourceDefinition" else f"changed{variant and '-'}{variant}"
    return copy.deepcopy({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": {"a": "b"}}, **fields})


def _job(variant: str = "", **fields: Any) -> Object:
    return _of("batch/v1", "Job", variant, spec={"template": _template(restartPolicy="Never"), "backoffLimit": 2, **fields})


def _set(kind: str, **fields: Any) -> Object:
    return _of("apps/v1", kind, spec={"selector": _SELECTOR, "template": _template(), **fields})


_FAILURES = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]}
_CLAIM_TEMPLATE: Object = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
_MATCH = {"resourceRules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothing"]}]}

WORKLOADS = (
    _set("Deployment", replicas=0),
    _set("StatefulSet", replicas=0, serviceName="changed", volumeClaimTemplates=[_CLAIM_TEMPLATE]),
    _set("DaemonSet", minReadySeconds=1),
)
"""Workloads whose controllers record the revisions of their templates. None of them has a pod."""

ALL = (
    *WORKLOADS,
    _set("ReplicaSet", replicas=0),
    _job(suspend=True),
    _job("runs", completions=2, parallelism=1, podFailurePolicy=_FAILURES),
    _job("indexed", completions=2, parallelism=2, completionMode="Indexed", backoffLimitPerIndex=1),
    _of("batch/v1", "CronJob", spec={"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": _template(restartPolicy="Never")}}}),
    _of("v1", "Pod", spec=_POD),
    _of("v1", "Pod", "gated", spec={**_POD, "schedulingGates": [{"name": "example.com/first"}]}),
    _of("v1", "PodTemplate", template=_template()),
    _of("v1", "ReplicationController", spec={"replicas": 0, "selector": _LABELS, "template": _template()}),
    _of("policy/v1", "PodDisruptionBudget", spec={"maxUnavailable": 1, "selector": _SELECTOR}),
    _of(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        spec={"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "changed"}},
    ),
    _of("v1", "Service", spec={"ports": _PORTS, "selector": _LABELS}),
    _of("v1", "Service", "headless", spec={"ports": _PORTS, "selector": _LABELS, "clusterIP": "None"}),
    _of("v1", "Service", "fixed", spec={"ports": _PORTS, "selector": _LABELS, "clusterIP": "10.0.77.7"}),
    _of("v1", "Service", "outside", spec={"type": "ExternalName", "externalName": "example.com"}),
    _of(
        "v1",
        "Service",
        "balanced",
        spec={"type": "LoadBalancer", "ports": _PORTS, "externalTrafficPolicy": "Local", "loadBalancerClass": "example.com/one"},
    ),
    _of(
        "networking.k8s.io/v1",
        "Ingress",
        spec={"ingressClassName": "first", "defaultBackend": {"service": {"name": "changed", "port": {"number": 80}}}},
    ),
    _of("networking.k8s.io/v1", "IngressClass", spec={"controller": "example.com/first"}),
    _of("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": _SELECTOR, "policyTypes": ["Ingress"]}),
    _of("v1", "ConfigMap", data={"a": "1"}),
    _of("v1", "ConfigMap", "fixed", data={"a": "1"}, immutable=True),
    _of("v1", "Secret", stringData={"a": "1"}),
    _of("v1", "Secret", "fixed", data={"a": "MQ=="}, stringData={"b": "2"}, immutable=True),
    _of("v1", "ServiceAccount", automountServiceAccountToken=False),
    _of("v1", "PersistentVolumeClaim", spec=_CLAIM_SPEC),
    _of(
        "v1",
        "PersistentVolume",
        spec={
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "csi": {"driver": "example.com", "volumeHandle": "first", "volumeAttributes": {"a": "b"}},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}},
        },
    ),
    _of(
        "v1",
        "PersistentVolume",
        "server",
        spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "nfs": {"path": "/a", "server": "a"}},
    ),
    _of("v1", "ResourceQuota", spec={"hard": {"pods": "100"}, "scopes": ["BestEffort"]}),
    _of("v1", "LimitRange", spec={"limits": [{"type": "Container", "default": {"cpu": "1"}}]}),
    _of("storage.k8s.io/v1", "StorageClass", provisioner="example.com/first", parameters={"a": "b"}, allowVolumeExpansion=True),
    _of("storage.k8s.io/v1", "VolumeAttributesClass", driverName="example.com", parameters={"a": "b"}),
    _of("storage.k8s.io/v1", "CSIDriver", spec={"attachRequired": False, "podInfoOnMount": True}),
    _of("storage.k8s.io/v1", "CSIStorageCapacity", storageClassName="changed", nodeTopology=_SELECTOR, capacity="1Gi"),
    _of("scheduling.k8s.io/v1", "PriorityClass", value=1000, description="first"),
    _of("node.k8s.io/v1", "RuntimeClass", handler="first"),
    _of("rbac.authorization.k8s.io/v1", "Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    _of("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
    _of("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef=_ROLE, subjects=[]),
    _of("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", roleRef=_ROLE, subjects=[]),
    _of("resource.k8s.io/v1", "ResourceClaim", spec={"devices": _DEVICES}),
    _of("resource.k8s.io/v1", "ResourceClaimTemplate", spec={"spec": {"devices": _DEVICES}}),
    _of("resource.k8s.io/v1", "DeviceClass", spec={"selectors": [{"cel": {"expression": 'device.driver == "gpu.nvidia.com"'}}]}),
    _of("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec=_DEFINITION),
    _of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", webhooks=[_WEBHOOK]),
    _of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", webhooks=[_WEBHOOK]),
    _of(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        spec={"failurePolicy": "Ignore", "matchConstraints": _MATCH, "validations": [{"expression": "true"}]},
    ),
    _of(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        spec={"policyName": "changed", "validationActions": ["Warn"]},
    ),
    _of("coordination.k8s.io/v1", "Lease", spec={"holderIdentity": "first", "leaseDurationSeconds": 15}),
    _of("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[{"addresses": ["10.1.2.3"]}]),
    _of(
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        spec={"matchingPrecedence": 9000, "priorityLevelConfiguration": {"name": "global-default"}},
    ),
)
"""The objects. No two have the same kind and name."""


def named(kind: str, variant: str = "") -> Object:
    """Returns one of the objects."""
    (resource,) = [entry for entry in ALL if entry["kind"] == kind and entry["metadata"]["name"].partition("-")[2] == variant]
    return resource


def json_copy(value: Any) -> Any:
    """A copy of a JSON value."""
    if isinstance(value, dict):
        return {key: json_copy(entry) for key, entry in value.items()}
    return [json_copy(entry) for entry in value] if isinstance(value, list) else value
