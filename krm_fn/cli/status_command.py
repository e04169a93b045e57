"""`krm-fn status`: prints the computed status of Dynamo resources, as tables or as resources.

A table has one row for each workload of graphs, for each request, or for each model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import click

from krm_fn import report
from krm_fn.cli import command_options, command_output, finding_formats
from krm_fn.cli.command_options import Inputs, Policy
from krm_fn.cli.computed_status import ComputedStatus
from krm_fn.files import reading
from krm_fn.kube import labels, values
from krm_fn.status import conditions, live_fields
from krm_fn.status.cached_model import CachedModel
from krm_fn.status.cached_object import CachedObject
from krm_fn.status.cached_request import CachedRequest
from krm_fn.status.readiness import WorkloadReadiness

_TABLE = "table"


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


_HEAD = _WorkloadRow("GRAPH", "SERVICE", "WORKLOAD", "READY", "SINCE", "WHY")
_REQUEST_HEAD = _RequestRow("REQUEST", "STATE", "JOB", "GRAPH", "WHY")
_MODEL_HEAD = _ModelRow("MODEL", "TYPE", "BASE", "READY", "WHY")

_DEFAULT_TYPE = "base"
_UNKNOWN = f"no annotation {labels.WORKLOADS}, and the workloads of this version of the resource are not known"


@click.command()
@command_options.inputs
@click.option(
    "-o",
    "--output",
    "style",
    type=click.Choice((*command_output.FORMATS, _TABLE)),
    default=_TABLE,
    help="The format. The default is table.",
)
@command_options.policy
@click.pass_context
def status(ctx: click.Context, *, given: Inputs, policy: Policy, style: str) -> None:
    """Compute the status of graphs, requests and models from the objects that belong to them.

    PATH is a file, a folder or stdin (-) with objects of a cluster. The table shows each workload, its ready replicas, and the reason if it
    is not ready. As YAML or JSON, krm-fn prints the Dynamo resources with the status that krm-fn sync would write. The command does not
    connect to a cluster.

    The annotation dynamo.krm-fn.io/workloads lists the workloads of a graph. If a graph does not have it, for example because the Dynamo
    operator manages the graph, krm-fn computes the workloads with the configuration. If the input includes pods, the table shows the
    reasons of pods.

    Exit codes: 0 the input can be read, even if graphs are not ready; 1 errors; 2 wrong usage.

    \b
      kubectl get dgd,dcd,deployments,pods -o json | krm-fn status -
      kubectl get dgdr,dgd,jobs,configmaps,pods -o json | krm-fn status -
      kubectl get dm,dgd,endpointslices,pods -o json | krm-fn status -
      krm-fn status --config render.yaml -o yaml objects.json
    """  # noqa: D301 - click reads the backspace
    loaded = given.load()
    statuses = ComputedStatus(loaded)
    findings = policy.without_ignored(reading.locate([*loaded.results, *statuses.results], loaded.resources), loaded.values)
    finding_formats.print_text(loaded.resources, policy.shown(findings), loaded.stdin)
    if failing := policy.failing(findings):
        click.echo(f"no status is computed: {report.count(failing)}", err=True)
        ctx.exit(1)
    if not statuses.objects:
        click.echo(f"no Dynamo resource among {len(loaded.resources)} objects", err=True)
    command_output.write(_table(statuses) if style == _TABLE else command_output.resources(statuses.resources(), style))


def _table(statuses: ComputedStatus) -> str:
    """Prints a table of workloads, one of requests and one of models, each only if it has rows. Without any row, prints the first head."""
    workloads = [row for cached, readiness in statuses.workloads() for row in _workload_rows(cached, readiness)]
    requests = [_request_row(cached, fields) for cached, fields in statuses.requests()]
    models = [_model_row(cached, fields) for cached, fields in statuses.models()]
    tables: list[tuple[Sequence[str], Sequence[Sequence[str]]]] = [(_HEAD, workloads), (_REQUEST_HEAD, requests), (_MODEL_HEAD, models)]
    return "\n".join(_columns(head, rows) for head, rows in [table for table in tables if table[1]] or tables[:1])


def _workload_rows(resource: CachedObject, workloads: Iterable[WorkloadReadiness]) -> list[_WorkloadRow]:
    """Returns the rows of a graph or of a standalone component. A resource whose status cannot be computed has one row with the reason."""
    if resource.entries == ():
        return []
    name = _full_name(resource.key.namespace, resource.key.name)
    if resource.problem or resource.entries is None:
        return [_WorkloadRow(name, "", "", "", "", resource.problem or _UNKNOWN)]
    return [
        _WorkloadRow(
            name,
            workload.entry.service,
            _workload(workload),
            _ready(workload),
            workload.status.since if workload.status else "",
            workload.problem,
        )
        for workload in workloads
    ]


def _request_row(cached: CachedRequest, status: dict[str, Any]) -> _RequestRow:
    """Returns the row of a request, with the reason why it is not ready."""
    updated = cached._replace(status=status)
    graph = values.mapping(updated.generated, "metadata")
    generated = values.text(graph.get("namespace")), values.text(graph.get("name"))
    return _RequestRow(
        _full_name(cached.key.namespace, cached.key.name),
        updated.state,
        cached.job.name,
        _full_name(*((updated.deployed.namespace, updated.deployed.name) if updated.deployed else generated)),
        _problem(status),
    )


def _model_row(cached: CachedModel, status: dict[str, Any]) -> _ModelRow:
    """Returns the row of a model, with the reason why it is not ready."""
    counts = live_fields.whole_number(status.get("readyEndpoints")), live_fields.whole_number(status.get("totalEndpoints"))
    return _ModelRow(
        _full_name(cached.key.namespace, cached.key.name),
        cached.type or _DEFAULT_TYPE,
        cached.base,
        "" if None in counts else f"{counts[0]}/{counts[1]}",
        _problem(status),
    )


def _columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
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


COMMAND = status
