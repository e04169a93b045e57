"""A report for people, without the form of a terminal or of a comment: sentences, tables, lists, sections and findings.

A command makes one `Report`. `krm_fn.base.report_text` writes it for a terminal, and `krm_fn.base.report_markdown` for a comment on a pull
request. `document` is the frame of all reports for programs.
"""

from __future__ import annotations

from krm_fn.base import escaping, report
from krm_fn.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    from krm_fn.base.results import Result

Form: TypeAlias = 'Literal["plain", "code", "bold"]'
Line: TypeAlias = "str | Span | tuple[str | Span, ...]"
"""A text in one line, also as several spans."""
Block: TypeAlias = "ReportTable | ReportLines | ReportFindings | ReportSection"

FORMAT_VERSION = 1


class Span(NamedTuple):
    """A text with its form in Markdown, and its colour on a terminal, as parameters of SGR."""

    text: str
    form: Form = "plain"
    colour: tuple[int, ...] = ()


class ReportTable(NamedTuple):
    """A table. Words of the head are in capitals on a terminal, and spans, such as names, stay as they are.

    `dash` is an empty cell on a terminal, which shows the head of a table without rows if it `keeps_head`. A comment has at most `limit`
    characters of the table, and counts the other rows as `noun`.
    """

    head: Sequence[str | Span]
    rows: Sequence[Sequence[Line]]
    dash: str = "-"
    limit: int = 20_000
    noun: str = "rows"
    keeps_head: bool = False


class ReportLines(NamedTuple):
    """Lines of text. In Markdown, they are a list, the lines of one paragraph, or a paragraph each. `indent` begins them on a terminal."""

    lines: Sequence[Line]
    form: Literal["list", "lines", "paragraphs"] = "list"
    indent: str = ""


class ReportFindings(NamedTuple):
    """Findings, each with the number of further resources that have it. A comment has at most `limit` characters of them."""

    findings: Sequence[tuple[Result, int]]
    limit: int = 10_000


class ReportSection(NamedTuple):
    """Blocks below a title; nothing without a block. A comment can fold it, and says `otherwise` in its place if it is too long."""

    title: Line
    blocks: Sequence[Block]
    is_folded: bool = False
    otherwise: str = ""


class Report(NamedTuple):
    """A report. The title is the heading of a comment, and the first line on a terminal if `is_titled`.

    `noun` is the word for sections that do not fit into a comment.
    """

    title: str
    sentences: Sequence[Line]
    parts: Sequence[Block]
    findings: Sequence[Result] = ()
    is_titled: bool = False
    noun: str = "sections"


def document(fields: Mapping[str, Any], findings: Sequence[Result] | None = None) -> str:
    """Returns a report for programs, as JSON: the version of its format first, and the findings last, if it has any."""
    about = {} if findings is None else {"findings": [report.json_fields(finding) for finding in findings]}
    return escaping.json_text({"formatVersion": FORMAT_VERSION, **fields, **about}, 2) + "\n"
