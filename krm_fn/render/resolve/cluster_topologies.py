"""Topology domains: compares those of a graph with its ClusterTopologyBinding, and adds the policy for key-value caches to worker pods.

The policy needs variables, and a volume with the labels of the node. Follows the operator's `internal/dynamo/graph.go`
(resolveGroveClusterTopologyDomains, applyKvTransferPolicyToWorkerComponent) and its admission. Its controller copies the labels of a node
to the pods on it.
"""

from __future__ import annotations

from krm_fn.base import codes, results
from krm_fn.kubernetes import merge
from krm_fn.render import labels, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from krm_fn.base.results import Path
    from krm_fn.kubernetes.native_types import EnvVar
    from krm_fn.kubernetes.types import Labels
    from krm_fn.render.resolve.graph_context import GraphContext


_FOLDER = "/etc/dynamo/topology"
_OWN = (
    "DYN_KV_TRANSFER_DOMAIN",
    "DYN_KV_TRANSFER_ENFORCEMENT",
    "DYN_KV_TRANSFER_PREFERRED_WEIGHT",
    "DYN_TOPOLOGY_ENABLED",
    "DYN_TOPOLOGY_MOUNT_PATH",
)
_SOURCES = (labels.TOPOLOGY_KEY, labels.TOPOLOGY_NAME)


def domains(context: GraphContext, spec: dict[str, Any]) -> tuple[str, ...]:
    """Returns the domains of the topology that the policy for key-value caches names; empty if it names none.

    A finding is added to `context` for a topology or domain that does not exist. Only Grove has topologies, and without the policy a
    topology may also be missing among the items: then the cluster has it, or Grove waits for it.
    """
    if context.per_component:
        return ()
    _check_constraints(context, spec)
    transfer = policy(spec) or {}
    name = transfer.get("clusterTopologyName") or ""
    if not name or transfer.get("labelKey"):
        return ()
    if name not in context.cluster.topologies:
        kind = context.release.grove.topology_kind
        message = f"the pods need a file for each domain of the {kind} {name}, which is not among the items; add it to them"
        context.findings.append(
            results.error(
                codes.MISSING_CLUSTER_TOPOLOGY_BINDING,
                message,
                context.ref,
                context.paths.at("experimental", "kvTransferPolicy", "clusterTopologyName"),
            )
        )
        return ()
    _check_domain(context, name, transfer.get("domain") or "", context.paths.at("experimental", "kvTransferPolicy", "domain"))
    return context.cluster.topologies[name]


def _check_constraints(context: GraphContext, spec: dict[str, Any]) -> None:
    """Reports domains that the topology lacks, and domains of components that are wider than that of their graph."""
    whole = spec.get("topologyConstraint") or {}
    name, outer = whole.get("clusterTopologyName") or "", whole.get("packDomain") or ""
    known = context.cluster.topologies.get(name)
    if known is None:
        return
    if outer:
        _check_domain(context, name, outer, context.paths.at("topologyConstraint", "packDomain"))
    for component in spec.get("components") or ():
        inner = (component.get("topologyConstraint") or {}).get("packDomain") or ""
        if not inner:
            continue
        at = context.paths.component(component.get("name") or "").at("topologyConstraint", "packDomain")
        _check_domain(context, name, inner, at)
        if inner in known and outer in known and known.index(inner) < known.index(outer):
            message = f"{inner} is wider than {outer}, the domain of the graph; write a narrower domain, or that of the graph"
            context.findings.append(results.error(codes.UNKNOWN_TOPOLOGY_DOMAIN, message, context.ref, at))


def _check_domain(context: GraphContext, name: str, domain: str, at: Path) -> None:
    known = context.cluster.topologies[name]
    if domain not in known:
        message = f"the {context.release.grove.topology_kind} {name} has no domain {domain}; write one of {', '.join(known)}"
        context.findings.append(results.error(codes.UNKNOWN_TOPOLOGY_DOMAIN, message, context.ref, at))


