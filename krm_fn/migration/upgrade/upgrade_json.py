"""The plan of an upgrade for programs, as JSON. Its schema is `krm_fn/review/schemas/upgrade.json`."""

from __future__ import annotations

from typing import Any

from krm_fn.base import report, report_model, results
from krm_fn.migration.upgrade import upgrade_report, upgrade_steps
from krm_fn.migration.upgrade.field_edits import Cause
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, ServiceUpgrade, StepPlan
from krm_fn.migration.upgrade.upgrade_report import EditedField, UpgradeReport
from krm_fn.migration.upgrade.upgrade_steps import Versions
from krm_fn.review.forecast import gpu_texts

_KEYS: dict[Cause, str] = {"release": "release", "image": "image", "origin": "originVersion", "api_version": "apiVersion"}


def write(content: UpgradeReport) -> str:
    """Returns the whole plan, or the steps and the graph that the report shows."""
    plan = content.plan
    fields = {
        "target": {"version": upgrade_steps.version_text(plan.target), "release": upgrade_steps.release_of(plan.target)},
        "downgrade": plan.is_downgrade,
        "steps": [_step(step, content) for step in content.steps],
        "unchanged": [{"root": part or None, "resource": key._asdict()} for part, key in plan.unchanged],
    }
    return report_model.document(fields, content.findings.get(0, ()))


def _step(plan: StepPlan, content: UpgradeReport) -> dict[str, Any]:
    step = plan.step
    return {
        "number": step.number,
        "oldRelease": step.old_release,
        "release": step.release,
        "runtime": step.runtime_text,
        "apiVersion": step.api_version or None,
        "newOrigin": step.new_origin,
        "platform": [row._asdict() for row in plan.required],
        "waves": [{"number": number, "peak": peak} for number, peak in enumerate(plan.waves.peaks, 1)],
        "graphs": [_graph(graph, content) for graph in content.graphs(plan)],
        "findings": [report.json_fields(finding) for finding in upgrade_report.shown_findings(plan, content)],
    }


def _graph(graph: GraphUpgrade, content: UpgradeReport) -> dict[str, Any]:
    return {
        "root": graph.part or None,
        "resource": graph.key._asdict(),
        "state": graph.state,
        "effect": graph.effect,
        "old": _versions(graph.old),
        "new": _versions(graph.new),
        "wave": graph.wave or None,
        "causes": [_KEYS[cause] for cause in graph.causes],
        "gpus": gpu_texts.json_fields(graph.gpus),
        "services": [_service(service) for service in graph.services],
        "edits": _edits(graph, content),
    }


def _service(service: ServiceUpgrade) -> dict[str, Any]:
    return {
        "name": service.service.name,
        "effect": service.effect,
        "restarts": service.restarts,
        "gpus": gpu_texts.json_fields(service.gpus),
        "smallest": [[_KEYS[cause] for cause in causes] for causes in service.smallest],
        "alone": {_KEYS[cause]: restarts for cause, restarts in service.alone.items()},
        "optional": {_KEYS[cause]: restarts for cause, restarts in service.optional.items()},
    }


def _edits(graph: GraphUpgrade, content: UpgradeReport) -> list[dict[str, Any]]:
    edits = []
    for edit in upgrade_report.all_edits(graph):
        line = content.lines.get(EditedField(graph.part, graph.key, edit.path))
        location = {"file": line.file if line else None, "line": line.line if line else None}
        edits.append(
            {
                "field": results.field(edit.path),
                "path": [*edit.path],
                "old": edit.old,
                "new": edit.new,
                "cause": _KEYS[edit.cause],
                **location,
            }
        )
    return edits


def _versions(versions: Versions | None) -> dict[str, str] | None:
    return versions and {"release": versions.release, "runtime": upgrade_steps.version_text(versions.runtime)}
