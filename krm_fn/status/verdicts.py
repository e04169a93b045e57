"""What the observations say about the entries of the annotation `workloads`, in words that a person can act on."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from krm_fn.kube import labels, names
from krm_fn.records import NamedTuple
from krm_fn.status import observe, scaling, subject, times
from krm_fn.status.observe import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.status.children import Children
    from krm_fn.status.features import Features
    from krm_fn.status.observe import Observation, Observer
    from krm_fn.workload_list import Entry

PATIENCE = 600
"""Seconds until a pod that cannot start counts as failed. It is Kubernetes' default of `progressDeadlineSeconds`."""


class Scope(NamedTuple):
    """Where and how entries are judged. `graph` is the name of the graph, or empty for a component alone. `now` is an RFC 3339 time."""

    namespace: str
    graph: str
    children: Children
    features: Features
    now: str


class Verdict(NamedTuple):
    """One workload. `own` is None if it does not exist; `why` is empty if it is ready; `failure` is set if waiting does not help."""

    entry: Entry
    resource: str
    part: str
    own: Observation | None = None
    why: str = ""
    failure: Failure | None = None


def judge(entries: Iterable[Entry], scope: Scope) -> list[Verdict]:
    """The verdicts, in the order of the entries. Entries name objects in the namespace of the graph only."""
    return [_verdict(entry, scope) for entry in entries]


def reasons(verdicts: Iterable[Verdict]) -> str:
    """The workloads that are not ready, sorted: `demo-decode: why; demo-frontend: why` (reference: the message of Ready)."""
    parts: dict[str, list[str]] = {}
    for each in verdicts:
        if each.why:
            parts.setdefault(each.resource, []).append(f"{each.part}: {each.why}" if each.part else each.why)
    return "; ".join(f"{resource}: {'; '.join(sorted(found))}" for resource, found in sorted(parts.items()))


def failed(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The first workload that failed, by name."""
    return min((each for each in verdicts if each.failure), key=lambda each: (each.resource, each.part), default=None)


def recheck(verdicts: Iterable[Verdict], scope: Scope) -> float | None:
    """Seconds until the first verdict changes although no object changes; None if none does."""
    moments = (_remaining(pod, scope.now) for each in verdicts if each.why and not each.failure for pod in _failing(each, scope))
    return min((moment for moment in moments if moment < inf), default=None)


def _verdict(entry: Entry, scope: Scope) -> Verdict:
    found = subject.workload(entry, scope.namespace)
    observer = observe.find(found.group, found.kind)
    if observer is None:
        return Verdict(
            entry, entry.name, "", None, f"this version does not know the kind {entry.kind} of {entry.api_version}, update krm-fn"
        )
    resource, part = observer.reported(names.graph_of(entry.kind, entry.name, entry.service) or scope.graph, entry.name)
    own = scope.children.get(found)
    if own is None:
        return Verdict(entry, resource, part, None, "resource not found")
    uncounted = _uncounted(entry, own, observer, scope.features)
    if uncounted or not own.why or observe.behind(own):
        return Verdict(entry, resource, part, own, uncounted or own.why)
    verdict = Verdict(entry, resource, part, own, f"{own.why}, {_hint(entry, own, scope)}")
    return verdict._replace(failure=_failure(verdict, scope))


def _uncounted(entry: Entry, own: Observation, observer: Observer, features: Features) -> str:
    """Says that an object has other replicas than Git wants, where only a scale request changes them. Grove makes 1 pod of 0 replicas."""
    if not observer.scaled_by_syncer or entry.replicas is None:
        return ""
    if own.desired in (entry.replicas, max(entry.replicas, scaling.smallest(entry, own) or 0)):
        return ""
    why = f"desired={own.desired}, in the graph={entry.replicas}"
    if features.grove_counts:
        return why
    scale = f"kubectl scale {observer.kind.lower()} -n {own.key.namespace} {own.key.name} --replicas={entry.replicas}"
    return f"{why}, Grove does not follow the graph, run krm-fn sync with --grove-counts or {scale}"


def _hint(entry: Entry, own: Observation, scope: Scope) -> str:
    """The reason of a pod, or the command that shows it."""
    if pod := _newest(_troubled(entry.service, scope)):
        said = f', last message "{pod.said}"' if pod.said and scope.features.pod_messages else ""
        return f"pod {pod.key.name}: {pod.why}{said}"
    selector = f"{labels.GRAPH}={scope.graph},{labels.COMPONENT}={entry.service}" if scope.graph else own.selector
    return f"see kubectl describe pods -n {scope.namespace} -l {selector}"


def _failure(verdict: Verdict, scope: Scope) -> Failure | None:
    """The failure of the workload, or of a pod for too long if the controller of the workload knows no deadline."""
    if verdict.own and verdict.own.failure:
        return Failure(verdict.own.failure.reason, verdict.why)
    pod = _newest(pod for pod in _failing(verdict, scope) if _remaining(pod, scope.now) <= 0)
    return Failure(pod.failure.reason, verdict.why) if pod and pod.failure else None


def _failing(verdict: Verdict, scope: Scope) -> Iterator[Observation]:
    """The pods that cannot start, if their time is limited here."""
    if verdict.own and not observe.get(verdict.entry.kind).has_deadline:
        yield from (pod for pod in _troubled(verdict.entry.service, scope) if pod.failure)


def _troubled(service: str, scope: Scope) -> Iterator[Observation]:
    """The pods of a service that say why they are not ready."""
    if scope.features.pods:
        family = scope.children.family(scope.namespace, scope.graph)
        yield from (pod for pod in family if pod.key.kind == "Pod" and pod.member == service and pod.why)


def _newest(pods: Iterable[Observation]) -> Observation | None:
    """The newest pod; one that cannot start comes before one that waits."""
    return max(pods, key=lambda pod: (pod.failure is not None, pod.since, pod.key.name), default=None)


def _remaining(pod: Observation, now: str) -> float:
    """Seconds until a pod counts as failed; infinite if its times cannot be read."""
    begin, end = times.seconds(pod.since), times.seconds(now)
    return inf if begin is None or end is None else begin + PATIENCE - end
