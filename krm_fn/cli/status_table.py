"""Prints statuses as tables: one row for each workload of graphs, for each request, and for each model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from krm_fn import report
from krm_fn.kube import labels, values
from krm_fn.status import conditions, live_fields
from krm_fn.status.cached_model import CachedModel
from krm_fn.status.cached_object import CachedObject
from krm_fn.status.cached_request import CachedRequest
from krm_fn.status.readiness import WorkloadReadiness


class WorkloadRow(NamedTuple):
    """The cells of one row. `ready` is `1/2`: one of two replicas."""

    graph: str
    service: str
    workload: str
    ready: str
    since: str
    problem: str


class RequestRow(NamedTuple):
    """The cells of one request. `graph` is the graph that it deployed, or the generated one."""

    request: str
    state: str
    job: str
    graph: str
    problem: str


class ModelRow(NamedTuple):
    """The cells of one model. `ready` is `1/2`: one of two endpoints."""

    model: str
    type: str
    base: str
    ready: str
    problem: str


HEAD = WorkloadRow("GRAPH", "SERVICE", "WORKLOAD", "READY", "SINCE", "WHY")
REQUEST_HEAD = RequestRow("REQUEST", "STATE", "JOB", "GRAPH", "WHY")
MODEL_HEAD = ModelRow("MODEL", "TYPE", "BASE", "READY", "WHY")

_DEFAULT_TYPE = "base"
_UNKNOWN = f"no annotation {labels.WORKLOADS}, and the workloads of this version of the resource are not known"


def rows(resource: CachedObject, workloads: Iterable[WorkloadReadiness]) -> list[WorkloadRow]:
    """Returns the rows of a graph or of a standalone component. A resource whose status cannot be computed has one row with the reason."""
    if resource.entries == ():
        return []
    name = _full_name(resource.key.namespace, resource.key.name)
    if resource.problem or resource.entries is None:
        return [WorkloadRow(name, "", "", "", "", resource.problem or _UNKNOWN)]
    return [
        WorkloadRow(
            name,
            workload.entry.service,
            _workload(workload),
            _ready(workload),
            workload.status.since if workload.status else "",
            workload.problem,
        )
        for workload in workloads
    ]


def request(cached: CachedRequest, status: dict[str, Any]) -> RequestRow:
    """Returns the row of a request, with the reason why it is not ready."""
    updated = cached._replace(status=status)
    graph = values.mapping(updated.generated, "metadata")
    generated = values.text(graph.get("namespace")), values.text(graph.get("name"))
    return RequestRow(
        _full_name(cached.key.namespace, cached.key.name),
        updated.state,
        cached.job.name,
        _full_name(*((updated.deployed.namespace, updated.deployed.name) if updated.deployed else generated)),
        _problem(status),
    )


def model(cached: CachedModel, status: dict[str, Any]) -> ModelRow:
    """Returns the row of a model, with the reason why it is not ready."""
    counts = live_fields.whole_number(status.get("readyEndpoints")), live_fields.whole_number(status.get("totalEndpoints"))
    return ModelRow(
        _full_name(cached.key.namespace, cached.key.name),
        cached.type or _DEFAULT_TYPE,
        cached.base,
        "" if None in counts else f"{counts[0]}/{counts[1]}",
        _problem(status),
    )


def text(rows: Sequence[WorkloadRow], requests: Sequence[RequestRow] = (), models: Sequence[ModelRow] = ()) -> str:
    """Prints all tables with rows, with a blank line between them. Without any row, prints the head of the first table."""
    tables: list[tuple[Sequence[str], Sequence[Sequence[str]]]] = [(HEAD, rows), (REQUEST_HEAD, requests), (MODEL_HEAD, models)]
    return "\n".join(_table(head, cells) for head, cells in [table for table in tables if table[1]] or tables[:1])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Prints a table in columns, each as wide as its widest cell."""
    cells = [tuple(report.printable(cell) or "-" for cell in row) for row in (head, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "".join("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in cells)


def _problem(status: dict[str, Any]) -> str:
    """Returns the message of the condition Ready if it is not True."""
    ready = conditions.find(status, conditions.READY)
    return "" if ready.is_true else ready.message


def _full_name(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _workload(workload: WorkloadReadiness) -> str:
    return f"{workload.entry.kind}/{workload.entry.name}" if workload.entry.kind else ""


def _ready(workload: WorkloadReadiness) -> str:
    status, replicas = workload.status, workload.entry.replicas
    if status is None or status.counts is None:
        return f"0/{replicas}" if replicas is not None else ""
    ready = status.counts.ready if status.counts.ready is not None else status.counts.available
    return f"{ready or 0}/{status.desired if replicas is None else replicas}"
