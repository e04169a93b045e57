"""All other kinds: fields that an API server never lets change, and ConfigMaps and Secrets, whose change restarts no pod.

Follows Kubernetes' validation of updates: `pkg/apis/rbac`, `pkg/apis/core`, `pkg/apis/batch`, `pkg/apis/storage`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn import results
from krm_fn.kube import quantity
from krm_fn.review.forecast import kind_rules
from krm_fn.review.forecast.kind_rules import KindForecast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krm_fn.kube.types import Resource
    from krm_fn.provenance.object_changes import ObjectChange
    from krm_fn.results import Path, Result
    from krm_fn.review.forecast.kind_rules import ClusterState

_RBAC = "rbac.authorization.k8s.io"
_CLAIM = ("", "PersistentVolumeClaim")
_DATA = (("", "ConfigMap"), ("", "Secret"))
_FIXED: dict[tuple[str, str], tuple[Path, ...]] = {
    (_RBAC, "RoleBinding"): (("roleRef",),),
    (_RBAC, "ClusterRoleBinding"): (("roleRef",),),
    ("batch", "Job"): (("spec", "template"), ("spec", "selector"), ("spec", "completionMode")),
    ("", "Secret"): (("type",),),
    _CLAIM: tuple(("spec", name) for name in ("accessModes", "storageClassName", "volumeMode", "selector", "volumeName", "dataSource")),
}
"""The fields that cannot change, by group and kind."""

_DEFAULTS: dict[Path, Any] = {("spec", "volumeMode"): "Filesystem", ("type",): "Opaque"}
_STORAGE: Path = ("spec", "resources", "requests", "storage")


def forecast(change: ObjectChange, world: ClusterState) -> KindForecast:
    """An object without pods of its own."""
    both = kind_rules.differing(change)
    if both is None:
        return KindForecast(kind_rules.simple(change))
    kind = (change.key.group, change.key.kind)
    refused = tuple(_refused(kind, *both))
    if refused:
        return KindForecast("refused", causes=refused)
    return KindForecast("updated", findings=tuple(_data(change, world)) if kind in _DATA else ())


def _refused(kind: tuple[str, str], old: Resource, new: Resource) -> Iterator[Path]:
    for path in _FIXED.get(kind, ()):
        if _at(old, path) != _at(new, path):
            yield path
    if kind == _CLAIM and quantity.value(f"{_at(new, _STORAGE)}") < quantity.value(f"{_at(old, _STORAGE)}"):
        yield _STORAGE
    if kind in _DATA and old.get("immutable"):
        yield from ((name,) for name in ("data", "binaryData", "immutable") if (old.get(name) or None) != (new.get(name) or None))


def _at(resource: Resource, path: Path) -> Any:
    """The value at a path, with its default; None if there is none."""
    value: Any = resource
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value or _DEFAULTS.get(path)


def _data(change: ObjectChange, world: ClusterState) -> Iterator[Result]:
    """Names the services whose pods read a ConfigMap or Secret that changed."""
    readers = world.readers.get(change.key, ())
    if readers:
        names = ", ".join(service.name for service in readers)
        message = f"the pods of {names} read the new values when they start again, because a change of a {change.key.kind} restarts no pod"
        yield results.warning("DYN536", f"{message}; restart them if they need the values at once", results.ref(change.new or {}))