def policy(spec: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the policy of a graph; None if it has none, or none that names where the labels come from."""
    policy: dict[str, Any] = (spec.get("experimental") or {}).get("kvTransferPolicy") or {}
    return policy if policy.get("labelKey") or policy.get("clusterTopologyName") else None


def laid(template: dict[str, Any], main: dict[str, Any], written: dict[str, Any], domains: Sequence[str]) -> dict[str, Any]:
    """Returns the pod template of a worker with the policy for key-value transfers.

    `main` is the container that runs Dynamo, `domains` are those of the ClusterTopology of the policy.

    Rule kv-transfer.pod: The policy for key-value transfers becomes variables and a volume of each worker. (operator:
    internal/dynamo/graph.go applyKvTransferPolicyToWorkerComponent)
    """
    spec = template.get("spec") or {}
    mounts = [
        mount
        for mount in main.get("volumeMounts") or ()
        if mount.get("name") != names.TOPOLOGY_LABELS and mount.get("mountPath") != _FOLDER
    ]
    volumes = [volume for volume in spec.get("volumes") or () if volume.get("name") != names.TOPOLOGY_LABELS]
    variables = [variable for variable in main.get("env") or () if variable.get("name") not in _OWN]
    changed = {
        **main,
        "env": merge.envs(variables, _variables(written)),
        "volumeMounts": [*mounts, {"name": names.TOPOLOGY_LABELS, "mountPath": _FOLDER, "readOnly": True}],
    }
    lists = {
        field: [changed if container is main else container for container in spec[field]]
        for field in ("initContainers", "containers")
        if spec.get(field)
    }
    policy_volume = {"name": names.TOPOLOGY_LABELS, "downwardAPI": {"items": _files(written, domains)}}
    return {**template, "spec": {**spec, **lists, "volumes": [*volumes, policy_volume]}}


def add_topology_annotations(annotations: Labels, written: dict[str, Any] | None) -> Labels:
    """Returns the annotations of a component's objects and pods. They say which labels of a node its pods need.

    Rule kv-transfer.annotations: A worker has an annotation with the source of its topology. (operator: internal/dynamo/graph.go
    applyKvTransferPolicyToWorkerComponent)
    """
    others = {key: value for key, value in annotations.items() if key not in _SOURCES}
    wanted = written or {}
    sources = {labels.TOPOLOGY_KEY: wanted.get("labelKey"), labels.TOPOLOGY_NAME: wanted.get("clusterTopologyName")}
    return {**others, **{key: value for key, value in sources.items() if value}}


def _variables(written: dict[str, Any]) -> list[EnvVar]:
    """Returns the variables of a policy for key-value transfers.

    Rule kv-transfer.variables: A worker knows the policy for key-value transfers from variables. (operator: internal/dynamo/graph.go
    applyKvTransferPolicyToWorkerComponent)
    """
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
    """Returns the files of the volume with the topology.

    Rule kv-transfer.files: A worker has one file for each domain of the topology, with the value of a label of its pod. (operator:
    internal/dynamo/graph.go applyKvTransferPolicyToWorkerComponent)
    """
    keys = {domain: f"{labels.TOPOLOGY_PREFIX}{domain}" for domain in domains}
    if written.get("labelKey"):
        keys = {written.get("domain") or "": written["labelKey"]}
    return [{"path": domain, "fieldRef": {"fieldPath": f"metadata.labels['{key}']"}} for domain, key in keys.items()]


def single(number: float) -> str:
    """Returns a number as the shortest text that has the same value in 32 bits, in which the operator keeps it.

    >>> single(0.85), single(1), single(0.00001), single(0.123456789)
    ('0.85', '1', '0.00001', '0.12345679')
    """
    import struct  # noqa: PLC0415 - few graphs have a weight
    from decimal import Decimal  # noqa: PLC0415 - as above

    exact = struct.pack("f", number)
    texts = (f"{number:.{digits}g}" for digits in range(1, 10))
    return format(Decimal(next(text for text in texts if struct.pack("f", float(text)) == exact)), "f")
