"""The status as tables: one row for each workload of graphs, for each request, and for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from krm_fn import report
from krm_fn.kube import labels, values
from krm_fn.status import conditions, live_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    why: str


class RequestRow(NamedTuple):
    """The cells of one request. `graph` is the graph that it deployed, or the generated one."""

    request: str
    state: str
    job: str
    graph: str
    why: str


class ModelRow(NamedTuple):
    """The cells of one model. `ready` is `1/2`: one of two endpoints."""

    model: str
    type: str
    base: str
    ready: str
    why: str


HEAD = WorkloadRow("GRAPH", "SERVICE", "WORKLOAD", "READY", "SINCE", "WHY")
REQUEST_HEAD = RequestRow("REQUEST", "STATE", "JOB", "GRAPH", "WHY")
MODEL_HEAD = ModelRow("MODEL", "TYPE", "BASE", "READY", "WHY")

_DEFAULT_TYPE = "base"
_UNKNOWN = f"no annotation {labels.WORKLOADS}, and the workloads of this version of the resource are not known"


def rows(subject: CachedObject, workloads: Iterable[WorkloadReadiness]) -> list[WorkloadRow]:
    """The rows of a graph or of a component alone. A resource that cannot be judged has one row with the reason."""
    if subject.entries == ():
        return []
    name = _full_name(subject.key.namespace, subject.key.name)
    if subject.problem or subject.entries is None:
        return [WorkloadRow(name, "", "", "", "", subject.problem or _UNKNOWN)]
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


def request(asked: CachedRequest, status: dict[str, Any]) -> RequestRow:
    """The row of a request. It says why the request is not ready."""
    after = asked._replace(status=status)
    graph = values.mapping(after.generated, "metadata")
    generated = values.text(graph.get("namespace")), values.text(graph.get("name"))
    return RequestRow(
        _full_name(asked.key.namespace, asked.key.name),
        after.state,
        asked.job.name,
        _full_name(*((after.deployed.namespace, after.deployed.name) if after.deployed else generated)),
        _why(status),
    )


def model(asked: CachedModel, status: dict[str, Any]) -> ModelRow:
    """The row of a model. It says why the model is not ready."""
    counted = live_fields.whole_number(status.get("readyEndpoints")), live_fields.whole_number(status.get("totalEndpoints"))
    return ModelRow(
        _full_name(asked.key.namespace, asked.key.name),
        asked.type or _DEFAULT_TYPE,
        asked.base,
        "" if None in counted else f"{counted[0]}/{counted[1]}",
        _why(status),
    )


def text(rows: Sequence[WorkloadRow], requests: Sequence[RequestRow] = (), served: Sequence[ModelRow] = ()) -> str:
    """All tables with rows, with a blank line between them. Without any row, the head of the first table."""
    tables: list[tuple[Sequence[str], Sequence[Sequence[str]]]] = [(HEAD, rows), (REQUEST_HEAD, requests), (MODEL_HEAD, served)]
    return "\n".join(_table(head, cells) for head, cells in [table for table in tables if table[1]] or tables[:1])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in columns, each as wide as its widest cell."""
    cells = [tuple(report.printable(cell) or "-" for cell in row) for row in (head, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "".join("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in cells)


def _why(status: dict[str, Any]) -> str:
    """The message of a condition Ready that does not hold."""
    ready = live_fields.condition(status, conditions.READY)
    return "" if ready.get("status") == "True" else values.text(ready.get("message"))


def _full_name(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _workload(workload: WorkloadReadiness) -> str:
    return f"{workload.entry.kind}/{workload.entry.name}" if workload.entry.kind else ""


def _ready(workload: WorkloadReadiness) -> str:
    own, wanted = workload.status, workload.entry.replicas
    if own is None or own.counts is None:
        return f"0/{wanted}" if wanted is not None else ""
    counted = own.counts.ready if own.counts.ready is not None else own.counts.available
    return f"{counted or 0}/{own.desired if wanted is None else wanted}"
