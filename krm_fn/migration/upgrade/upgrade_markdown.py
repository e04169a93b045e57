"""The plan of an upgrade as Markdown, for a comment on a pull request: the sentences, the table, and the steps to unfold."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from krm_fn.migration.upgrade import upgrade_report
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, StepPlan
from krm_fn.migration.upgrade.upgrade_report import UpgradeReport
from krm_fn.review.diff import markdown_diff

_TABLE, _STEP = 20_000, 15_000
"""The largest numbers of characters of the table, and of the findings of a step."""


def write(content: UpgradeReport) -> str:
    """Returns the plan, cut to the limit of a comment."""
    first, *others = map(markdown_diff.plain, upgrade_report.sentences(content))
    parts = [f"### {first}\n\n" + "  \n".join(others) + "\n" * bool(others)]
    rows = upgrade_report.fleet_rows(content)
    if rows:
        more = f"| … | and {{}} more rows {'|' * (len(upgrade_report.FLEET_HEAD) - 1)}\n"
        parts.append(markdown_diff.fitting(_table(upgrade_report.FLEET_HEAD, rows), _TABLE, more))
    left = markdown_diff.LIMIT - sum(map(len, parts))
    for step in content.steps:
        block = _step(step, content)
        parts.append(block if len(block) < left else f"The details of step {step.step.number} do not fit into a comment.\n")
        left -= len(parts[-1]) + 1
    return "\n".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(name.capitalize() for name in head)} |\n" + "|---" * len(head) + "|\n"
    for row in rows:
        cells = [markdown_diff.code(row[0]), *(markdown_diff.plain(text) for text in row[1:])]
        yield f"| {' | '.join(map(markdown_diff.cell, cells))} |\n"


def _step(step: StepPlan, content: UpgradeReport) -> str:
    """Returns a step to unfold: the platform, the findings, and the edits if the report shows one graph."""
    platform = upgrade_report.platform_rows(step)
    lines = [*_table(upgrade_report.PLATFORM_HEAD, platform), "\n"] if platform else []
    lines += [f"- {markdown_diff.plain(action)}\n" for action in upgrade_report.platform_actions(step)]
    for graph in content.graphs(step) if content.graph else ():
        lines += _page(graph, content)
    findings = upgrade_report.grouped(upgrade_report.shown_findings(step, content))
    entries = (markdown_diff.finding(result)[:-1] + (f" and {others} more" if others else "") + "\n" for result, others in findings)
    lines.append(markdown_diff.fitting(entries, _STEP, "- and {} more findings\n"))
    body = "".join(lines)
    return f"<details><summary>{html.escape(upgrade_report.step_title(step))}</summary>\n\n{body}\n</details>\n" if body else ""


def _page(graph: GraphUpgrade, content: UpgradeReport) -> Iterator[str]:
    if graph.services:
        yield from _table(upgrade_report.SERVICE_HEAD, upgrade_report.service_rows(graph))
        yield "\n"
    yield from (f"- {markdown_diff.plain(line)}\n" for line in upgrade_report.optional_lines(graph))
    yield from (f"- {markdown_diff.code(line)}\n" for line in upgrade_report.edit_lines(graph, content))
