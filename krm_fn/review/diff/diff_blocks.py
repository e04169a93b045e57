"""The blocks that all reports of a comparison for people have: the sentences of the verdict, and the table of services."""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.base import escaping
from krm_fn.base.report_model import Line, ReportFindings, ReportTable, Span
from krm_fn.base.results import Result
from krm_fn.review.diff import diff_report, headline
from krm_fn.review.diff.diff_report import Row
from krm_fn.review.diff.headline import Verdict

_COLOURS = {
    **dict.fromkeys(("refused", "stuck", "deleted", "error", "-"), escaping.RED),
    **dict.fromkeys(("created", "same", "+"), escaping.GREEN),
    **dict.fromkeys(("restarts", "unknown"), escaping.YELLOW),
    "updated": escaping.CYAN,
}
"""The colour of a word, as a parameter of the control sequence SGR (ECMA-48)."""
_BOLD, _NOT_BOLD = escaping.BOLD, 22
_STRONG = ("refused", "stuck", "restarts", "error")
_QUIET = ("same", "updated", "created", "unknown")
"""The effects that no reader must see at once."""


def colour(word: str) -> tuple[int, ...]:
    """Returns the colour of a word, such as `restarts`, or of the first character of a changed line."""
    return (*([_COLOURS[word]] if word in _COLOURS else ()), _BOLD if word in _STRONG else _NOT_BOLD)


def sentences(verdict: Verdict) -> list[Line]:
    """Returns the first line of a report, and the lines about refused changes and free GPUs."""
    first, *others = ([*verdict.first], *([sentence] for sentence in verdict.others))
    lines = [[Span(text, "bold" if word else "plain", colour(word)) for text, word in line] for line in (first, *others)]
    return [tuple(part for span in line for part in (span, " "))[:-1] for line in lines]


def services(rows: Sequence[Row], arrow: str) -> ReportTable:
    """Returns a table of services. `arrow` is between the GPUs before and after."""
    return ReportTable(("Service", "Effect", "GPUs", "Changed by"), [_row(row, arrow) for row in rows], "", 15_000, "services")


def _row(row: Row, arrow: str) -> Sequence[Line]:
    words = [Span(word, "plain" if word in _QUIET else "bold", colour(row.effect)) for word in row.effects]
    effect = tuple(part for word in words for part in (word, ", "))[:-1]
    gpus = f" {arrow} ".join(dict.fromkeys(diff_report.gpu_texts(row)))
    return Span(headline.title(row.service), "code"), effect, gpus, Span(diff_report.changed_by(row), "code")


def findings(results: Sequence[Result], limit: int = 15_000) -> ReportFindings:
    """Returns findings. A comment has at most `limit` characters of them."""
    return ReportFindings([(result, 0) for result in results], limit)
