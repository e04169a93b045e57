"""Recognises settings that the operator is still rolling out: one graph then runs pods with the value and pods without it.

An operator that has just started knows its pull secrets after some seconds only. Until then, it writes pod templates without them.
Also reports resources that an operator or a controller has not rolled out: an export of that moment has pods of two states.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.migration.adopt.exported_objects import ExportedObjects, templates_of
from krm_fn.migration.adopt.verification import ComparedField, TemplateDifference
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import workloads
from krm_fn.review.pods import Template

_WAIT = "wait until it is done, and export again"
_PULL_SECRETS = "imagePullSecrets"
_VARIABLES = {
    "NATS_SERVER": "natsAddress",
    "ETCD_ENDPOINTS": "etcdAddress",
    "MODEL_EXPRESS_URL": "modelExpressURL",
    "PROMETHEUS_ENDPOINT": "prometheusEndpoint",
    "DYN_DISCOVERY_BACKEND": "discoveryBackend",
}


def setting(field: ComparedField) -> str:
    """Returns the setting of the operator that a field comes from; empty for any other field."""
    by_variable = (key for name, key in _VARIABLES.items() if f"env[{name}]" in field.path)
    return next(by_variable, _PULL_SECRETS if _PULL_SECRETS in field.path else "")


def in_progress(difference: TemplateDifference, exported: ExportedObjects) -> list[ComparedField]:
    """Returns the fields of settings whose rendered value other live pods of the same graph have."""
    fields = [field for field in difference.fields if field.rendered and setting(field)]
    graph = difference.live.labels.get(labels.GRAPH) if fields and difference.live else None
    if not graph:
        return []
    templates = templates_of(exported.live, exported.namespace).values()
    values = {value for template in templates if template.labels.get(labels.GRAPH) == graph for value in _values(template)}
    return [field for field in fields if _rendered_values(field) <= values]


def _values(template: Template) -> Iterator[tuple[str, str]]:
    """The settings of a pod template with their values."""
    for reference in objects(template.spec.get(_PULL_SECRETS)):
        yield _PULL_SECRETS, name_of(reference)
    for container in objects(template.spec.get("containers")):
        for variable in objects(container.get("env")):
            if name_of(variable) in _VARIABLES:
                yield _VARIABLES[name_of(variable)], text(variable.get("value"))


def _rendered_values(field: ComparedField) -> set[tuple[str, str]]:
    """The setting of a field with its rendered values."""
    value = json.loads(field.rendered)
    entries = value if isinstance(value, list) else [value]
    key = "name" if setting(field) == _PULL_SECRETS else "value"
    return {(setting(field), text(entry.get(key)) if isinstance(entry, dict) else str(entry)) for entry in entries}


def warn_of_unsettled(live: Iterable[Resource]) -> Iterator[Result]:
    """Warns of each workload whose status shows an update that has not ended. A workload without a status is skipped."""
    for workload in filter(workloads.is_workload, live):
        if problem := _problem(workload):
            yield results.warning(codes.WORKLOAD_BEING_UPDATED, f"{problem}; {_WAIT}", results.ref(workload))


def warn_of_unobserved(resources: Iterable[Resource]) -> Iterator[tuple[Resource, Result]]:
    """Yields each Dynamo resource whose last change the operator has not acted on, with a warning that says so.

    Sources: `metadata.generation`, which an API server raises with each change of a spec, and `status.observedGeneration`.
    """
    for resource in filter(dynamo_api.is_dynamo, resources):
        generation = _number(mapping(resource.get("metadata")).get("generation"))
        observed = _number(mapping(resource.get("status")).get("observedGeneration"))
        if generation is not None and observed is not None and observed < generation:
            message = f"the operator has acted on generation {observed} of this resource, and its spec is of generation {generation}"
            fix = "wait until status.observedGeneration is that of metadata, and export again"
            yield resource, results.warning(codes.OPERATOR_HAS_NOT_ACTED, f"{message}; {fix}", results.ref(resource))


def _problem(workload: Resource) -> str:
    """The part of an update that is missing; empty if the workload is settled, or if nothing says that it is not."""
    status, spec = mapping(workload.get("status")), mapping(workload.get("spec"))
    generation, observed = _number(workload["metadata"].get("generation")), _number(status.get("observedGeneration"))
    if generation is not None and observed is not None and observed < generation:
        return "the controller of this workload has not rolled out its last change"
    progress = mapping(status.get("updateProgress"))
    if progress and not progress.get("updateEndedAt"):
        return "Grove is updating the pods of this set"
    if observed is None or ("template" in spec and "cliques" in mapping(spec["template"])):
        return ""
    desired = _number(spec.get("replicas", 1))
    updated, current = _number(status.get("updatedReplicas", 0)), _number(status.get("replicas", 0))
    if desired is None or updated is None or current is None or desired == updated == current:
        return ""
    return f"{desired} replicas are desired, {current} exist, and {updated} of them are of the last change"


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
