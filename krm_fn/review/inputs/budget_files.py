"""Reads a DynamoBudget, and compares its limits with the GPUs of roots. The rules are in `krm_fn.review.budgets`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from krm_fn.base import codes, escaping, report_markdown, report_text, results
from krm_fn.base.report_model import ReportTable
from krm_fn.base.results import Result
from krm_fn.render.resolve.cluster import default_namespace
from krm_fn.render.schema import schema_check
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source
from krm_fn.review.budgets import budget_report, gpu_use, limits
from krm_fn.review.budgets.gpu_use import RootObjects
from krm_fn.review.budgets.limits import Budget
from krm_fn.review.diff import comparison
from krm_fn.review.diff.rendered_state import Render

_NO_BUDGET = "write one DynamoBudget of config.dynamo.krm-fn.io/v1alpha1"


class BudgetFile(NamedTuple):
    """A budget, and the resource that holds it."""

    source: Source
    budget: Budget

    def compare(self, roots: Iterable[RootObjects]) -> BudgetReport:
        """Compares the budget with the GPUs of all roots, cluster by cluster."""
        measured = gpu_use.measure(self.budget, [*roots])
        findings = reading.locate(budget_report.findings(self.source.value, measured), [self.source])
        return BudgetReport(budget_report.table(self.budget, measured), budget_report.json_fields(self.budget, measured), findings)


class BudgetReport(NamedTuple):
    """The comparison of a budget with the GPUs in use. `findings` have their locations."""

    table: ReportTable
    document: dict[str, Any]
    findings: list[Result]

    def added_to(self, style: str, text: str) -> str:
        """Returns a report in a format with the comparison: as a table at its end, or in JSON as the field `budget`."""
        if style == "json":
            return escaping.json_text({**json.loads(text), "budget": self.document}, 2) + "\n"
        writer = {"markdown": report_markdown.block, "text": report_text.block}.get(style)
        return "\n".join(filter(None, (text, writer(self.table) if writer else "")))


def read(path: str) -> tuple[BudgetFile | None, list[Result]]:
    """Reads a file with one budget. Returns None with the findings if the file has an error."""
    file = reading.read(path)
    findings = [*file.results, *_wrong(file.sources, path)] if not results.has_errors(file.results) else file.results
    if results.has_errors(findings):
        return None, findings
    return BudgetFile(file.sources[0], limits.read(file.sources[0].value)), []


def _wrong(sources: Sequence[Source], path: str) -> list[Result]:
    """Returns the errors in a file with a budget."""
    if len(sources) != 1 or sources[0].address.kind != limits.KIND:
        kinds = ", ".join(source.address.kind or "no kind" for source in sources) or "no document"
        return [results.error(codes.UNUSABLE_BUDGET, f"the file has {kinds}; {_NO_BUDGET}", file=reading.name(path))]
    (source,) = sources
    by_schema = [*schema_check.resource(source.value)]
    return reading.locate_findings([(source, finding) for finding in by_schema or limits.check(source.value)])


def states(old: Render | None, new: Render, clusters: tuple[str, ...] = ()) -> RootObjects:
    """Returns the objects of a root that are measured. Without an old state, nothing changes. `clusters` are those of the root."""
    namespace = default_namespace(new.config)
    changes = gpu_use.as_unchanged(new.objects, namespace) if old is None else comparison.compare_objects(old, new)
    return RootObjects(changes, (*(old.inputs if old else ()), *new.inputs), namespace, clusters)
