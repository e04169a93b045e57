"""The plan of an upgrade for people at a terminal: a table of the fleet, or the page of one graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn import report
from krm_fn.results import Result
from krm_fn.review.upgrade import upgrade_report
from krm_fn.review.upgrade.upgrade_plan import GraphUpgrade, StepPlan
from krm_fn.review.upgrade.upgrade_report import UpgradeReport


def write(content: UpgradeReport) -> str:
    """Returns the plan as text."""
    parts = ["".join(f"{sentence}\n" for sentence in upgrade_report.sentences(content))]
    if content.graph:
        parts += [_page(step, graph, content) for step in content.steps for graph in content.graphs(step)]
    else:
        rows = upgrade_report.fleet_rows(content)
        parts.append(report.columns(upgrade_report.FLEET_HEAD, rows) if rows else "")
        parts += [_step(step, content) for step in content.steps]
        parts.append("".join(_finding(*group) for group in upgrade_report.grouped(content.findings.get(0, ()))))
    return "\n".join(part for part in parts if part)


def _step(step: StepPlan, content: UpgradeReport) -> str:
    """Returns what a person must do or decide for a step."""
    lines = [*_platform(step)]
    lines += [_finding(*group) for group in upgrade_report.grouped(content.findings.get(step.step.number, ()))]
    return f"== {upgrade_report.step_title(step)}\n{''.join(lines)}" if lines else ""


def _platform(step: StepPlan) -> Iterator[str]:
    rows = upgrade_report.platform_rows(step)
    if rows:
        yield report.columns(upgrade_report.PLATFORM_HEAD, rows)
        yield from (f"  {action}\n" for action in upgrade_report.platform_actions(step))


def _page(step: StepPlan, graph: GraphUpgrade, content: UpgradeReport) -> str:
    """Returns one step of one graph."""
    lines = [f"== {upgrade_report.step_title(step)}: {report.visible(upgrade_report.name(graph.key))}{_wave(graph)}\n"]
    if graph.state != "planned":
        lines.append(f"{graph.state}\n")
    if graph.services:
        lines.append(report.columns(upgrade_report.SERVICE_HEAD, upgrade_report.service_rows(graph)))
    lines += [f"{line}\n" for line in upgrade_report.optional_lines(graph)]
    lines += _indented("edits:", upgrade_report.edit_lines(graph, content))
    about = upgrade_report.of_graph(content.findings.get(step.step.number, ()), graph)
    return "".join((*lines, *(_finding(result, 0) for result in about)))


def _wave(graph: GraphUpgrade) -> str:
    return f", wave {graph.wave}" if graph.wave else ""


def _indented(head: str, lines: Sequence[str]) -> list[str]:
    return [f"{head}\n", *(f"  {line}\n" for line in lines)] if lines else []


def _finding(result: Result, others: int) -> str:
    more = f" and {others} more resource{'s' * (others > 1)}" if others else ""
    return f"{report.entry(result)}{more}\n"
