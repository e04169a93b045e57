"""The lines below the tables of `krm-fn status`: how many resources are ready, whether a syncer keeps their status, and the next step."""

from __future__ import annotations

from collections.abc import Iterator

from krm_fn.base import report
from krm_fn.base.escaping import BOLD, GREEN, RED, YELLOW
from krm_fn.base.report_model import ReportLines, Span
from krm_fn.cli import status_tables
from krm_fn.render import labels
from krm_fn.review.inputs import syncer_state
from krm_fn.review.inputs.computed_status import ComputedStatus, StaleStatus
from krm_fn.syncer.status import cached_object

_SHOWN = 3
"""The most names in a line."""
_PODS = "kubectl get pods -n {} -l app.kubernetes.io/name=krm-fn-sync"


def lines(statuses: ComputedStatus) -> ReportLines:
    """Returns the lines; empty without Dynamo resources."""
    if not statuses.objects:
        return ReportLines([])
    stale = list(statuses.stale())
    more = [_colour_span(f"and {len(stale) - _SHOWN} more", RED)] * (len(stale) > _SHOWN)
    step = _next_step(statuses, stale)
    after = [_colour_span(f"next: {step}", BOLD)] if step else []
    return ReportLines([_counts(statuses), *_drift(statuses), *map(_stale, stale[:_SHOWN]), *more, *_syncer(statuses), *after])


def _colour_span(text: str, colour: int) -> Span:
    return Span(text, colour=(colour,))


def progress(statuses: ComputedStatus) -> str:
    """Returns a text about what is waited for: `graphs 1/2 ready; not ready: team/chat`."""
    unready = [status_tables.full_name(resource.key) for resource in statuses.unready()]
    names = f"; not ready: {report.list_first(unready, _SHOWN)}" if unready else ""
    return f"{_ready(statuses)}{names}" if statuses.objects else "no Dynamo resource yet"


def nothing(statuses: ComputedStatus) -> str:
    """Says where no Dynamo resource was found, and what to do."""
    cluster = statuses.cluster
    if not cluster.name:
        return "no Dynamo resource among the objects"
    missing = sorted({kind.resource for kind in cluster.unlisted if kind.kind == cached_object.GRAPH})
    if missing:
        fix = "install Dynamo's definitions (krm-fn crds), or get the right to list them"
        return f"no Dynamo resource in {cluster.name}: it does not list {', '.join(missing)}; {fix}"
    return f"no Dynamo resource in {cluster.name}; apply the output of a build, or name another namespace with -n or -A"


def _ready(statuses: ComputedStatus) -> str:
    return ", ".join(f"{noun} {ready}/{total} ready" for noun, (ready, total) in statuses.ready_counts().items()) or "nothing to wait for"


def _counts(statuses: ComputedStatus) -> Span:
    unready = list(statuses.unready())
    failed = sum(1 for resource in unready if resource.failed)
    text_ = f"{_ready(statuses)}{f', {failed} failed' if failed else ''}"
    return _colour_span(text_, RED if failed else YELLOW if unready else GREEN)


def _drift(statuses: ComputedStatus) -> Iterator[Span]:
    for cached, _ in statuses.workloads():
        if message := statuses.drift(cached):
            yield _colour_span(f"changed in the cluster: {status_tables.full_name(cached.key)}: {message}", YELLOW)


def _stale(stale: StaleStatus) -> Span:
    name = status_tables.full_name(stale.key)
    stored = f"Ready={stale.stored}" if stale.stored else "nothing"
    return _colour_span(f"the stored status is old: {name} says {stored}, and its objects say Ready={stale.computed}", RED)


def _syncer(statuses: ComputedStatus) -> Iterator[Span]:
    """Yields the line about the syncer: its Leases, and its last write."""
    state, now = statuses.cluster.syncer, statuses.now
    written = ""
    if state.last_write:
        age = status_tables.age(state.last_write.time, now)
        written = f"; last status written {age} ago, of {status_tables.full_name(state.last_write.key)}"
    live = state.live(now)
    if live:
        holders = report.list_first([f"{lease.holder} ({status_tables.full_name(lease.key)})" for lease in live], _SHOWN)
        yield _colour_span(f"syncer: runs, {holders}{written}", GREEN)
    elif state.leases:
        lease = state.leases[0]
        renewed = f"{lease.holder or 'nobody'} renewed the Lease {status_tables.full_name(lease.key)} last"
        yield _colour_span(f"syncer: does not run, {renewed}, {status_tables.age(lease.renewed, now)} ago{written}", RED)
    elif statuses.cluster.name:
        reason = state.problem or f"no Lease {syncer_state.LEASE} in {' and '.join(state.namespaces)}"
        yield _colour_span(f"syncer: unknown, {reason}{written}", YELLOW)
    elif written:
        yield _colour_span(f"syncer: unknown, the input has no Lease{written}", YELLOW)


def _next_step(statuses: ComputedStatus, stale: list[StaleStatus]) -> str:
    """Returns the one command or page that helps most; empty if all is well."""
    state = statuses.cluster.syncer
    if state.is_dead(statuses.now) or (stale and not state.live(statuses.now)):
        namespace = state.leases[0].key.namespace if state.leases else (*state.namespaces, syncer_state.NAMESPACE)[0]
        return f"{_PODS.format(namespace)}, because no syncer writes statuses (docs/syncer-operations.md#if-the-syncer-does-not-run)"
    if stale:
        return f"kubectl logs -n {state.live(statuses.now)[0].key.namespace} -l app.kubernetes.io/name=krm-fn-sync"
    for cached, workloads in statuses.workloads():
        for workload in workloads:
            if workload.problem and workload.status:
                selector = f"{labels.GRAPH}={cached.key.name},{labels.COMPONENT}={workload.entry.service}"
                return f"kubectl describe pods -n {cached.key.namespace} -l {selector}"
            if workload.problem:
                return "apply the output of the build again (docs/status.md#what-to-do)"
    if statuses.drifted_graphs():
        return "apply the output of the build again, or change the graph in Git (docs/status.md#changes-in-the-cluster)"
    unready = [resource.key for resource in statuses.unready()]
    return f"kubectl describe {unready[0].kind.lower()} -n {unready[0].namespace} {unready[0].name}" if unready else ""
