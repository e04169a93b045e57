"""Native objects as an API server stores them, so that only what differs in this form is a change for the server.

The defaults are those of fields that cannot change: the forecast asks only for these. Sources: `SetDefaults_*` in
`pkg/apis/*/v1/defaults.go` of Kubernetes, and PrepareForUpdate in `pkg/registry`.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from krm_fn.kubernetes import go_json, paths, stored_templates
from krm_fn.kubernetes.values import mapping, objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.types import Resource

_ALL_DEVICES: dict[str, Any] = {"allocationMode": "ExactCount"}
_DEFAULTS: dict[str, dict[str, Any]] = {
    **stored_templates.NATIVE_DEFAULTS,
    "ISCSIPersistentVolumeSource": {"iscsiInterface": "default"},
    "PersistentVolumeSpec": {"volumeMode": "Filesystem"},
    "RBDPersistentVolumeSource": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "ScaleIOPersistentVolumeSource": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "Secret": {"type": "Opaque"},
    "ServiceSpec": {"type": "ClusterIP"},
    "apps.StatefulSetSpec": {"podManagementPolicy": "OrderedReady"},
    "batch.JobSpec": {"completionMode": "NonIndexed", "manualSelector": False, "parallelism": 1, "suspend": False},
    "rbac.RoleRef": {"apiGroup": "rbac.authorization.k8s.io"},
    "resource.DeviceSubRequest": _ALL_DEVICES,
    "resource.DeviceToleration": {"operator": "Equal"},
    "resource.ExactDeviceRequest": _ALL_DEVICES,
    "scheduling.PriorityClass": {"preemptionPolicy": "PreemptLowerPriority"},
    "storage.CSIDriverSpec": {"attachRequired": True, "volumeLifecycleModes": ["Persistent"]},
    "storage.StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
}

_E = paths.EVERY
GATES: dict[str, tuple[Path, ...]] = {
    "GenericWorkload": (("spec", "schedulingGroup"),),
    "ContainerStopSignals": tuple(("spec", name, _E, "lifecycle", "stopSignal") for name in ("containers", "initContainers")),
    "PodCertificateRequest": (("spec", "volumes", _E, "projected", "sources", _E, "podCertificate"),),
    "ClusterTrustBundleProjection": (("spec", "volumes", _E, "projected", "sources", _E, "clusterTrustBundle"),),
}
"""The fields of a pod template that an API server drops, by the feature gate that is off by default in Kubernetes 1.36.

