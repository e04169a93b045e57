"""The plan of an upgrade for people at a terminal: a table of the fleet, or the page of one graph."""

from __future__ import annotations

from collections.abc import Sequence

from krm_fn.base import escaping, report
from krm_fn.base.results import Result
from krm_fn.migration.upgrade import upgrade_report
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, StepPlan
from krm_fn.migration.upgrade.upgrade_report import UpgradeReport


def write(content: UpgradeReport) -> str:
    """Returns the plan as text."""
    parts = [escaping.joined(upgrade_report.sentences(content))]
    if content.graph:
        parts += [_page(step, graph, content) for step in content.steps for graph in content.graphs(step)]
    else:
        rows = upgrade_report.fleet_rows(content)
        parts.append(report.columns(upgrade_report.FLEET_HEAD, rows) if rows else "")
        parts += [_step(step, content) for step in content.steps]
        parts.append(_findings(content.findings.get(0, ())))
    return "\n".join(part for part in parts if part)


def _step(step: StepPlan, content: UpgradeReport) -> str:
    """Returns what a person must do or decide for a step."""
    text = _platform(step) + _findings(content.findings.get(step.step.number, ()))
    return escaping.joined([f"== {upgrade_report.step_title(step)}"]) + text if text else ""


def _platform(step: StepPlan) -> str:
    rows = upgrade_report.platform_rows(step)
    if not rows:
        return ""
    actions = (f"  {action}" for action in upgrade_report.platform_actions(step))
    return report.columns(upgrade_report.PLATFORM_HEAD, rows) + escaping.joined(actions)


def _page(step: StepPlan, graph: GraphUpgrade, content: UpgradeReport) -> str:
    """Returns one step of one graph."""
    wave = f", wave {graph.wave}" if graph.wave else ""
    head = [f"== {upgrade_report.step_title(step)}: {upgrade_report.name(graph.key)}{wave}"]
    head += [graph.state] if graph.state != "planned" else []
    services = report.columns(upgrade_report.SERVICE_HEAD, upgrade_report.service_rows(graph)) if graph.services else ""
    edits = upgrade_report.edit_lines(graph, content)
    lines = [*upgrade_report.optional_lines(graph), *(["edits:"] if edits else []), *(f"  {edit}" for edit in edits)]
    about = upgrade_report.of_graph(content.findings.get(step.step.number, ()), graph)
    return escaping.joined(head) + services + escaping.joined([*lines, *map(report.entry, about)])


def _findings(findings: Sequence[Result]) -> str:
    """Returns findings with one code and one message as one line."""
    groups = upgrade_report.grouped(findings)
    more = (f" and {report.counted(others, 'more resource')}" if others else "" for _, others in groups)
    return escaping.joined(f"{report.entry(result)}{rest}" for (result, _), rest in zip(groups, more, strict=True))
