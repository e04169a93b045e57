"""The comparison as Markdown, for a comment on a pull request: the verdict, a table, and the details of each object to unfold."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from krm_fn import report as findings
from krm_fn.review.diff import diff_report, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from krm_fn.results import Result
    from krm_fn.review.diff.diff_report import Report, Row
    from krm_fn.schema.object_changes import FieldChange, ObjectChange

LIMIT = 60_000
"""The largest number of characters. GitHub refuses comments of more than 65,536."""

_TABLE, _FINDINGS, _NAMES = 15_000, 15_000, 4_000
_LONGEST = 2_000  # characters of one finding
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")


def write(told: Report) -> str:
    """The comparison, cut to the limit by whole objects, which are then named."""
    said = [f"{'**' if word else ''}{_plain(sentence)}{'**' if word else ''}" for sentence, word in diff_report.verdict(told)]
    parts = ["### What the change does\n\n" + "  \n".join(said) + "\n"]
    if told.diff.differing:
        parts.append(_fitting(_table(diff_report.rows(told)), _TABLE, "| … | and {} more services | | |\n"))
        parts.append(_fitting((_finding(each) for each in told.findings), _FINDINGS, "- and {} more findings\n"))
        parts.append(_objects(told, LIMIT - sum(len(part) + 1 for part in parts)))
    else:
        parts.append(_fitting((_finding(each) for each in told.findings), _FINDINGS, "- and {} more findings\n"))
    return "\n".join(part for part in parts if part)


def _fitting(lines: Iterable[str], room: int, more: str) -> str:
    """As many lines as fit, and the number of the others."""
    text, left = "", 0
    for line in lines:
        if left or len(text) + len(line) + len(more) > room:
            left += 1
        else:
            text += line
    return text + (more.format(left) if left else "")


def _table(rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        yield "| Service | Effect | GPUs | Changed by |\n|---|---|---|---|\n"
    for row in rows:
        effect = f"**{row.effect}**" if row.effect in ("restarts", "refused", "deleted") else row.effect
        gpus = f"{row.gpus[0]}" if row.gpus[0] == row.gpus[1] else f"{row.gpus[0]} → {row.gpus[1]}"
        service, stuck = _cell(_code(diff_report.title(row.service))), ", **stuck**" if row.stuck else ""
        spots = _code(diff_report.together(row.spots)) if row.spots else ""
        yield f"| {service} | {effect}{stuck} | {gpus} | {_cell(spots)} |\n"


def _finding(result: Result) -> str:
    where = findings.location(result).removesuffix(":")
    place = f" {_code(where)}" if where else ""
    said = findings.what(result)
    return f"- **{findings.noun(result)}**{place} {_code(said if len(said) <= _LONGEST else f'{said[:_LONGEST]}…')}\n"


def _objects(told: Report, room: int) -> str:
    """The details of the objects that fit into the room, and the names of the others."""
    text, cut = "", []
    for number, change, effect in told.objects:
        block = _object(told, number, change, effect)
        if len(text) + len(block) > room - _NAMES:
            cut.append(words.named(change.key))
        else:
            text += block
    if not cut:
        return text
    head = f"A comment has at most {LIMIT:,} characters. The details of these objects are left out:\n\n"
    names = _fitting((f"- {_code(name)}\n" for name in cut), _NAMES - len(head) - 1, "- and {} more\n")
    return f"{text}\n{head}{names}"


def _object(told: Report, number: int, change: ObjectChange, effect: str) -> str:
    """One object with its fields, to unfold."""
    title = f"{html.escape(effect)}: <code>{html.escape(words.named(change.key))}</code>"
    lines = [_field(told, number, index, field) for index, field in enumerate(change.fields)]
    if change.old is None or change.new is None:
        lines = [f"- the object is {'new' if change.old is None else 'removed'}{_from(told, number, None)}\n"]
    return f"<details><summary>{title}</summary>\n\n{''.join(lines)}\n</details>\n"


def _field(told: Report, number: int, index: int, field: FieldChange) -> str:
    lines = words.lines(field)
    said = "changed lines" if lines else _code(words.change(field))
    text = f"- {_code(words.field(field))}: {said}{_from(told, number, index)}\n"
    if lines:
        fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
        text += f"\n  {fence}diff\n" + "".join(f"  {line}\n" for line in lines) + f"  {fence}\n\n"
    return text


def _from(told: Report, number: int, field: int | None) -> str:
    found = [_code(words.origin(origin, spot, told.old)) for origin, spot in told.origins(number, field)]
    return f", from {', '.join(found)}" if found else ""


def _code(text: str) -> str:
    """A text as code: Markdown, HTML and mentions in it have no effect."""
    shown = findings.visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _cell(text: str) -> str:
    """A text in a table: a bar would begin the next cell, also in code."""
    return text.replace("|", "\\|")


def _plain(text: str) -> str:
    """A text in which Markdown, HTML and mentions have no effect."""
    return _SPECIAL.sub(r"\\\1", findings.visible(text)).replace("@", "@\N{WORD JOINER}")
