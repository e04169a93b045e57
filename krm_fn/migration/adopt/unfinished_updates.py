"""Recognises settings that the operator is still rolling out: one graph then runs pods with the value and pods without it.

An operator that has just started knows its pull secrets after some seconds only. Until then, it writes pod templates without them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from krm_fn.kubernetes.values import name_of, objects, text
from krm_fn.migration.adopt.exported_objects import ExportedObjects, templates_of
from krm_fn.migration.adopt.verification import ComparedField, TemplateDifference
from krm_fn.render import labels
from krm_fn.review.pods import Template

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
    return [field for field in fields if _rendered(field) <= values]


def _values(template: Template) -> Iterator[tuple[str, str]]:
    """The settings of a pod template with their values."""
    for reference in objects(template.spec.get(_PULL_SECRETS)):
        yield _PULL_SECRETS, name_of(reference)
    for container in objects(template.spec.get("containers")):
        for variable in objects(container.get("env")):
            if name_of(variable) in _VARIABLES:
                yield _VARIABLES[name_of(variable)], text(variable.get("value"))


def _rendered(field: ComparedField) -> set[tuple[str, str]]:
    """The setting of a field with its rendered values."""
    value = json.loads(field.rendered)
    entries = value if isinstance(value, list) else [value]
    key = "name" if setting(field) == _PULL_SECRETS else "value"
    return {(setting(field), text(entry.get(key)) if isinstance(entry, dict) else str(entry)) for entry in entries}
