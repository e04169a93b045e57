"""The plan of an upgrade for people: a table of the fleet, or the pages of one graph. A comment folds each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krm_fn.base import report_markdown, report_text
from krm_fn.base.report_model import Block, Report, ReportFindings, ReportLines, ReportSection, ReportTable, Span
from krm_fn.base.results import Result
from krm_fn.migration.upgrade import upgrade_report
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, StepPlan
from krm_fn.migration.upgrade.upgrade_report import UpgradeReport


def text(content: UpgradeReport) -> str:
    """Returns the plan for a terminal."""
    if content.graph:
        return _write(content, [_graph_section(step, graph, content) for step in content.steps for graph in content.graphs(step)])
    steps = [_step(step, [*_platform(step), _findings(content.findings.get(step.step.number, ()))]) for step in content.steps]
    return _write(content, [_fleet(content), *steps, _findings(content.findings.get(0, ()))])


def _write(content: UpgradeReport, parts: Sequence[Block]) -> str:
    title, *sentences = upgrade_report.sentences(content)
    return report_text.write(Report(title, sentences, parts, is_titled=True))


def markdown(content: UpgradeReport) -> str:
    """Returns the plan for a comment on a pull request."""
    title, *sentences = upgrade_report.sentences(content)
    return report_markdown.write(Report(title, sentences, [_fleet(content), *(_folded_section(step, content) for step in content.steps)]))


def _folded_section(step: StepPlan, content: UpgradeReport) -> ReportSection:
    """Returns a step to unfold: the platform, the findings, and the edits if the report shows one graph."""
    graphs = [part for graph in content.graphs(step) for part in _graph(graph, content)] if content.graph else []
    section = _step(step, [*_platform(step), *graphs, _findings(upgrade_report.shown_findings(step, content))])
    return section._replace(is_folded=True, otherwise=f"The details of step {step.step.number} do not fit into a comment.\n")


def _step(step: StepPlan, parts: Sequence[Block]) -> ReportSection:
    return ReportSection(upgrade_report.step_title(step), parts)


def _fleet(content: UpgradeReport) -> ReportTable:
    return _table(upgrade_report.FLEET_HEAD, upgrade_report.fleet_rows(content))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> ReportTable:
    """Returns a table whose first column has names."""
    return ReportTable(head, [(Span(row[0], "code"), *row[1:]) for row in rows])


def _platform(step: StepPlan) -> Iterator[Block]:
    yield _table(upgrade_report.PLATFORM_HEAD, upgrade_report.platform_rows(step))
    yield ReportLines(upgrade_report.platform_actions(step), indent="  ")


def _graph_section(step: StepPlan, graph: GraphUpgrade, content: UpgradeReport) -> ReportSection:
    """Returns one step of one graph."""
    wave = f", wave {graph.wave}" if graph.wave else ""
    title = f"{upgrade_report.step_title(step)}: {upgrade_report.name(graph.key)}{wave}"
    state = [graph.state] if graph.state != "planned" else []
    services, optional, edits = _graph(graph, content)
    head = ReportLines(["edits:"] if edits.lines else [])
    about = upgrade_report.of_graph(content.findings.get(step.step.number, ()), graph)
    return ReportSection(title, [ReportLines(state), services, optional, head, edits, ReportFindings([(finding, 0) for finding in about])])


def _graph(graph: GraphUpgrade, content: UpgradeReport) -> tuple[ReportTable, ReportLines, ReportLines]:
    """Returns the services of a graph, the restarts that its step leaves out, and its edits."""
    edits = [Span(edit, "code") for edit in upgrade_report.edit_lines(graph, content)]
    services = _table(upgrade_report.SERVICE_HEAD, upgrade_report.service_rows(graph))
    return services, ReportLines([*upgrade_report.optional_lines(graph)]), ReportLines(edits, indent="  ")


def _findings(findings: Sequence[Result]) -> ReportFindings:
    """Returns findings with one code and one message as one."""
    return ReportFindings(upgrade_report.group_findings(findings), limit=15_000)
