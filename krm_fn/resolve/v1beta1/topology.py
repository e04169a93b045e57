"""Compares the topology domains in a graph with those of the ClusterTopologyBinding that it names.

Follows the reference's `internal/dynamo/graph.go` resolveGroveClusterTopologyDomains and its admission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.plan.address import filled
from krm_fn.resolve import pathway
from krm_fn.resolve.v1beta1 import kv_transfer

if TYPE_CHECKING:
    from krm_fn.resolve.context import Shared
    from krm_fn.results import Path

_KIND = "ClusterTopologyBinding"


def domains(facts: Shared, spec: dict[str, Any]) -> tuple[str, ...]:
    """The domains of the topology that the policy for key-value caches names; empty if it names none.

    A finding is added to `facts` for a topology or domain that does not exist. Only Grove has topologies, and without the policy a
    topology may also be missing among the items: then the cluster has it, or Grove waits for it.
    """
    if pathway.per_component(facts):
        return ()
    _check_constraints(facts, spec)
    policy = kv_transfer.policy(spec) or {}
    name = policy.get("clusterTopologyName") or ""
    if not name or policy.get("labelKey"):
        return ()
    if name not in facts.cluster.topologies:
        message = f"the pods need a file for each domain of the {_KIND} {name}, which is not among the items; add it to them"
        facts.found.append(results.error("DYN436", message, facts.ref, facts.book.graph["kv_transfer.topology"]))
        return ()
    _check_domain(facts, name, policy.get("domain") or "", filled(facts.book.graph["kv_transfer"], ("domain",)))
    return facts.cluster.topologies[name]


def _check_constraints(facts: Shared, spec: dict[str, Any]) -> None:
    """The domains of the graph and of its components must exist, and that of a component may not be wider than that of the graph."""
    whole = spec.get("topologyConstraint") or {}
    name, outer = whole.get("clusterTopologyName") or "", whole.get("packDomain") or ""
    known = facts.cluster.topologies.get(name)
    if known is None:
        return
    if outer:
        _check_domain(facts, name, outer, facts.book.graph["topology.domain"])
    for component in spec.get("components") or ():
        inner = (component.get("topologyConstraint") or {}).get("packDomain") or ""
        if not inner:
            continue
        address = facts.book.component(component.get("name") or "")
        at: Path = (*address.path, *filled(address.fields["topology"], ("packDomain",)))
        _check_domain(facts, name, inner, at)
        if inner in known and outer in known and known.index(inner) < known.index(outer):
            message = f"{inner} is wider than {outer}, the domain of the graph; write a narrower domain, or that of the graph"
            facts.found.append(results.error("DYN437", message, facts.ref, at))


def _check_domain(facts: Shared, name: str, domain: str, at: Path) -> None:
    known = facts.cluster.topologies[name]
    if domain not in known:
        message = f"the {_KIND} {name} has no domain {domain}; write one of {', '.join(known)}"
        facts.found.append(results.error("DYN437", message, facts.ref, at))
