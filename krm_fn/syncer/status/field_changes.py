"""Finds the fields of a workload that somebody changed in the cluster after a render was applied, by the field managers.

The API server records in `metadata.managedFields` who set each field last (Kubernetes API reference, "Server-Side Apply"). A layer around a
render may set other replicas and images, so the values alone do not show a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.kubernetes import identity, values
from krm_fn.kubernetes.types import Resource
from krm_fn.render import labels
from krm_fn.syncer.status import FIELD_MANAGER, live_fields

REPLICAS = "replicas"
_STATUS = "status"
_AUTOSCALERS = ("kube-controller-manager", "keda")
"""The field managers of autoscalers, or their beginning: the controller of HorizontalPodAutoscalers, and KEDA."""
_MARKS = tuple(f"f:{annotation}" for annotation in (labels.OWNER, identity.LAST_APPLIED))
_RUNNING = ("image", "command", "args")
"""The fields of a container that decide which program runs."""
_CONTAINERS = ("f:initContainers", "f:containers")
_NAMED = 'k:{"name":"'


class FieldChange(NamedTuple):
    """A field that a person or a program changed, and its field manager."""

    field: str
    manager: str


def read(resource: Resource, templates: Iterable[tuple[str, ...]]) -> tuple[FieldChange, ...] | None:
    """Returns the replicas and the fields of containers that no applier of the render set last.

    `templates` are the paths of the pod templates. None if the object does not show who set its fields: an export of `kubectl get` leaves
    the managers out. Never raises for what a user wrote.
    """
    entries = [entry for entry in values.objects(values.mapping(resource, "metadata").get("managedFields")) if _sets_spec(entry)]
    appliers = {_manager(entry) for entry in entries if _applies(entry)}
    if not entries:
        return None
    if not appliers:
        return ()
    applied = [entry for entry in entries if _manager(entry) in appliers and not entry.get("subresource")]
    others = [entry for entry in entries if entry not in applied and _manager(entry) != FIELD_MANAGER]
    paths = [*templates]
    rendered = {field for entry in applied for field in _fields(entry, paths)}
    changes = (FieldChange(field, _manager(entry)) for entry in others for field in _fields(entry, paths) if field not in rendered)
    return tuple(dict.fromkeys(changes))


def by_hand(changes: Iterable[FieldChange], field: str) -> FieldChange | None:
    """Finds the change of a field that no autoscaler made."""
    return next((change for change in changes if change.field == field and not change.manager.startswith(_AUTOSCALERS)), None)


def _sets_spec(entry: dict[str, Any]) -> bool:
    return entry.get("subresource") != _STATUS


def _manager(entry: dict[str, Any]) -> str:
    return live_fields.intern_text(entry.get("manager"))


def _applies(entry: dict[str, Any]) -> bool:
    """True if a manager set the mark of a render, or that of `kubectl apply`: such a manager applies files."""
    annotations = values.mapping(entry, "fieldsV1", "f:metadata", "f:annotations")
    return not entry.get("subresource") and any(mark in annotations for mark in _MARKS)


def _fields(entry: dict[str, Any], templates: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yields the names of the fields that an entry sets."""
    spec = values.mapping(entry, "fieldsV1", "f:spec")
    if f"f:{REPLICAS}" in spec:
        yield REPLICAS
    for path in templates:
        pod = values.mapping(spec, *(f"f:{name}" for name in path[1:]), "f:spec")
        for listed in _CONTAINERS:
            for key, container in values.mapping(pod, listed).items():
                if key.startswith(_NAMED) and isinstance(container, dict):
                    name = key.removeprefix(_NAMED).removesuffix('"}')
                    yield from (live_fields.intern_text(f"{field} of container {name}") for field in _RUNNING if f"f:{field}" in container)
