"""The comparison for people at a terminal: the verdict, the services, the objects with their fields, and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import report as findings
from krm_fn.review.diff import diff_report, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krm_fn.results import Result
    from krm_fn.review.diff.diff_report import Report, Row
    from krm_fn.schema.object_changes import FieldChange, ObjectChange


def write(told: Report) -> str:
    """The comparison as text."""
    parts = [[told.paint(sentence, word) for sentence, word in diff_report.verdict(told)]]
    if told.diff.differing:
        parts += [list(_services(told, diff_report.rows(told))), *(list(_object(told, *each)) for each in told.objects)]
    parts.append([_finding(told, each) for each in told.findings])
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def _services(told: Report, rows: Sequence[Row]) -> Iterator[str]:
    """A table of the services of both states."""
    head = ("SERVICE", "EFFECT", "GPUS", "CHANGED BY")
    cells = [(_name(row), _effect(row), _gpus(row), _spots(row)) for row in rows]
    if not cells:
        return
    widths = [max(len(each[column]) for each in (head, *cells)) for column in range(3)]
    yield _line(head, widths)
    for row, cell in zip(rows, cells, strict=True):
        padded = told.paint(f"{cell[1]:<{widths[1]}}", row.effect)
        yield _line((cell[0], padded, *cell[2:]), [widths[0], 0, widths[2]])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, (*widths, 0), strict=True)).rstrip()


def _name(row: Row) -> str:
    return findings.visible(diff_report.title(row.service))


def _effect(row: Row) -> str:
    return f"{row.effect}, stuck" if row.stuck else row.effect


def _gpus(row: Row) -> str:
    before, after = row.gpus
    return f"{before}" if before == after else f"{before} -> {after}"


def _spots(row: Row) -> str:
    return findings.visible(diff_report.together(row.spots))


def _object(told: Report, number: int, change: ObjectChange, effect: str) -> Iterator[str]:
    """An object with its fields."""
    whole = "".join(f"  {_from(told, number, None)}") if change.old is None or change.new is None else ""
    yield f"{words.named(change.key)}: {told.paint(effect, effect)}{whole.rstrip()}"
    for index, field in enumerate(change.fields):
        yield from _field(told, number, index, field)


def _field(told: Report, number: int, index: int, field: FieldChange) -> Iterator[str]:
    lines = words.lines(field)
    yield f"  {words.field(field)}: {'changed lines' if lines else words.change(field)}  {_from(told, number, index)}".rstrip()
    yield from (f"      {told.paint(line, line[:1])}" for line in lines)


def _from(told: Report, number: int, field: int | None) -> str:
    found = [words.origin(origin, spot, told.old) for origin, spot in told.origins(number, field)]
    return f"({'; '.join(found)})" if found else ""


def _finding(told: Report, result: Result) -> str:
    place = findings.location(result)
    noun = told.paint(findings.noun(result), result.severity)
    return " ".join(filter(None, (place, noun, findings.what(result))))
