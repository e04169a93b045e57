"""The comparison for people at a terminal: the verdict, the services, the objects with their fields, and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import escaping, report
from krm_fn.base.results import Result
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff import diff_report, headline, shared_restarts
from krm_fn.review.diff.comparison import Diff
from krm_fn.review.diff.diff_report import Report, Row
from krm_fn.review.diff.headline import Verdict

_COLOURS = {
    **dict.fromkeys(("refused", "stuck", "deleted", "error", "-"), escaping.RED),
    **dict.fromkeys(("created", "same", "+"), escaping.GREEN),
    **dict.fromkeys(("restarts", "unknown", "warning"), escaping.YELLOW),
    **dict.fromkeys(("updated", "info"), escaping.CYAN),
}
"""The colour of a word, as a parameter of the control sequence SGR (ECMA-48)."""
_BOLD = ("refused", "stuck", "restarts", "error")


def write(content: Report) -> str:
    """Returns the comparison as text."""
    return "\n".join([escaping.joined(head_lines([content.diff], colours=content.colours), colours=content.colours), *_parts(content)])


def block(content: Report) -> str:
    """Returns the comparison of one of several roots, without what `head_lines` says about all of them."""
    lines = _verdict_lines(diff_report.verdict(content), colours=content.colours)
    return "\n".join([escaping.joined(lines, colours=content.colours), *_parts(content)])


def _parts(content: Report) -> list[str]:
    """Returns the services, the objects and the findings."""
    parts: list[list[str]] = []
    if content.diff.differing:
        parts.append([*_services(content, diff_report.rows(content))])
        parts += [[*_object(content, number, change, effect)] for number, change, effect in content.objects]
    parts.append([_finding(content, result) for result in content.findings])
    return [escaping.joined(part, colours=content.colours) for part in parts if part]


def head_lines(diffs: Sequence[Diff], *, colours: bool) -> Iterator[str]:
    """Yields the first line of a report, the lines about refused changes and free GPUs, and why a service without a change restarts."""
    yield from _verdict_lines(headline.verdict(diffs), colours=colours)
    if reason := shared_restarts.reason(diffs):
        yield f"{report.visible(reason)} See {shared_restarts.PAGE}"


def _verdict_lines(verdict: Verdict, *, colours: bool) -> Iterator[str]:
    yield " ".join(_coloured(report.visible(sentence), word, colours=colours) for sentence, word in verdict.first)
    yield from (_coloured(report.visible(sentence), word, colours=colours) for sentence, word in verdict.others)


def _painted(content: Report, text: str, word: str) -> str:
    return _coloured(text, word, colours=content.colours)


def _coloured(text: str, word: str, *, colours: bool) -> str:
    """Returns a text in the colour of a word, such as `restarts` or `error`, if the terminal shows colours."""
    if not colours:
        return text
    return escaping.painted(text, *([_COLOURS[word]] if word in _COLOURS else ()), 1 if word in _BOLD else 22)


def _services(content: Report, rows: Sequence[Row]) -> Iterator[str]:
    """Yields a table of the services of both states."""
    head = ("SERVICE", "EFFECT", "GPUS", "CHANGED BY")
    table = [(_name(row), _effect(row), _gpus(row), report.visible(diff_report.changed_by(row))) for row in rows]
    if not table:
        return
    widths = [max(len(cells[column]) for cells in (head, *table)) for column in range(3)]
    yield _line(head, widths)
    for row, cells in zip(rows, table, strict=True):
        effect = _painted(content, f"{cells[1]:<{widths[1]}}", row.effect)
        yield _line((cells[0], effect, *cells[2:]), [widths[0], 0, widths[2]])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, (*widths, 0), strict=True)).rstrip()


def _name(row: Row) -> str:
    return report.visible(headline.title(row.service))


def _effect(row: Row) -> str:
    return ", ".join(row.effects)


def _gpus(row: Row) -> str:
    old, new = diff_report.gpu_texts(row)
    return old if old == new else f"{old} -> {new}"


def _object(content: Report, number: int, change: ObjectChange, effect: str) -> Iterator[str]:
    """Yields an object with its fields."""
    origins = f"  {_origins(content, number, None)}" if change.old is None or change.new is None else ""
    yield f"{diff_report.object_name(change.key)}: {_painted(content, effect, effect)}{origins.rstrip()}"
    for index, name, field in diff_report.shown_fields(change.fields):
        yield from _field(content, name, field, _origins(content, number, index))


def _field(content: Report, name: str, field: FieldChange, origins: str) -> Iterator[str]:
    lines = diff_report.changed_lines(field)
    change = "changed lines" if lines else diff_report.field_change(field)
    yield f"  {name}: {change}  {origins}".rstrip()
    yield from (f"      {_painted(content, line, line[:1])}" for line in lines)


def _origins(content: Report, number: int, field: int | None) -> str:
    texts = [diff_report.origin_text(origin) for origin in content.origins(number, field)]
    return f"({'; '.join(texts)})" if texts else ""


def _finding(content: Report, result: Result) -> str:
    noun = _painted(content, report.noun(result), result.severity)
    return " ".join(filter(None, (report.location(result), noun, report.what(result))))
