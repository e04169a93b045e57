"""The status of a DynamoGraphDeploymentScalingAdapter.

Follows the reference's `internal/controller/dynamographdeploymentscalingadapter_controller.go`. Two differences: `status.replicas` is the
observed number, and conditions say why a number does not reach the workload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels
from krm_fn.records import NamedTuple
from krm_fn.status import changes, conditions, fields, scaling, subject
from krm_fn.status.conditions import READY, RECONCILING, STALLED, Condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krm_fn.status.children import Children
    from krm_fn.status.features import Features
    from krm_fn.status.observe import Observation
    from krm_fn.status.scaling import Order
    from krm_fn.status.subject import Subject
    from krm_fn.workload_list import Entry

OWNED = (READY, RECONCILING, STALLED)
REFUSED = "UpdateFailed"
DROPPED = {"conditions", "observedGeneration"}
"""Fields that the reference's CRD does not have."""


class Verdict(NamedTuple):
    """Whether the workload has the number of the adapter. `stalled` is true if waiting does not help."""

    ready: bool
    reason: str
    message: str
    stalled: bool = False


def status(adapter: Subject, children: Children, now: str, graph: Subject | None, features: Features) -> dict[str, Any]:
    """The whole `.status` of an adapter. `graph` is None if it does not exist. `now` is an RFC 3339 time.

    An adapter of a graph without the annotation `workloads` keeps its status, because another program may write it.
    """
    if graph is not None and graph.entries is None and not graph.wrong:
        return adapter.status
    entries = [entry for entry in (graph.entries or () if graph else ()) if entry.service == adapter.service]
    found = [children.get(subject.workload(entry, adapter.key.namespace)) for entry in entries]
    written = {
        **adapter.status,
        "observedGeneration": adapter.generation or None,
        "replicas": min(sum(own.counts.replicas for own in found if own and own.counts), fields.LIMIT),
        "selector": f"{labels.GRAPH}={adapter.graph},{labels.COMPONENT}={adapter.service}",
    }
    verdict = _verdict(adapter, graph, entries, found, features)
    return judged({key: value for key, value in written.items() if value is not None}, adapter, verdict, now)


def judged(desired: dict[str, Any], adapter: Subject, verdict: Verdict, now: str) -> dict[str, Any]:
    """The status with the conditions of a verdict. A caller that writes knows more than the observations."""
    told = conditions.merge(adapter.status.get("conditions"), _conditions(verdict), OWNED, adapter.generation, now)
    return {**desired, "conditions": told}


def change(live: dict[str, Any], desired: dict[str, Any], *, kept: bool = True) -> dict[str, Any] | None:
    """The JSON merge patch from the live to the desired status; None if nothing is to be written.

    The reference's CRD drops `conditions` and `observedGeneration`. A live status that lacks only these is not written if they say nothing
    bad, or if the caller has seen that the API server drops them: then `kept` is false.
    """
    found = changes.patch(live, desired)
    if found and found.keys() <= DROPPED and not DROPPED & live.keys():
        return found if kept and fields.condition(desired, READY).get("status") != "True" else None
    return found


def rival(other: Subject) -> Verdict:
    """The verdict about an adapter that is the second for its service. `other` is the first."""
    return Verdict(False, "AdapterConflict", f"{other.key.name} scales service {other.service}; delete one of the two adapters", True)


def refused(order: Order, message: str) -> Verdict:
    """The verdict if the API server refuses an order. `message` is its reason."""
    workload = f"{order.key.kind} {order.key.name}"
    return Verdict(False, REFUSED, f"{workload} cannot be scaled from {order.was} to {order.replicas} replicas: {message}", True)


def _conditions(verdict: Verdict) -> list[Condition]:
    ready = Condition(READY, verdict.ready, verdict.reason, verdict.message)
    if verdict.ready:
        return [ready]
    return [ready, Condition(STALLED if verdict.stalled else RECONCILING, True, verdict.reason, verdict.message)]


def _verdict(
    adapter: Subject, graph: Subject | None, entries: Sequence[Entry], found: Sequence[Observation | None], features: Features
) -> Verdict:
    service, wanted = adapter.service, adapter.replicas or 0
    if graph is None:
        return Verdict(False, "GraphNotFound", f"graph {adapter.graph} does not exist in namespace {adapter.key.namespace}; create it")
    if graph.wrong:
        return Verdict(False, "InvalidWorkloads", f"the annotation {labels.WORKLOADS} of graph {adapter.graph} cannot be read", True)
    if service not in graph.services:
        return Verdict(
            False, "ServiceNotFound", f"graph {adapter.graph} has no service {service}; correct spec.dgdRef.{adapter.form.target}"
        )
    if not entries or any(scaling.smallest(entry) is None for entry in entries):
        return _by_git(adapter, sum(entry.replicas or 0 for entry in entries))
    if any(entry.replicas is not None for entry in entries):
        until = "until then its replicas change in Git"
        message = f"set {graph.form.adapter_on} in service {service} of graph {adapter.graph}; {until}"
        return Verdict(False, "AdapterNotEnabled", message, True)
    least = max(scaling.smallest(entry, own) or 0 for entry, own in zip(entries, found, strict=True))
    if wanted < least:
        message = f"a {entries[0].kind} needs {least} or more replicas; set spec.replicas to {least} or more"
        return Verdict(False, "TooFewReplicas", message, True)
    return _progress(adapter, found, features)


def _progress(adapter: Subject, found: Sequence[Observation | None], features: Features) -> Verdict:
    """Whether the workloads have the number, and if not, what is missing."""
    others = [own for own in found if own and own.desired != adapter.replicas]
    if not all(found):
        return Verdict(False, "WorkloadNotFound", f"service {adapter.service} has no workload yet")
    if not others:
        return Verdict(True, "Scaled", f"service {adapter.service} has the number of replicas that spec.replicas asks for")
    workload = f"{others[0].key.kind} {others[0].key.name}"
    if features.scaling:
        return Verdict(False, "Scaling", f"{workload} goes from {others[0].desired} to {adapter.replicas} replicas")
    message = f"krm-fn sync runs without --scaling, so {workload} stays at replicas: {others[0].desired}"
    return Verdict(False, "ScalingDisabled", message, True)


def _by_git(adapter: Subject, replicas: int) -> Verdict:
    """A render writes these replicas into LeaderWorkerSets, or makes one of them for each, so the syncer cannot add one."""
    service = adapter.service
    message = f"service {service} has {replicas} replicas in LeaderWorkerSets, and only a render can change that"
    if adapter.replicas == replicas:
        return Verdict(True, "ReplicasChangeInGit", message)
    return Verdict(False, "ReplicasChangeInGit", f"{message}; set replicas: {adapter.replicas} for service {service} in Git", True)
