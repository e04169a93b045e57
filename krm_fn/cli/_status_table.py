"""The status of graphs as a table: one row for each workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from krm_fn import report
from krm_fn.kube import labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.status.subject import Subject
    from krm_fn.status.verdicts import Verdict


class Row(NamedTuple):
    """The cells of one row. `ready` is `1/2`: one of two replicas."""

    graph: str
    service: str
    workload: str
    ready: str
    since: str
    why: str


HEAD = Row("GRAPH", "SERVICE", "WORKLOAD", "READY", "SINCE", "WHY")

_UNKNOWN = f"no annotation {labels.WORKLOADS}, and the workloads of this version of the resource are not known"


def rows(subject: Subject, verdicts: Iterable[Verdict]) -> list[Row]:
    """The rows of a graph or of a component alone. A resource that cannot be judged has one row with the reason."""
    if subject.entries == ():
        return []
    name = f"{subject.key.namespace}/{subject.key.name}" if subject.key.namespace else subject.key.name
    if subject.wrong or subject.entries is None:
        return [Row(name, "", "", "", "", subject.wrong or _UNKNOWN)]
    return [Row(name, each.entry.service, _workload(each), _ready(each), each.own.since if each.own else "", each.why) for each in verdicts]


def text(rows: Sequence[Row]) -> str:
    """The table in columns, each as wide as its widest cell."""
    cells = [tuple(report.printable(cell) or "-" for cell in row) for row in (HEAD, *rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "".join("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() + "\n" for row in cells)


def _workload(verdict: Verdict) -> str:
    return f"{verdict.entry.kind}/{verdict.entry.name}" if verdict.entry.kind else ""


def _ready(verdict: Verdict) -> str:
    own, wanted = verdict.own, verdict.entry.replicas
    if own is None or own.counts is None:
        return f"0/{wanted}" if wanted is not None else ""
    counted = own.counts.ready if own.counts.ready is not None else own.counts.available
    return f"{counted or 0}/{own.desired if wanted is None else wanted}"
