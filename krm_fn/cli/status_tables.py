"""Tables of computed statuses, for people: one row for each workload of graphs, for each request, and for each model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from krm_fn.base.report_model import ReportTable
from krm_fn.kubernetes import values
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import labels
from krm_fn.review.inputs.computed_status import ComputedStatus
from krm_fn.syncer.status import conditions, live_fields
from krm_fn.syncer.status.cached_model import CachedModel
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.cached_request import CachedRequest
from krm_fn.syncer.status.readiness import WorkloadReadiness

_DAY = 86_400
_YEAR = 365 * _DAY
_AGE_UNITS = {"s": 1, "m": 60, "h": 3600, "d": _DAY, "y": _YEAR}
_AGES = (
    (2 * 60, "s", ""),
    (10 * 60, "m", "s"),
    (3 * 3600, "m", ""),
    (8 * 3600, "h", "m"),
    (2 * _DAY, "h", ""),
    (8 * _DAY, "d", "h"),
    (2 * _YEAR, "d", ""),
    (8 * _YEAR, "y", "d"),
)
"""Limits of ages in seconds, each with the unit below it and the smaller unit beside that."""


class _WorkloadRow(NamedTuple):
    """The cells of one row. `ready` is `1/2`: one of two replicas."""

    graph: str
    service: str
    workload: str
    ready: str
    since: str
    problem: str


class _RequestRow(NamedTuple):
    """The cells of one request. `graph` is the graph that it deployed, or the generated one."""

    request: str
    state: str
    job: str
    graph: str
    problem: str


class _ModelRow(NamedTuple):
    """The cells of one model. `ready` is `1/2`: one of two endpoints."""

    model: str
    type: str
    base: str
    ready: str
    problem: str


_HEAD = _WorkloadRow("Graph", "Service", "Workload", "Ready", "Since", "Why")
_REQUEST_HEAD = _RequestRow("Request", "State", "Job", "Graph", "Why")
_MODEL_HEAD = _ModelRow("Model", "Type", "Base", "Ready", "Why")

_DEFAULT_TYPE = "base"
_UNKNOWN = f"no annotation {labels.WORKLOADS}, and the workloads of this version of the resource are not known"


def tables(statuses: ComputedStatus) -> list[ReportTable]:
    """Returns a table of workloads, one of requests and one of models, each only if it has rows; without any row, the first head."""
    workloads = [row for cached, readiness in statuses.workloads() for row in _workload_rows(cached, readiness, statuses.now)]
    requests = [_request_row(cached, fields) for cached, fields in statuses.requests()]
    models = [_model_row(cached, fields) for cached, fields in statuses.models()]
    listed = [ReportTable(_HEAD, workloads), ReportTable(_REQUEST_HEAD, requests), ReportTable(_MODEL_HEAD, models)]
    return [table for table in listed if table.rows] or [listed[0]._replace(keeps_head=True)]


def _workload_rows(resource: CachedObject, workloads: Iterable[WorkloadReadiness], now: str) -> list[_WorkloadRow]:
    """Returns the rows of a graph or of a standalone component. A resource whose status cannot be computed has one row with the reason."""
    if resource.entries == ():
        return []
    name = full_name(resource.key)
    if resource.problem or resource.entries is None:
        return [_WorkloadRow(name, "", "", "", "", resource.problem or _UNKNOWN)]
    return [
        _WorkloadRow(
            name,
            workload.entry.service,
            _workload(workload),
            _ready(workload),
            age(workload.status.since, now) if workload.status else "",
            "; ".join(filter(None, (workload.problem, workload.drift))),
        )
        for workload in workloads
    ]


def _request_row(cached: CachedRequest, status: dict[str, Any]) -> _RequestRow:
    """Returns the row of a request, with the reason why it is not ready."""
    updated = cached._replace(status=status)
    graph = values.mapping(updated.generated, "metadata")
    generated = values.text(graph.get("namespace")), values.text(graph.get("name"))
    return _RequestRow(
        full_name(cached.key),
        updated.state,
        cached.job.name,
        _join(*((updated.deployed.namespace, updated.deployed.name) if updated.deployed else generated)),
        _problem(status),
    )


def _model_row(cached: CachedModel, status: dict[str, Any]) -> _ModelRow:
    """Returns the row of a model, with the reason why it is not ready."""
    counts = live_fields.whole_number(status.get("readyEndpoints")), live_fields.whole_number(status.get("totalEndpoints"))
    return _ModelRow(
        full_name(cached.key),
        cached.type or _DEFAULT_TYPE,
        cached.base,
        "" if None in counts else f"{counts[0]}/{counts[1]}",
        _problem(status),
    )


def age(since: str, now: str) -> str:
    """Returns the time from `since` to `now` as kubectl prints ages; empty if a time is unknown."""
    begin, end = live_fields.seconds(since), live_fields.seconds(now)
    return "" if begin is None or end is None else _human(end - begin)


def _human(seconds: float) -> str:
    """Returns an age in the units that kubectl prints: the two largest units while they say something, then only the largest.

    A negative age, from clocks that differ, is 0.

    >>> [_human(n) for n in (-3, 90, 150, 3599, 7500, 90000, 200000, 864000, 8e7)]
    ['0s', '90s', '2m30s', '59m', '125m', '25h', '2d7h', '10d', '2y195d']

    Follows `HumanDuration` of Kubernetes' `k8s.io/apimachinery/pkg/util/duration`.
    """
    whole = max(int(seconds), 0)
    for limit, unit, below in _AGES:
        if whole < limit:
            return _two_units(whole, unit, below)
    return f"{whole // _YEAR}y"


def _two_units(whole: int, unit: str, below: str) -> str:
    count, rest = divmod(whole, _AGE_UNITS[unit])
    smaller = rest // _AGE_UNITS[below] if below else 0
    return f"{count}{unit}{smaller}{below}" if smaller else f"{count}{unit}"


def _problem(status: dict[str, Any]) -> str:
    """Returns the message of the condition Ready if it is not True."""
    ready = conditions.find(status, conditions.READY)
    return "" if ready.is_true else ready.message


def full_name(key: ObjectKey) -> str:
    """Returns the namespace and the name of a resource."""
    return _join(key.namespace, key.name)


def _join(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _workload(workload: WorkloadReadiness) -> str:
    return f"{workload.entry.kind}/{workload.entry.name}" if workload.entry.kind else ""


def _ready(workload: WorkloadReadiness) -> str:
    status, replicas = workload.status, workload.entry.replicas
    if status is None or status.counts is None:
        return f"0/{replicas}" if replicas is not None else ""
    ready = status.counts.ready if status.counts.ready is not None else status.counts.available
    return f"{ready or 0}/{status.desired if replicas is None else replicas}"
