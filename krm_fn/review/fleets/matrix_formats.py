"""Writes the matrix of a fleet as text, as Markdown for a comment, and as JSON for programs.

The schema of the JSON is `krm_fn/review/schemas/diff.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from krm_fn.base import report, report_markdown, report_model, report_text
from krm_fn.base.report_model import Report, ReportLines, ReportSection, ReportTable, Span
from krm_fn.base.results import Result
from krm_fn.kubernetes.secret_values import HIDDEN
from krm_fn.render.schema.object_changes import FieldChange
from krm_fn.review.diff import diff_report
from krm_fn.review.fleets.fleet_matrix import CONFIGURATION, FleetMatrix, MatrixSection
from krm_fn.review.fleets.resource_matrix import PRESENT, MatrixRow

_LONGEST = 80  # characters of a value
_LONGEST_NAMES = 40  # characters of the names above a column
_MOST_TITLES = 10
_COMMON = 12  # characters that stay of the common beginning of long values


def text(matrix: FleetMatrix, findings: Sequence[Result]) -> str:
    """Returns the matrix for people at a terminal: one table for each resource, or for several that differ in the same way."""
    return report_text.write(_report(matrix, findings))


def markdown(matrix: FleetMatrix, findings: Sequence[Result]) -> str:
    """Returns the matrix as a comment, cut to the limit of a comment by whole tables, which are then counted."""
    return report_markdown.write(_report(matrix, findings))


def _report(matrix: FleetMatrix, findings: Sequence[Result]) -> Report:
    sections = [_section(matrix, section) for section in matrix.sections]
    return Report("What differs between the clusters", [*_verdict(matrix)], sections, findings, noun="tables")


def _section(matrix: FleetMatrix, section: MatrixSection) -> ReportSection:
    head, legend = _columns(matrix, section)
    rows = [[Span(cell, "code") for cell in (_field(row), *_cells(section, row))] for row in section.rows]
    table = ReportTable(("Field", *map(Span, head)), rows, limit=report_markdown.LIMIT)
    return ReportSection(report.list_first(section.titles, _MOST_TITLES), [ReportLines(legend, "paragraphs"), table])


def json_text(matrix: FleetMatrix, findings: Sequence[Result]) -> str:
    """Returns all rows, each with the value of every cluster. An absent value is null."""
    fields = {
        "clusters": [*matrix.clusters],
        "resources": matrix.resources,
        "differing": matrix.differing,
        "explained": matrix.explained,
        "sections": [_json_section(matrix, section) for section in matrix.sections],
    }
    return report_model.document(fields, findings)


def _json_section(matrix: FleetMatrix, section: MatrixSection) -> dict[str, Any]:
    return {
        "titles": [*section.titles],
        "columns": [[matrix.clusters[number] for number in numbers] for numbers in section.columns()],
        "rows": [
            {"object": row.subject or None, "field": _path(row), "values": dict(zip(matrix.clusters, row.values, strict=True))}
            for row in section.rows
        ],
    }


def _verdict(matrix: FleetMatrix) -> Iterator[str]:
    """Yields the sentences that a reviewer reads first."""
    names = ", ".join(matrix.clusters)
    resources = report.pluralize(matrix.resources, "Dynamo resource")
    if len(matrix.clusters) < 2:
        yield "Nothing is compared, because fewer than two clusters can be built."
        return
    yield f"{len(matrix.clusters)} clusters with {resources}: {names}."
    if matrix.differs:
        yield f"{report.pluralize(matrix.differing, 'Dynamo resource differs', 'Dynamo resources differ')} between the clusters."
    else:
        yield "The clusters are the same."
    if matrix.explained:
        verb = "is" if matrix.explained == 1 else "are"
        differences = report.pluralize(matrix.explained, "difference")
        yield f"{differences} of generated objects {verb} explained by these rows; --objects shows them."


def _columns(matrix: FleetMatrix, section: MatrixSection) -> tuple[list[str], list[str]]:
    """Returns the heads of the columns, and lines that list the clusters of columns with many clusters."""
    heads, legend = [], []
    for numbers in section.columns():
        names = [report.visible(matrix.clusters[number]) for number in numbers]
        head = joined = ", ".join(names)
        if len(joined) > _LONGEST_NAMES and len(names) > 1:
            head = f"{names[0]} and {report.pluralize(len(names) - 1, 'other')}"
            legend.append(f"{head}: {joined}")
        heads.append(head)
    return heads, legend


def _path(row: MatrixRow) -> str:
    """Returns the path of a field, or the name of a setting."""
    if not row.names:
        return row.label or ("" if row.subject else PRESENT)
    names = row.names[: len(row.path)]
    path = diff_report.field_path(FieldChange(row.path, None, None, names=names))
    return f"{path} ({row.names[-1]})" if len(row.names) > len(names) else path


def _field(row: MatrixRow) -> str:
    return report.visible(" ".join(filter(None, (row.subject, _path(row)))))


def _cells(section: MatrixSection, row: MatrixRow) -> list[str]:
    """Returns the value of each column. Long values begin near the first character in which they differ."""
    absent = "default" if section.titles == (CONFIGURATION,) else "absent"
    values = [row.values[numbers[0]] for numbers in section.columns()]
    texts = [_text(row, value, absent) for value in values]
    if all(len(shown) <= _LONGEST for shown in texts):
        return texts
    common = next((index for index, characters in enumerate(zip(*texts, strict=False)) if len(set(characters)) > 1), min(map(len, texts)))
    start = max(0, common - _COMMON)
    return [_cut(f"…{shown[start:]}" if start and value is not None else shown) for shown, value in zip(texts, values, strict=True)]


def _text(row: MatrixRow, value: Any, absent: str) -> str:
    if value is None:
        return absent
    is_plain = not row.names or value == HIDDEN
    return report.visible(str(value)) if is_plain and isinstance(value, str | int) else report.value(value, _LONGEST**2)


def _cut(shown: str) -> str:
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