Source: dropDisabledFields in `pkg/api/pod/util.go`, and the defaults in `pkg/features/kube_features.go`.
"""


def of(resource: Resource, before: Resource | None = None) -> Resource:
    """Returns an object in the form that an API server stores, without status. An object of another kind is returned unchanged.

    `before` is the object that it updates: the server keeps what it filled in for that.
    """
    group = f"{resource.get('apiVersion')}".rpartition("/")[0].partition(".")[0]
    kind = f"{resource.get('kind')}"
    name = f"{group}.{kind}" if group else kind
    if name not in go_json.kinds():
        return resource
    prepared = _PREPARED[name](resource, before or resource) if name in _PREPARED else resource
    stored: Resource = stored_templates.stored_struct(prepared, name, _FORM)
    return without_disabled(stored) if name == "Pod" else stored


def without_disabled(stored: Any) -> Any:
    """Returns a stored pod template without the fields of feature gates that are off."""
    return without(stored, [pattern for patterns in GATES.values() for pattern in patterns])


def without(value: Any, patterns: Iterable[Path]) -> Any:
    """Returns a value without the fields that the patterns match, and without objects that become empty."""
    for pattern in patterns:
        value = _without(value, pattern)
    return value


def _without(value: Any, pattern: Path) -> Any:
    step, rest = pattern[0], pattern[1:]
    if isinstance(value, list):
        return [_without(entry, rest) if rest else entry for entry in value] if step == _E else value
    if not isinstance(value, dict):
        return value
    names = [*value] if step == _E else [step]
    if not rest:
        return {name: entry for name, entry in value.items() if name not in names}
    changed = {name: _without(value[name], rest) for name in names if name in value}
    return {name: changed.get(name, entry) for name, entry in value.items() if entry == {} or changed.get(name, entry) != {}}


def _secret(resource: Resource, before: Resource) -> Resource:
    """Returns a Secret whose texts are data (Convert_v1_Secret_To_core_Secret). Data that differ only in blanks are the same.

    A text that leaves the file stays in the data.
    """
    written = {**mapping(before.get("stringData")), **mapping(resource.get("stringData"))}
    texts = {key: base64.b64encode(f"{text}".encode()).decode() for key, text in written.items()}
    data = {key: _canonical(value) for key, value in mapping(resource.get("data")).items()}
    return {**resource, "data": {**data, **texts}, "stringData": None}


def _canonical(value: Any) -> Any:
    try:
        return base64.b64encode(base64.b64decode(value, validate=False)).decode()
    except (TypeError, ValueError, binascii.Error):
        return value


def _claimed_devices(resource: Resource, _: Resource) -> Resource:
    """Returns a ResourceClaim or its template with the requests of v1: v1beta1 has the fields of `exactly` in the request itself."""
    spec = mapping(resource.get("spec"))
    is_template = resource.get("kind") == "ResourceClaimTemplate"
    claim = mapping(spec.get("spec")) if is_template else spec
    devices = mapping(claim.get("devices"))
    if f"{resource.get('apiVersion')}".endswith("/v1beta1") and devices.get("requests"):
        claim = {**claim, "devices": {**devices, "requests": [_request(request) for request in objects(devices["requests"])]}}
    return {**resource, "spec": {**spec, "spec": claim} if is_template else claim}


def _request(request: dict[str, Any]) -> dict[str, Any]:
    names = ("name", "firstAvailable")
    fields = {name: value for name, value in request.items() if name not in names}
    return {**{name: request.get(name) for name in names}, "exactly": fields or None}


_CONTAINERS = ("containers", "initContainers")


def _pod(resource: Resource, before: Resource) -> Resource:
    """Returns a pod with the defaults that its template would not have (SetDefaults_Pod). A pull policy stays if the image changes."""
    spec, spec_before = (mapping(state.get("spec")) for state in (resource, before))
    is_on_host = spec.get("hostNetwork") is True
    known = {f"{container.get('name')}": container for name in _CONTAINERS for container in objects(spec_before.get(name))}
    containers = {
        name: [_container(container, known.get(f"{container.get('name')}", container), is_on_host) for container in objects(spec[name])]
        for name in _CONTAINERS
        if spec.get(name)
    }
    defaults = {"enableServiceLinks": True, "priority": None if spec.get("priorityClassName") else 0}
    return {**resource, "spec": {**defaults, **{name: value for name, value in spec.items() if value is not None}, **containers}}


def _container(container: dict[str, Any], before: dict[str, Any], is_on_host: bool) -> dict[str, Any]:
    amounts = mapping(container.get("resources"))
    requests = {**mapping(amounts.get("limits")), **mapping(amounts.get("requests"))}
    ports = [
        {**port, "hostPort": port.get("hostPort") or port.get("containerPort")} if is_on_host else port
        for port in objects(container.get("ports"))
    ]
    policy = container.get("imagePullPolicy") or before.get("imagePullPolicy") or stored_templates.pull_policy(before.get("image"))
    return {**container, "resources": {**amounts, "requests": requests}, "ports": ports, "imagePullPolicy": policy}


def _claim(resource: Resource, before: Resource) -> Resource:
    """Returns a claim with both forms of its data source (DropDisabledFields, NormalizeDataSources in `pkg/api/persistentvolumeclaim`).

    The gate CrossNamespaceVolumeDataSource is off by default, so a source in another namespace is dropped. A source in one form that leaves
    the file stays in the other form, which the server filled in.
    """
    spec, spec_before = (mapping(state.get("spec")) for state in (resource, before))
    written = [name for name in ("dataSource", "dataSourceRef") if spec_before.get(name)]
    stays = spec_before if len(written) == 1 and not any(spec.get(name) for name in ("dataSource", "dataSourceRef")) else spec
    source, reference = stays.get("dataSource"), stays.get("dataSourceRef")
    if mapping(reference).get("namespace"):
        reference = None
    if reference is None and mapping(source).get("kind") not in ("PersistentVolumeClaim", "VolumeSnapshot"):
        source = None
    return {**resource, "spec": {**spec, "dataSource": source or reference, "dataSourceRef": reference or source}}


def _stateful_set(resource: Resource, _: Resource) -> Resource:
    """Returns a StatefulSet whose claim templates have no kind (Convert_v1_StatefulSetSpec_To_apps_StatefulSetSpec)."""
    spec = mapping(resource.get("spec"))
    claims = [{**claim, "apiVersion": None, "kind": None} for claim in objects(spec.get("volumeClaimTemplates"))]
    return {**resource, "spec": {**spec, "volumeClaimTemplates": claims}}


_PREPARED: dict[str, Callable[[Resource, Resource], Resource]] = {
    "PersistentVolumeClaim": _claim,
    "Pod": _pod,
    "Secret": _secret,
    "resource.ResourceClaim": _claimed_devices,
    "resource.ResourceClaimTemplate": _claimed_devices,
    "apps.StatefulSet": _stateful_set,
}


def _special(struct: str, value: dict[str, Any]) -> dict[str, Any]:
    """Returns the defaults that depend on other fields."""
    if struct == "batch.JobSpec" and value.get("completions") is None and value.get("parallelism") is None:
        return {"completions": 1}
    if struct in ("resource.ExactDeviceRequest", "resource.DeviceSubRequest"):
        counted = (value.get("allocationMode") or "ExactCount") == "ExactCount"
        return {"count": value.get("count") or 1} if counted else {}
    return stored_templates.NATIVE.special(struct, value)


_FORM = stored_templates.NATIVE._replace(defaults=_DEFAULTS, special=_special)
