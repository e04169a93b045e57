"""Removes from an exported object the fields that a cluster added: those of the API server, of controllers and of tools.

The remaining object can be compared with a rendered one, or committed as a file.
"""

from __future__ import annotations

from typing import Any

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes import identity, quantity, stored_templates
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import is_zero, mapping
from krm_fn.render import labels
from krm_fn.review.live import field_ownership, server_defaults
from krm_fn.review.live.field_ownership import Tree

_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")
_STATUSES = (labels.PRESERVED_GRAPH_STATUS, labels.PRESERVED_COMPONENT_STATUS, labels.PRESERVED_REQUEST_STATUS)
_BOOKKEEPING = (identity.LAST_APPLIED, labels.LAST_APPLIED_HASH, labels.LAST_APPLIED_GENERATION, "deployment.kubernetes.io/revision")
_TOOLS = ("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "meta.helm.sh/")
_TOOL_LABELS = ("kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "argocd.argoproj.io/instance", "helm.sh/chart")
_MANAGERS = ("Helm", labels.MANAGER)
_WRITTEN_BY_USERS = (labels.IGNORE,)
_FINALIZERS = ("nvidia.com/finalizer", "foregroundDeletion", "orphan")
_MAPS = ("labels", "annotations", "data", "binaryData", "matchLabels", "nodeSelector", "limits", "requests")
"""Objects whose keys are names, not fields: nothing fills in further ones."""

_AMOUNTS = ("limits", "requests", "hard", "default", "defaultRequest", "min", "max", "capacity")
"""Objects whose values are quantities, such as 1024Mi, which an API server writes in its own way: 1Gi."""
_OBJECT_MAPS: tuple[Path, ...] = (("metadata", "labels"), ("metadata", "annotations"))
"""Maps of an object itself, into which tools and people write. They change no pod."""

_KEYS = ("name", "mountPath", "containerPort", "port", "key")
"""The fields that identify the entries of a list, if all entries have one."""


class _ServerField(NamedTuple):
    """A value of both states. `was` and `now` are their stored forms, and `owned` is the part of the live value that the file decides."""

    live: Any
    wanted: Any
    was: Any
    now: Any
    owned: Tree

    def field(self, name: str) -> _ServerField:
        """The pair of a field; None stands for a missing field."""
        live, wanted, was, now = (mapping(side).get(name) for side in self[:4])
        return _ServerField(live, wanted, was, now, field_ownership.field(self.owned, name))

    def entry(self, old: int, new: int | None) -> _ServerField:
        """The pair of an entry of a list. The stored form of a list has the same entries."""
        live, was = (_at(side, old) for side in (self.live, self.was))
        wanted, now = (_at(side, new) for side in (self.wanted, self.now))
        return _ServerField(live, wanted, was, now, field_ownership.entry(self.owned, live))


def as_written(resource: Resource) -> Resource:
    """Returns a Dynamo resource as its author wrote it, without the annotations of an earlier render.

    Of the metadata, name, namespace, labels, annotations and finalizers stay, except those that a controller or a GitOps tool wrote. The
    annotations of a newer operator about hashes, versions and fields of other API versions stay: they decide about names and pods.
    """
    cleaned = native(resource)
    metadata = cleaned["metadata"]
    fields = {
        "labels": {key: value for key, value in labels.of(cleaned).items() if key != labels.MANAGED_BY or value not in _MANAGERS},
        "annotations": {key: value for key, value in labels.annotations(cleaned).items() if not _is_of_a_render(key)},
        "finalizers": [entry for entry in metadata.get("finalizers", ()) if entry not in _FINALIZERS],
    }
    return {**cleaned, "metadata": _present({**metadata, **fields})}


def native(resource: Resource) -> Resource:
    """Returns an object without its status, the metadata of the API server, and the marks by which tools and controllers know objects.

    The marks of an earlier render stay: a render writes them too. Owners are left out: an owner decides what is deleted, not what runs.
    """
    metadata = resource["metadata"]
    fields = {
        "labels": {key: value for key, value in labels.of(resource).items() if not key.startswith(_TOOL_LABELS)},
        "annotations": {key: value for key, value in labels.annotations(resource).items() if not _is_bookkeeping(key)},
        "finalizers": [entry for entry in _items(metadata.get("finalizers")) if isinstance(entry, str)],
    }
    body = {key: value for key, value in resource.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "metadata": _present({**metadata, **fields}), **body}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _present(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata that an author writes, in this order, without empty parts."""
    return {key: metadata[key] for key in _METADATA if metadata.get(key)}


def _is_bookkeeping(key: str) -> bool:
    """True for an annotation by which a controller, kubectl or a GitOps tool knows its objects."""
    return key in (*_STATUSES, *_BOOKKEEPING) or key.startswith(_TOOLS)


def _is_of_a_render(key: str) -> bool:
    return key.startswith(labels.PREFIX) and key not in _WRITTEN_BY_USERS


def comparable(live: Resource, wanted: Resource, managers: frozenset[str] = frozenset()) -> Resource:
    """Returns the live object as its file would be, without the fields that the cluster added.

    A field that only the live object has stays if its file decides it, because the next apply then removes it. The managed fields of the
    object record it, or the annotation of `kubectl apply`. Without both, entries of maps and lists stay, and fields of pods that are no
    defaults; labels and annotations of the object itself do not, because others write them too. Values that are stored as the same value
    are written as in `wanted`. `managers` are the field managers that apply renders.
    """
    cleaned = server_defaults.without(native(live), wanted)
    result = _value(_ServerField(cleaned, wanted, cleaned, wanted, field_ownership.of(live, managers)), (), in_pod=False)
    return {**result, "metadata": {**mapping(result.get("metadata")), "name": live["metadata"]["name"]}}


def _value(pair: _ServerField, at: Path, *, in_pod: bool) -> Any:
    form = None if in_pod else stored_templates.form(at)
    if form:
        was, now = (mapping(form({"spec": entry})).get("spec") for entry in (pair.live, pair.wanted))
        pair, in_pod = pair._replace(was=was, now=now), True
    if (pair.was == pair.now and pair.was is not None) or (at[-2:-1] and at[-2] in _AMOUNTS and _amount(pair.was) == _amount(pair.now)):
        return pair.wanted
    if isinstance(pair.live, dict) and isinstance(pair.wanted, dict):
        return _object(pair, at, in_pod=in_pod)
    if isinstance(pair.live, list) and isinstance(pair.wanted, list):
        return _list(pair, at, in_pod=in_pod)
    return pair.live


def _object(pair: _ServerField, at: Path, *, in_pod: bool) -> dict[str, Any]:
    fields = {name: value for name, value in pair.wanted.items() if name not in pair.live and _is_dropped(pair.field(name), in_pod=in_pod)}
    for name in pair.live:
        inner = pair.field(name)
        if name in pair.wanted:
            fields[name] = _value(inner, (*at, name), in_pod=in_pod)
        elif (rest := _remove_fields(inner, is_field=not at or at[-1] not in _MAPS or at in _OBJECT_MAPS, in_pod=in_pod)) is not None:
            fields[name] = rest
    return fields


def _list(pair: _ServerField, at: Path, *, in_pod: bool) -> list[Any]:
    """A list. The entries of a list without keys belong together; its fields are compared if the number of entries is the same."""
    before, after = _by_key(pair.live), _by_key(pair.wanted)
    if before is None or after is None:
        if len(pair.live) != len(pair.wanted):
            return list(pair.live)
        return [_value(pair.entry(index, index), (*at, index), in_pod=in_pod) for index in range(len(pair.live))]
    kept_entries = []
    for key, old in before.items():
        inner = pair.entry(old, after.get(key))
        entry = _value(inner, (*at, old), in_pod=in_pod) if key in after else _remove_fields(inner, is_field=False, in_pod=in_pod)
        if entry is not None:
            kept_entries.append(entry)
    return kept_entries


def _is_dropped(pair: _ServerField, *, in_pod: bool) -> bool:
    """True for a written value that an API server does not store, so that the live object lacks it."""
    return pair.was == pair.now if in_pod else is_zero(pair.wanted)


def _remove_fields(pair: _ServerField, *, is_field: bool, in_pod: bool) -> Any:
    """The remaining part of a value that only the live object has; None if nothing remains."""
    if in_pod and pair.was == pair.now:
        return None
    if pair.owned is None:
        return pair.live if in_pod or not is_field else None
    return field_ownership.part(pair.owned, pair.live)


def _amount(value: Any) -> Any:
    return quantity.canonical(f"{value}")


def _at(entries: Any, index: int | None) -> Any:
    return entries[index] if isinstance(entries, list) and index is not None and index < len(entries) else None


def _by_key(entries: list[Any]) -> dict[Any, int] | None:
    """The index of each entry by its key; None if the entries have no keys of their own."""
    for key in _KEYS:
        indexes = {
            entry[key]: index for index, entry in enumerate(entries) if isinstance(entry, dict) and isinstance(entry.get(key), str | int)
        }
        if len(indexes) == len(entries):
            return indexes
    return None
