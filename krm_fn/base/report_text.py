"""Writes a report for a terminal: blocks with an empty line between them, tables in columns, and colours."""

from __future__ import annotations

from krm_fn.base import escaping, report
from krm_fn.base.report_model import ReportFindings, ReportLines, ReportSection, ReportTable, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.base.report_model import Block, Line, Report
    from krm_fn.base.results import Result

_COLOURS = {"error": (escaping.RED, escaping.BOLD), "warning": (escaping.YELLOW, 22), "info": (escaping.CYAN, 22)}


def write(content: Report, *, colours: bool = False) -> str:
    """Returns the whole report."""
    title = [content.title] if content.is_titled else []
    findings = ReportFindings([(finding, 0) for finding in content.findings])
    return blocks([ReportLines([*title, *content.sentences]), *content.parts, findings], colours=colours)


def blocks(parts: Iterable[Block], *, colours: bool = False) -> str:
    """Returns blocks, with an empty line between them. Empty blocks are left out."""
    return "\n".join(filter(None, (block(part, colours=colours) for part in parts)))


def block(part: Block, *, colours: bool = False) -> str:
    """Returns one block; empty without content."""
    if isinstance(part, ReportSection):
        body = "".join(block(below, colours=colours) for below in part.blocks)
        return f"== {line(part.title, colours=colours)}\n{body}" if body else ""
    if isinstance(part, ReportTable):
        return _table(part, colours=colours) if part.rows or part.keeps_head else ""
    if isinstance(part, ReportLines):
        return "".join(f"{part.indent}{line(entry, colours=colours)}\n" for entry in part.lines)
    return "".join(f"{finding(result, others, colours=colours)}\n" for result, others in part.findings)


def line(content: Line, *, colours: bool = False) -> str:
    """Returns a text in one line."""
    return "".join(_paint_text(escaping.visible(span.text), span.colour, colours=colours) for span in spans(content))


def spans(content: Line) -> list[Span]:
    """Returns the parts of a text."""
    parts = content if isinstance(content, tuple) and not isinstance(content, Span) else (content,)
    return [part if isinstance(part, Span) else Span(part) for part in parts]


def finding(result: Result, others: int = 0, *, colours: bool = False) -> str:
    """Returns a finding in one line. `others` is the number of further resources that have it."""
    noun = _paint_text(report.noun(result), _COLOURS[result.severity], colours=colours)
    more = f" and {report.pluralize(others, 'more resource')}" if others else ""
    return " ".join(filter(None, (report.location(result), noun, report.what(result)))) + more


def _table(table: ReportTable, *, colours: bool) -> str:
    """Returns a table in columns, each as wide as its widest cell. A cell has the colour of its first span."""
    head = [name if isinstance(name, Span) else name.upper() for name in table.head]
    rows = [[_cell(cell, table.dash) for cell in row] for row in (head, *table.rows)]
    widths = [max(len(text) for text, _ in column) for column in zip(*rows, strict=True)]
    padded = ([(f"{text:{width}}", colour) for (text, colour), width in zip(row, widths, strict=True)] for row in rows)
    return "".join("  ".join(_paint_text(text, colour, colours=colours) for text, colour in row).rstrip() + "\n" for row in padded)


def _cell(content: Line, dash: str) -> tuple[str, Sequence[int]]:
    parts = spans(content)
    return report.printable("".join(span.text for span in parts)) or dash, parts[0].colour


def _paint_text(text: str, colour: Sequence[int], *, colours: bool) -> str:
    return escaping.paint(text, *colour) if colours and colour else text
