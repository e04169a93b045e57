"""Pod templates as an API server stores them: only what differs in this form replaces pods.

An API server decodes a template into Go values, fills in defaults, and drops zero values. A Deployment compares these values
(`EqualIgnoreHash` in `pkg/controller/deployment/util` of Kubernetes). The controllers of LeaderWorkerSets and PodCliqueSets compare what
their own definitions let the API server fill in, which is less.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import go_json, paths, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from krm_fn.base.results import Path

_MILLI = quantity.UNIT // 1000
_MODE = {"defaultMode": 0o644}
_STORAGE: dict[str, dict[str, Any]] = {
    "ISCSIVolumeSource": {"iscsiInterface": "default"},
    "RBDVolumeSource": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "ScaleIOVolumeSource": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
_EVERYWHERE: dict[str, dict[str, Any]] = {
    **_STORAGE,
    "ContainerPort": {"protocol": "TCP"},
    "GRPCAction": {"service": ""},
    "AzureDiskVolumeSource": {"fsType": "ext4", "readOnly": False},
    "FileKeySelector": {"optional": False},
}
"""The defaults of the schemas that Kubernetes' types give to every definition (`+default` in `k8s.io/api/core/v1`)."""

NATIVE_DEFAULTS: dict[str, dict[str, Any]] = {
    **_EVERYWHERE,
    "PodSpec": {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    },
    "Container": {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"},
    "Probe": {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
    "HTTPGetAction": {"path": "/", "scheme": "HTTP"},
    "ObjectFieldSelector": {"apiVersion": "v1"},
    "HostPathVolumeSource": {"type": ""},
    "SecretVolumeSource": _MODE,
    "ConfigMapVolumeSource": _MODE,
    "DownwardAPIVolumeSource": _MODE,
    "ProjectedVolumeSource": _MODE,
    "ServiceAccountTokenProjection": {"expirationSeconds": 3600},
    "PersistentVolumeClaimSpec": {"volumeMode": "Filesystem"},
    "AzureDiskVolumeSource": {"fsType": "ext4", "readOnly": False, "cachingMode": "ReadWrite", "kind": "Shared"},
}
"""The defaults of pod templates in Kubernetes' own kinds (`pkg/apis/core/v1/defaults.go`, SetObjectDefaults_PodTemplate)."""

_CLIQUE = {**_EVERYWHERE, "PodSpec": {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30}}
"""The further defaults of Grove's admission (`operator/internal/webhook/admission/pcs/defaulting/podcliqueset.go`, defaultPodSpec)."""


class Form(NamedTuple):
    """How values of one kind of object are stored.

    `fills_zeros` is true if a default replaces a zero value too. `special` computes the defaults that depend on other fields. `amount`
    returns what is compared of a quantity; its second argument is true in a list of resources. `keeps_empty` is true if an empty list
    differs from a missing one.
    """

    defaults: Mapping[str, dict[str, Any]]
    fills_zeros: bool
    special: Callable[[str, dict[str, Any]], dict[str, Any]]
    amount: Callable[[Any, bool], Any]
    keeps_empty: bool = False


def native(template: Any) -> Any:
    """Returns the template of a Deployment in the form that its controller compares. Quantities are numbers of billionths."""
    return stored_struct(template, "PodTemplateSpec", NATIVE)


def revision(template: Any) -> Any:
    """Returns the template of a StatefulSet in the form that its controller compares: the JSON text of getPatch.

    A quantity has another text in another family of suffixes: `8Gi` and `8589934592` differ.
    """
    return stored_struct(template, "PodTemplateSpec", _REVISION)


def group(template: Any) -> Any:
    """Returns a template of a LeaderWorkerSet in the form that its controller compares (`pkg/utils/revision`, getPatch)."""
    return stored_struct(template, "PodTemplateSpec", _GROUP)


def clique(template: Any) -> Any:
    """Returns the pod template of a clique in the form that Grove hashes (`ComputeHash`, which prints the Go values)."""
    return stored_struct(template, "PodTemplateSpec", _GROVE)


_FORMS = {
    **dict.fromkeys((place.spec for place in paths.NATIVE_TEMPLATES), native),
    **dict.fromkeys((place.spec for place in (*paths.GROUP_TEMPLATES, *paths.ROLE_TEMPLATES)), group),
    **dict.fromkeys((place.spec for place in paths.CLIQUE_TEMPLATES), clique),
}


def form(path: Path) -> Callable[[Any], Any] | None:
    """Returns the form of the template whose pod spec is at a path of a workload; None if no pod spec is there."""
    return next((function for pattern, function in _FORMS.items() if paths.matches(path, pattern)), None)


@cache
def _fields(name: str) -> list[go_json.GoField]:
    return go_json.fields(go_json.kinds()[name])


@cache
def _numbered_fields(name: str) -> dict[str, tuple[int, go_json.GoField]]:
    return {field.name: (number, field) for number, field in enumerate(_fields(name))}


def stored_struct(value: Any, struct: str, form: Form) -> Any:
    """Returns a Go struct: its fields that are not zero. A value of another type is returned unchanged; an API server refuses it."""
    if not isinstance(value, dict):
        return {} if value is None else value
    if special := form.special(struct, value):
        value = {**value, **special}
    defaults, fields, known = form.defaults.get(struct, {}), {}, _numbered_fields(struct)
    names = {**value, **defaults} if defaults else value
    for _, field in sorted([known[name] for name in names if name in known]):  # a struct has many more fields than a value
        written = value.get(field.name)
        if field.name in defaults and (written is None or (form.fills_zeros and field.mark != "*" and not written)):
            written = defaults[field.name]
        if written is None:
            continue
        content = _value(written, field, form)
        if field.mark == "*" or content or (form.keeps_empty and field.mark):
            fields[field.name] = content
    return fields


def _value(value: Any, field: go_json.GoField, form: Form) -> Any:
    if field.mark == "[]" and isinstance(value, list):
        return [_single(entry, field.kind, form) for entry in value]
    if field.mark == "{}" and isinstance(value, dict):
        return {key: _single(entry, field.kind, form, listed=True) for key, entry in value.items()}
    return _single(value, field.kind, form)


def _single(value: Any, kind: str, form: Form, *, listed: bool = False) -> Any:
    if kind == "Quantity":
        return form.amount(value, listed)
    if kind in go_json.kinds():
        return stored_struct(value, kind, form)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _of_native(struct: str, value: dict[str, Any]) -> dict[str, Any]:
    """Returns the defaults that depend on other fields (SetDefaults_Container, SetDefaults_Volume, Convert_v1_PodSpec_To_core_PodSpec)."""
    if struct == "Container" and not value.get("imagePullPolicy"):
        return {"imagePullPolicy": pull_policy(value.get("image"))}
    if struct == "ImageVolumeSource" and not value.get("pullPolicy"):
        return {"pullPolicy": pull_policy(value.get("reference"))}
    if struct == "Volume" and not any(value.get(field.name) is not None for field in _fields(struct) if field.mark == "*"):
        return {"emptyDir": {}}
    if struct == "PodSpec":
        account = value.get("serviceAccountName") or value.get("serviceAccount")
        return {"serviceAccountName": account, "serviceAccount": account}
    return {}


def pull_policy(image: Any) -> str:
    """Returns `Always` for the tag `latest`, which an image has that names neither tag nor digest; otherwise `IfNotPresent`."""
    name, digest, _ = f"{image or ''}".partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


def _of_custom(_struct: str, _value: dict[str, Any]) -> dict[str, Any]:
    return {}


def _number(value: Any, listed: bool) -> Any:
    """Returns the amount in billionths. Resources are rounded up to thousandths (SetDefaults_ResourceList)."""
    try:
        amount = quantity.parse(f"{value}").value
    except ValueError:
        return value
    return -(-amount // _MILLI) * _MILLI if listed else amount


def _text(value: Any, listed: bool) -> Any:
    """Returns the text of a quantity as an API server prints it."""
    amount = _number(value, listed)
    exact = isinstance(amount, int) and quantity.parse(f"{value}").value == amount
    return quantity.canonical(f"{value}") if exact else amount


NATIVE = Form(NATIVE_DEFAULTS, fills_zeros=True, special=_of_native, amount=_number)
_REVISION = NATIVE._replace(amount=_text)
_GROUP = Form(_EVERYWHERE, fills_zeros=False, special=_of_custom, amount=lambda value, _: quantity.canonical(f"{value}"))
_GROVE = Form(_CLIQUE, fills_zeros=False, special=_of_custom, amount=lambda value, _: f"{value}", keeps_empty=True)
