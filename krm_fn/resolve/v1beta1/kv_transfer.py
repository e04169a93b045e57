"""Lays the policy for key-value caches into the pods of workers: variables, and a volume with the labels of the pod's place.

Follows the reference's `internal/dynamo/graph.go` applyKvTransferPolicyToWorkerComponent. Its controller copies the labels of a node to
the pods on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels, merge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.kube.types import EnvVar, Labels

_VOLUME, _FOLDER = "topology-labels", "/etc/dynamo/topology"
_OWN = (
    "DYN_KV_TRANSFER_DOMAIN",
    "DYN_KV_TRANSFER_ENFORCEMENT",
    "DYN_KV_TRANSFER_PREFERRED_WEIGHT",
    "DYN_TOPOLOGY_ENABLED",
    "DYN_TOPOLOGY_MOUNT_PATH",
)
_SOURCES = (labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME)


def policy(spec: dict[str, Any]) -> dict[str, Any] | None:
    """The policy of a graph; None if it has none, or none that names where the labels come from."""
    found: dict[str, Any] = (spec.get("experimental") or {}).get("kvTransferPolicy") or {}
    return found if found.get("labelKey") or found.get("clusterTopologyName") else None


def laid(template: dict[str, Any], main: dict[str, Any], written: dict[str, Any], domains: Sequence[str]) -> dict[str, Any]:
    """The pod template of a worker with the policy. `main` is its main container, `domains` are those of the policy's ClusterTopology."""
    spec = template.get("spec") or {}
    mounts = [each for each in main.get("volumeMounts") or () if each.get("name") != _VOLUME and each.get("mountPath") != _FOLDER]
    volumes = [each for each in spec.get("volumes") or () if each.get("name") != _VOLUME]
    own = [variable for variable in main.get("env") or () if variable.get("name") not in _OWN]
    changed = {
        **main,
        "env": merge.envs(own, _variables(written)),
        "volumeMounts": [*mounts, {"name": _VOLUME, "mountPath": _FOLDER, "readOnly": True}],
    }
    containers = [changed if each is main else each for each in spec["containers"]]
    volume = {"name": _VOLUME, "downwardAPI": {"items": _files(written, domains)}}
    return {**template, "spec": {**spec, "containers": containers, "volumes": [*volumes, volume]}}


def annotated(annotations: Labels, written: dict[str, Any] | None) -> Labels:
    """The annotations of a component's objects and pods. They say which labels of a node its pods need."""
    found = {key: value for key, value in annotations.items() if key not in _SOURCES}
    wanted = written or {}
    sources = {labels.TOPOLOGY_KEY: wanted.get("labelKey"), labels.TOPOLOGY_NAME: wanted.get("clusterTopologyName")}
    return {**found, **{key: value for key, value in sources.items() if value}}


def _variables(written: dict[str, Any]) -> list[EnvVar]:
    weight = written.get("preferredWeight")
    values = {
        "DYN_KV_TRANSFER_DOMAIN": written.get("domain") or "",
        "DYN_KV_TRANSFER_ENFORCEMENT": written.get("enforcement") or "required",
        "DYN_KV_TRANSFER_PREFERRED_WEIGHT": None if weight is None else single(weight),
        "DYN_TOPOLOGY_ENABLED": "true",
        "DYN_TOPOLOGY_MOUNT_PATH": _FOLDER,
    }
    return [{"name": name, "value": value} for name, value in values.items() if value is not None]


def _files(written: dict[str, Any], domains: Sequence[str]) -> list[dict[str, Any]]:
    """One file for each domain, with the label of the pod that holds its value."""
    keys = {domain: f"{labels.TOPOLOGY_PREFIX}{domain}" for domain in domains}
    if written.get("labelKey"):
        keys = {written.get("domain") or "": written["labelKey"]}
    return [{"path": domain, "fieldRef": {"fieldPath": f"metadata.labels['{key}']"}} for domain, key in keys.items()]


def single(number: float) -> str:
    """A number as the shortest text that has the same value in 32 bits, in which the reference keeps it.

    >>> single(0.85), single(1), single(0.00001), single(0.123456789)
    ('0.85', '1', '0.00001', '0.12345679')
    """
    import struct  # noqa: PLC0415 - few graphs have a weight
    from decimal import Decimal  # noqa: PLC0415 - as above

    exact = struct.pack("f", number)
    texts = (f"{number:.{digits}g}" for digits in range(1, 10))
    return format(Decimal(next(text for text in texts if struct.pack("f", float(text)) == exact)), "f")
