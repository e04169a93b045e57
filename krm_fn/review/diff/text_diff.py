"""The comparison for people at a terminal: the verdict, the services, the objects with their fields, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import report_text
from krm_fn.base.report_model import Block, Line, ReportLines, Span
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff import diff_blocks, diff_report, headline, shared_restarts
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.diff.diff_report import DiffReport


def write(content: DiffReport) -> str:
    """Returns the comparison as text."""
    return report_text.blocks([head([content.diff]), *parts(content)], colours=content.colours)


def head(diffs: Sequence[Diff]) -> ReportLines:
    """Returns the first line of a report, the lines about refused changes and free GPUs, and why a service without a change restarts."""
    reason = shared_restarts.reason(diffs)
    return ReportLines([*diff_blocks.sentences(headline.verdict(diffs)), *[f"{reason} See {shared_restarts.PAGE}"] * bool(reason)])


def parts(content: DiffReport) -> Iterator[Block]:
    """Yields the services, the objects and the findings."""
    if content.diff.differing:
        yield diff_blocks.services(diff_report.rows(content), "->")
        for number, change, effect in content.objects:
            yield ReportLines([*_object(content, number, change, effect)])
    yield diff_blocks.findings(content.findings)


def _object(content: DiffReport, number: int, change: ObjectChange, effect: str) -> Iterator[Line]:
    """Yields an object with its fields."""
    origins = _origins(content, number, None) if change.old is None or change.new is None else ""
    yield f"{diff_report.object_name(change.key)}: ", Span(effect, colour=diff_blocks.colour(effect)), origins
    for index, name, field in diff_report.shown_fields(change.fields):
        yield from _field(name, field, _origins(content, number, index))


def _field(name: str, field: FieldChange, origins: str) -> Iterator[Line]:
    lines = diff_report.changed_lines(field)
    yield f"  {name}: {'changed lines' if lines else diff_report.field_change(field)}{origins}".rstrip()
    yield from (("      ", Span(line, colour=diff_blocks.colour(line[:1]))) for line in lines)


def _origins(content: DiffReport, number: int, field: int | None) -> str:
    texts = [diff_report.origin_text(origin) for origin in content.origins(number, field)]
    return f"  ({'; '.join(texts)})" if texts else ""
