"""Writes a report as Markdown, for a comment on a pull request, with escapes and within the limit of a forge."""

from __future__ import annotations

import html
import re

from krm_fn.base import report, report_text
from krm_fn.base.report_model import ReportFindings, ReportLines, ReportSection, ReportTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.base.report_model import Block, Line, Report, Span
    from krm_fn.base.results import Result

LIMIT = 60_000
"""The largest number of characters of a comment. GitHub refuses comments of more than 65,536."""

_LONGEST = 2_000  # characters of one finding
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")


def write(content: Report) -> str:
    """Returns the whole report. Sections that do not fit into a comment are counted, or say something shorter."""
    head = heading(content.title, content.sentences)
    notes = block(ReportFindings([(finding, 0) for finding in content.findings]))
    left, parts, others = LIMIT - len(head) - len(notes), [head], 0
    for part in content.parts:
        text = block(part)
        if others or len(text) >= left:
            text = part.otherwise if isinstance(part, ReportSection) else ""
            others += not text
        parts += [text] if text else []
        left -= len(text) + 1
    return "\n".join(filter(None, (*parts, f"and {others} more {content.noun}\n" if others else "", notes)))


def heading(title: Line, sentences: Sequence[Line]) -> str:
    """Returns the head of a comment."""
    return f"### {line(title)}\n\n{block(ReportLines(sentences, 'lines'))}"


def block(part: Block) -> str:
    """Returns one block; empty without content."""
    if isinstance(part, ReportSection):
        return _section(part)
    if isinstance(part, ReportTable):
        columns = len(part.head)
        return fitting(_table(part), part.limit, f"| … | and {{}} more {part.noun} {'|' * (columns - 1)}\n") if part.rows else ""
    if isinstance(part, ReportFindings):
        return fitting((finding(*entry) for entry in part.findings), part.limit, "- and {} more findings\n")
    texts = [line(entry) for entry in part.lines]
    if part.form == "list":
        return "".join(f"- {text}\n" for text in texts)
    return ("  \n" if part.form == "lines" else "\n\n").join(texts) + "\n" * bool(texts)


def _section(section: ReportSection) -> str:
    """Returns the blocks below a heading, or folded. Lists that follow each other are one list."""
    body, is_list = "", False
    for part in section.blocks:
        if text := block(part):
            body += f"{'' if not body or (is_list and _is_list(part)) else chr(10)}{text}"
            is_list = _is_list(part)
    if not body:
        return ""
    return fold(html.escape(report_text.line(section.title)), body) if section.is_folded else f"#### {line(section.title)}\n\n{body}"


def _is_list(part: Block) -> bool:
    return isinstance(part, ReportFindings) or (isinstance(part, ReportLines) and part.form == "list")


def fold(title: str, body: str) -> str:
    """Returns a text to unfold. The title is HTML."""
    return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"


def line(content: Line, bar: str = "|") -> str:
    """Returns a text in which only the forms of its spans have an effect. `bar` is the form of a bar in code."""
    return "".join(_format_span(span, bar) for span in report_text.spans(content) if span.text)


def _format_span(span: Span, bar: str) -> str:
    if span.form == "code":
        return code(span.text).replace("|", bar)
    return f"**{plain(span.text)}**" if span.form == "bold" else plain(span.text)


def finding(result: Result, others: int = 0) -> str:
    """Returns a finding as an entry of a list. `others` is the number of further resources that have it."""
    location = report.location(result).removesuffix(":")
    at = f" {code(location)}" if location else ""
    text = report.what(result)
    more = f" and {others} more" if others else ""
    return f"- **{report.noun(result)}**{at} {code(text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…')}{more}\n"


def fitting(lines: Iterable[str], limit: int, more: str) -> str:
    """Returns the first lines, up to a number of characters, and the number of the others."""
    text, others = "", 0
    for entry in lines:
        if others or len(text) + len(entry) + len(more) > limit:
            others += 1
        else:
            text += entry
    return text + (more.format(others) if others else "")


def _table(table: ReportTable) -> Iterator[str]:
    yield f"{_row(table.head)}|{'---|' * len(table.head)}\n"
    yield from map(_row, table.rows)


def _row(cells: Sequence[Line]) -> str:
    """Returns a row. A bar would begin the next cell, also in code."""
    return f"| {' | '.join(line(cell, bar=chr(92) + '|') for cell in cells)} |\n"


def code(text: str) -> str:
    """Returns a text as code: Markdown, HTML and mentions in it have no effect."""
    shown = report.visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def plain(text: str) -> str:
    """Returns a text in which Markdown, HTML and mentions have no effect."""
    return _SPECIAL.sub(r"\\\1", report.visible(text)).replace("@", "@&#8288;")
