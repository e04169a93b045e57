"""The comparison as Markdown, for a comment on a pull request: the verdict, a table, and the details of each object to unfold."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from krm_fn.base import report
from krm_fn.base.results import Result
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff import advice, diff_report, headline
from krm_fn.review.diff.advice import Advice
from krm_fn.review.diff.diff_report import Report, Row
from krm_fn.review.diff.headline import Sentence, Verdict

LIMIT = 60_000
"""The largest number of characters. GitHub refuses comments of more than 65,536."""

_TABLE, _FINDINGS, _NAMES = 15_000, 15_000, 4_000
_QUIET = ("same", "updated", "created", "unknown")
"""The effects that no reader must see at once."""
_LONGEST = 2_000  # characters of one finding
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")


def write(content: Report) -> str:
    """Returns the comparison, cut to the limit by whole objects, which are then named."""
    parts = [head(diff_report.verdict(content)), advice_lines(advice.of([content.diff], [content.diff]))]
    if content.diff.differing:
        parts.append(_table(diff_report.rows(content)))
    parts.append(details(content, LIMIT - sum(len(part) + 1 for part in parts)))
    return "\n".join(part for part in parts if part)


def details(content: Report, limit: int) -> str:
    """Returns the findings, and the details of the objects, as far as they fit into a number of characters."""
    findings = fitting((finding(result) for result in content.findings), min(_FINDINGS, limit), "- and {} more findings\n")
    objects = _objects(content, limit - len(findings) - 1) if content.diff.differing else ""
    return "\n".join(filter(None, (findings, objects)))


def advice_lines(answers: Sequence[Advice]) -> str:
    """Returns the answers about prerequisites, order and the way back, one in a line."""
    return "".join(f"- **{answer.title}:** {plain(answer.text)}{f' [More]({answer.page})' * bool(answer.page)}\n" for answer in answers)


def changed_table(content: Report) -> str:
    """Returns the table of the services that change, and the number of the others."""
    rows = diff_report.rows(content)
    changed = [row for row in rows if row.effect != "same"]
    same = len(rows) - len(changed)
    note = f"\n{report.counted(same, 'service stays', 'services stay')} the same.\n\n" if same else "\n"
    return f"{_table(changed)}{note}"


def head(verdict: Verdict) -> str:
    """Returns the title of a comment with the first line, and the lines about refused changes and free GPUs."""
    lines = [" ".join(map(_sentence, verdict.first)), *map(_sentence, verdict.others)]
    return "### What the change does\n\n" + "  \n".join(lines) + "\n"


def _sentence(sentence: Sentence) -> str:
    text, word = sentence
    return f"**{plain(text)}**" if word else plain(text)


def fitting(lines: Iterable[str], limit: int, more: str) -> str:
    """Returns the first lines, up to a number of characters, and the number of the others."""
    text, others = "", 0
    for line in lines:
        if others or len(text) + len(line) + len(more) > limit:
            others += 1
        else:
            text += line
    return text + (more.format(others) if others else "")


def _table(rows: Sequence[Row]) -> str:
    """Returns the table of services. Beyond its limit, the other services are counted."""
    return fitting(_table_lines(rows), _TABLE, "| … | and {} more services | | |\n")


def _table_lines(rows: Sequence[Row]) -> Iterator[str]:
    if rows:
        yield "| Service | Effect | GPUs | Changed by |\n|---|---|---|---|\n"
    for row in rows:
        effect = ", ".join(f"**{word}**" if word not in _QUIET else word for word in row.effects)
        before, after = diff_report.gpu_texts(row)
        gpus = before if before == after else f"{before} → {after}"
        service = cell(code(headline.title(row.service)))
        changed_by = diff_report.changed_by(row)
        lines = code(changed_by) if changed_by else ""
        yield f"| {service} | {effect} | {gpus} | {cell(lines)} |\n"


def finding(result: Result) -> str:
    """Returns a finding as an entry of a list."""
    location = report.location(result).removesuffix(":")
    at = f" {code(location)}" if location else ""
    text = report.what(result)
    return f"- **{report.noun(result)}**{at} {code(text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…')}\n"


def _objects(content: Report, limit: int) -> str:
    """Returns the details of the objects that fit into a number of characters, and the names of the others.

    Objects that are deleted or created have no fields, so one line for each effect names them all, by their kinds.
    """
    text, names = _single_objects(content), []
    if len(text) > limit - _NAMES:
        text = ""
    for number, change, effect in content.objects:
        block = _object(content, number, change, effect) if change.fields else ""
        if len(text) + len(block) > limit - _NAMES:
            names.append(diff_report.object_name(change.key))
        else:
            text += block
    if not names:
        return text
    head = f"A comment has at most {LIMIT:,} characters. The details of these objects are left out:\n\n"
    list_of_names = fitting((f"- {code(name)}\n" for name in names), _NAMES - len(head) - 1, "- and {} more\n")
    return f"{text}\n{head}{list_of_names}"


def _single_objects(content: Report) -> str:
    """Returns the objects that are deleted or created, to unfold."""
    groups: dict[str, dict[str, list[str]]] = {}
    for _, change, _ in content.objects:
        if change.old is None or change.new is None:
            names = groups.setdefault("created" if change.old is None else "deleted", {}).setdefault(change.key.kind, [])
            names.append(report.visible(f"{change.key.namespace}{'/' if change.key.namespace else ''}{change.key.name}"))
    if not groups:
        return ""
    counts = {effect: sum(map(len, kinds.values())) for effect, kinds in groups.items()}
    title = ", ".join(f"{count} {effect}" for effect, count in counts.items())
    lines = [f"- {effect}: {_names_by_kind(kinds)}\n" for effect, kinds in groups.items()]
    noun = "object" if sum(counts.values()) == 1 else "objects"
    return f"<details><summary>{title} {noun}</summary>\n\n{''.join(lines)}\n</details>\n"


def _names_by_kind(kinds: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{plain(kind)} {', '.join(map(code, names))}" for kind, names in kinds.items())


def _object(content: Report, number: int, change: ObjectChange, effect: str) -> str:
    """Returns one object with its fields, to unfold."""
    title = f"{html.escape(effect)}: <code>{html.escape(diff_report.object_name(change.key))}</code>"
    fields = diff_report.shown_fields(change.fields)
    lines = [_field(name, field, _origins(content, number, index)) for index, name, field in fields]
    return f"<details><summary>{title}</summary>\n\n{''.join(lines)}\n</details>\n"


def _field(name: str, field: FieldChange, origins: str) -> str:
    lines = diff_report.changed_lines(field)
    change = "changed lines" if lines else code(diff_report.field_change(field))
    text = f"- {code(name)}: {change}{origins}\n"
    if lines:
        fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
        text += f"\n  {fence}diff\n" + "".join(f"  {line}\n" for line in lines) + f"  {fence}\n\n"
    return text


def _origins(content: Report, number: int, field: int) -> str:
    origins = [code(diff_report.origin_text(origin)) for origin in content.origins(number, field)]
    return f", from {', '.join(origins)}" if origins else ""


def code(text: str) -> str:
    """Returns a text as code: Markdown, HTML and mentions in it have no effect."""
    shown = report.visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def cell(text: str) -> str:
    """Returns a text in a table: a bar would begin the next cell, also in code."""
    return text.replace("|", "\\|")


def plain(text: str) -> str:
    """Returns a text in which Markdown, HTML and mentions have no effect."""
    return _SPECIAL.sub(r"\\\1", report.visible(text)).replace("@", "@&#8288;")
