"""The option `--budget`: reads a DynamoBudget, and compares its limits with the GPUs of roots. The rules are in `krm_fn.review.budgets`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import click

from krm_fn.base import escaping, report, results
from krm_fn.base.results import Result
from krm_fn.cli import command_output
from krm_fn.render.resolve.cluster import default_namespace
from krm_fn.render.schema import schema_check
from krm_fn.repository.files import reading
from krm_fn.repository.files.reading import Source
from krm_fn.review.budgets import budget_report, gpu_use, limits
from krm_fn.review.budgets.gpu_use import RootObjects
from krm_fn.review.budgets.limits import Budget
from krm_fn.review.diff import comparison
from krm_fn.review.diff.rendered_state import RenderedState
from krm_fn.review.inputs import Inputs

_FILE = click.Path(exists=True, dir_okay=False)
_NO_BUDGET = "write one DynamoBudget of config.dynamo.krm-fn.io/v1alpha1"


class BudgetFile(NamedTuple):
    """A budget, and the resource that holds it."""

    source: Source
    budget: Budget


class BudgetReport(NamedTuple):
    """The comparison of a budget with the GPUs in use. `findings` have their locations."""

    table: list[tuple[str, ...]]
    document: dict[str, Any]
    findings: list[Result]

    def text(self) -> str:
        """Returns the table for a terminal."""
        head, *rows = self.table
        return report.columns(head, rows)

    def markdown(self) -> str:
        """Returns the table for a comment."""
        return budget_report.markdown(self.table)


def option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--budget`; the command receives the path as `budget`."""
    text = "The limits for GPUs, a DynamoBudget. Prints the GPUs in use, and fails above a limit."
    return click.option("--budget", metavar="FILE", type=_FILE, help=text)(command)


def read(path: str | None, given: Inputs) -> BudgetFile | None:
    """Reads the file of the option or of the project file; None without one. Errors in it end the program with code 1."""
    path = path or given.project.budget
    if path is None:
        return None
    file = reading.read(path)
    findings = [*file.results, *_wrong(file.sources, path)] if not results.failed(file.results) else file.results
    if results.failed(findings):
        command_output.write(escaping.joined(map(report.entry, findings)), err=True)
        click.get_current_context().exit(1)
    return BudgetFile(file.sources[0], limits.read(file.sources[0].value))


def _wrong(sources: Sequence[Source], path: str) -> list[Result]:
    """Returns the errors in a file with a budget."""
    if len(sources) != 1 or sources[0].address.kind != limits.KIND:
        kinds = ", ".join(source.address.kind or "no kind" for source in sources) or "no document"
        return [results.error("DYN641", f"the file has {kinds}; {_NO_BUDGET}", file=reading.name(path))]
    (source,) = sources
    by_schema = [*schema_check.resource(source.value)]
    return reading.located([(source, finding) for finding in by_schema or limits.check(source.value)])


def states(old: RenderedState | None, new: RenderedState, clusters: tuple[str, ...] = ()) -> RootObjects:
    """Returns the objects of a root that are measured. Without an old state, nothing changes. `clusters` are those of the root."""
    namespace = default_namespace(new.config)
    changes = gpu_use.unchanged(new.objects, namespace) if old is None else comparison.compare_objects(old, new)
    return RootObjects(changes, (*(old.inputs if old else ()), *new.inputs), namespace, clusters)


def compare(file: BudgetFile, roots: Iterable[RootObjects]) -> BudgetReport:
    """Compares a budget with the GPUs of all roots, cluster by cluster."""
    measured = gpu_use.measure(file.budget, [*roots])
    findings = reading.locate(budget_report.findings(file.source.value, measured), [file.source])
    return BudgetReport(budget_report.rows(file.budget, measured), budget_report.json_fields(file.budget, measured), findings)


def with_budget(style: str, text: str, budget: BudgetReport | None) -> str:
    """Returns a report with the comparison of the budget: as a table at its end, or in JSON as the field `budget`."""
    if budget is None:
        return text
    if style == "json":
        return escaping.json_text({**json.loads(text), "budget": budget.document}, 2) + "\n"
    table = budget.markdown() if style == "markdown" else budget.text() if style == "text" else ""
    return "\n".join(filter(None, (text, table)))
