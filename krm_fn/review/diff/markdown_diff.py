"""The comparison as Markdown, for a comment on a pull request: the verdict, a table, and the details of each object to unfold."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from krm_fn.base import report, report_markdown
from krm_fn.base.report_markdown import LIMIT, code, plain
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff import advice, diff_blocks, diff_report
from krm_fn.review.diff.advice import Advice
from krm_fn.review.diff.diff_report import DiffReport
from krm_fn.review.diff.headline import Verdict

_FINDINGS, _NAMES = 15_000, 4_000


def write(content: DiffReport) -> str:
    """Returns the comparison, cut to the limit by whole objects, which are then named."""
    parts = [head(diff_report.verdict(content)), advice_lines(advice.of([content.diff], [content.diff]))]
    if content.diff.differing:
        parts.append(report_markdown.block(diff_blocks.services(diff_report.rows(content), "→")))
    parts.append(details(content, LIMIT - sum(len(part) + 1 for part in parts)))
    return "\n".join(filter(None, parts))


def details(content: DiffReport, limit: int) -> str:
    """Returns the findings, and the details of the objects, as far as they fit into a number of characters."""
    findings = report_markdown.block(diff_blocks.findings(content.findings, min(_FINDINGS, limit)))
    objects = _objects(content, limit - len(findings) - 1) if content.diff.differing else ""
    return "\n".join(filter(None, (findings, objects)))


def advice_lines(answers: Sequence[Advice]) -> str:
    """Returns the answers about prerequisites, order and the way back, one in a line."""
    return "".join(f"- **{answer.title}:** {plain(answer.text)}{f' [More]({answer.page})' * bool(answer.page)}\n" for answer in answers)


def head(verdict: Verdict) -> str:
    """Returns the title of a comment with the first line, and the lines about refused changes and free GPUs."""
    return report_markdown.heading("What the change does", diff_blocks.sentences(verdict))


def _objects(content: DiffReport, limit: int) -> str:
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
    list_of_names = report_markdown.fitting((f"- {code(name)}\n" for name in names), _NAMES - len(head) - 1, "- and {} more\n")
    return f"{text}\n{head}{list_of_names}"


def _single_objects(content: DiffReport) -> str:
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
    return report_markdown.fold(f"{title} {noun}", "".join(lines))


def _names_by_kind(kinds: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{plain(kind)} {', '.join(map(code, names))}" for kind, names in kinds.items())


def _object(content: DiffReport, number: int, change: ObjectChange, effect: str) -> str:
    """Returns one object with its fields, to unfold."""
    title = f"{html.escape(effect)}: <code>{html.escape(diff_report.object_name(change.key))}</code>"
    fields = diff_report.shown_fields(change.fields)
    lines = [_field(name, field, _origins(content, number, index)) for index, name, field in fields]
    return report_markdown.fold(title, "".join(lines))


def _field(name: str, field: FieldChange, origins: str) -> str:
    lines = diff_report.changed_lines(field)
    change = "changed lines" if lines else code(diff_report.field_change(field))
    text = f"- {code(name)}: {change}{origins}\n"
    if lines:
        fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
        text += f"\n  {fence}diff\n" + "".join(f"  {line}\n" for line in lines) + f"  {fence}\n\n"
    return text


def _origins(content: DiffReport, number: int, field: int) -> str:
    origins = [code(diff_report.origin_text(origin)) for origin in content.origins(number, field)]
    return f", from {', '.join(origins)}" if origins else ""
