"""Changes of objects of Kubernetes that an API server refuses, and similar changes that it accepts."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.review.forecast.edits import deployment, written


class Refusal(NamedTuple):
    """A change of one field, or of its holder. `cause` is the refused field, empty if the change is accepted."""

    reason: str
    old: dict[str, Any]
    path: tuple[str, ...]
    value: Any
    cause: tuple[str, ...]


def _of(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "changed"}, **fields}


_RBAC = "rbac.authorization.k8s.io"


def _role(name: str) -> dict[str, str]:
    return {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}


def _binding() -> dict[str, Any]:
    return _of(f"{_RBAC}/v1", "RoleBinding", roleRef=_role("one"), subjects=[])


def _claim() -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "2Gi"}}}
    return _of("v1", "PersistentVolumeClaim", spec=spec)


def _job() -> dict[str, Any]:
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "worker:1"}]}
    return _of("batch/v1", "Job", spec={"template": {"spec": spec}, "backoffLimit": 1, "suspend": True})


def _settings(**more: Any) -> dict[str, Any]:
    return _of("v1", "ConfigMap", data={"a": "1"}, **more)


_SECRET = _of("v1", "Secret", stringData={"a": "1"}, type="Opaque")
_SUBJECTS = [{"kind": "ServiceAccount", "name": "planner", "namespace": "default"}]

ALL = (
    Refusal("the role of a binding", _binding(), ("roleRef",), _role("two"), ("roleRef",)),
    Refusal("the subjects of a binding may change", _binding(), ("subjects",), _SUBJECTS, ()),
    Refusal("the class of a claim", _claim(), ("spec", "storageClassName"), "slow", ("spec", "storageClassName")),
    Refusal("the access modes of a claim", _claim(), ("spec", "accessModes"), ["ReadWriteMany"], ("spec", "accessModes")),
    Refusal("the mode of a claim", _claim(), ("spec", "volumeMode"), "Block", ("spec", "volumeMode")),
    Refusal("the default mode of a claim is no change", _claim(), ("spec", "volumeMode"), "Filesystem", ()),
    Refusal("a smaller claim", _claim(), ("spec", "resources", "requests", "storage"), "1Gi", ("spec", "resources", "requests", "storage")),
    Refusal("a label of a claim may change", _claim(), ("metadata", "labels"), {"a": "b"}, ()),
    Refusal("the template of a Job", _job(), ("spec", "template", "spec", "dnsPolicy"), "Default", ("spec", "template")),
    Refusal("the number of tries of a Job may change", _job(), ("spec", "backoffLimit"), 2, ()),
    Refusal("the type of a Secret", _SECRET, ("type",), "example.com/other", ("type",)),
    Refusal("an immutable ConfigMap", _settings(immutable=True), ("data", "a"), "2", ("data",)),
    Refusal("a ConfigMap may change", _settings(), ("data", "a"), "2", ()),
    Refusal("a ConfigMap may become immutable", _settings(), ("immutable",), True, ()),
    Refusal("the selector of a Deployment", deployment(), ("spec", "selector", "matchLabels", "tier"), "worker", ("spec", "selector")),
)


def changed(refusal: Refusal) -> dict[str, Any]:
    """The object after the change."""
    copied: dict[str, Any] = json_copy(refusal.old)
    return written(copied, refusal.path, refusal.value)


def json_copy(value: Any) -> Any:
    """A copy of a JSON value."""
    if isinstance(value, dict):
        return {key: json_copy(entry) for key, entry in value.items()}
    return [json_copy(entry) for entry in value] if isinstance(value, list) else value
