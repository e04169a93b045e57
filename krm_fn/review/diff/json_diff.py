"""The comparison for programs, as JSON. Its schema is `krm_fn/review/schemas/diff.json`."""

from __future__ import annotations

from typing import Any

from krm_fn.base import report_model, results
from krm_fn.render.schema.object_changes import FieldChange, ObjectChange
from krm_fn.review.diff import addresses, advice, diff_report, headline
from krm_fn.review.diff.diff_report import DiffReport
from krm_fn.review.forecast import ObjectForecast, gpu_texts
from krm_fn.review.forecast.rollouts import Service


def write(content: DiffReport) -> str:
    """Returns the whole comparison. Objects that do not change are left out."""
    forecast = content.diff.forecast
    verdict, changed = diff_report.verdict(content), addresses.compare_addresses(content.diff.changes)
    fields = {
        "old": content.old,
        **({"unchanged": True} if content.is_unchanged else {}),
        "forecast": {
            "headline": verdict.headline,
            "verdict": [sentence for sentence, _ in verdict.sentences],
            "services": [_service(service) for service in forecast.services],
            "restarting": [_service(service) for service in forecast.restarting],
            "deleted": [_service(service) for service in forecast.deleted],
            "created": [_service(service) for service in forecast.created],
            "mustExist": [key._asdict() for key in advice.requirements(content.diff)],
            "addresses": {"lost": [*changed.lost], "added": [*changed.added]},
            "gpus": {**gpu_texts.json_fields(forecast.gpus), "needed": forecast.needed, "free": forecast.free},
            "refused": len(content.diff.refused) + sum(outcome.effect == "refused" for outcome in forecast.outcomes),
            "unknown": [key._asdict() for key in content.diff.failed],
            "stuck": None if forecast.free is None else any(outcome.stuck for outcome in forecast.outcomes),
        },
        "revert": {"headline": headline.verdict([advice.revert_diff(content.diff)]).headline},
        "objects": [_object(content, number, change, forecast.outcomes[number]) for number, change, _ in content.objects],
    }
    return report_model.document(fields, content.findings)


def _service(service: Service) -> dict[str, Any]:
    return {"namespace": service.namespace, "graph": service.graph or None, "name": service.name}


def _object(content: DiffReport, number: int, change: ObjectChange, outcome: ObjectForecast) -> dict[str, Any]:
    return {
        "object": change.key._asdict(),
        "effect": outcome.effect,
        "services": [_service(service) for service in outcome.services],
        "restarting": [_service(service) for service in outcome.restarting],
        "causes": [results.field(path) for path in outcome.causes],
        "gpus": gpu_texts.json_fields(outcome.gpus),
        "dropped": outcome.dropped,
        "stuck": outcome.stuck,
        "madeBy": _origins(content, number, None),
        "fields": [_field(content, number, index, field) for index, field in enumerate(change.fields)],
    }


def _field(content: DiffReport, number: int, index: int, field: FieldChange) -> dict[str, Any]:
    return {
        "field": results.field(field.path),
        "path": list(field.path),
        "change": "order" if field.order else "added" if field.old is None else "removed" if field.new is None else "changed",
        "old": field.old,
        "new": field.new,
        "madeBy": _origins(content, number, index),
    }


def _origins(content: DiffReport, number: int, field: int | None) -> list[dict[str, Any]]:
    """Returns the lines that make a change."""
    return [
        {
            "state": origin.state,
            "file": origin.file,
            "line": origin.line or None,
            "field": results.field(origin.path) or None,
            "isConfiguration": origin.is_configuration,
        }
        for origin in content.origins(number, field)
    ]
