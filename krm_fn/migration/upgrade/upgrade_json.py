"""The plan of an upgrade for programs, as JSON. Its schema is `krm_fn/review/schemas/upgrade.json`."""

from __future__ import annotations

from typing import Any

from krm_fn.base import escaping, report, results
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.migration.upgrade import upgrade_report, upgrade_steps
from krm_fn.migration.upgrade.field_edits import Cause
from krm_fn.migration.upgrade.upgrade_plan import GraphUpgrade, ServiceUpgrade, StepPlan
from krm_fn.migration.upgrade.upgrade_report import EditedField, UpgradeReport
from krm_fn.migration.upgrade.upgrade_steps import Versions
from krm_fn.review.forecast import Gpus, gpu_texts

FORMAT_VERSION = 1
_KEYS: dict[Cause, str] = {"release": "release", "image": "image", "origin": "originVersion", "api_version": "apiVersion"}


def write(content: UpgradeReport) -> str:
    """Returns the whole plan, or the steps and the graph that the report shows."""
    plan = content.plan
    document = {
        "formatVersion": FORMAT_VERSION,
        "target": {"version": upgrade_steps.version_text(plan.target), "release": upgrade_steps.release_of(plan.target)},
        "downgrade": plan.is_downgrade,
        "steps": [_step(step, content) for step in content.steps],
        "unchanged": [{"root": part or None, "resource": _key(key)} for part, key in plan.unchanged],
        "findings": [report.json_fields(finding) for finding in content.findings.get(0, ())],
    }
    return escaping.json_text(document, 2) + "\n"


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
        "resource": _key(graph.key),
        "state": graph.state,
        "effect": graph.effect,
        "old": _versions(graph.old),
        "new": _versions(graph.new),
        "wave": graph.wave or None,
        "causes": [_KEYS[cause] for cause in graph.causes],
        "gpus": _gpus(graph.gpus),
        "services": [_service(service) for service in graph.services],
        "edits": _edits(graph, content),
    }


def _service(service: ServiceUpgrade) -> dict[str, Any]:
    return {
        "name": service.service.name,
        "effect": service.effect,
        "restarts": service.restarts,
        "gpus": _gpus(service.gpus),
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


def _key(key: ObjectKey) -> dict[str, str]:
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace, "name": key.name}


def _versions(versions: Versions | None) -> dict[str, str] | None:
    return versions and {"release": versions.release, "runtime": upgrade_steps.version_text(versions.runtime)}


def _gpus(gpus: Gpus) -> dict[str, Any]:
    counts = {"before": gpus.before, "peak": gpus.peak, "after": gpus.after, "interrupted": gpus.interrupted}
    unknown = gpu_texts.unknown_states(gpus)
    return {**counts, **({"unknown": unknown} if unknown else {})}
