"""Rules of an API server about PersistentVolumeClaims.

Follows ValidatePersistentVolumeClaimSpec of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import label_selectors, object_meta, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.rejections import Rejection
    from krm_fn.kubernetes.types import Resource

    Fields = Mapping[str, Any]

_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_CLAIM = "PersistentVolumeClaim"
_COPIED = ((_CLAIM, ""), ("VolumeSnapshot", "snapshot.storage.k8s.io"))
"""The kinds and groups that `dataSource` may name. The server drops all others (EnforceDataSourceBackwardsCompatibility)."""


def validate(claim: Resource) -> Iterator[Rejection]:
    """Yields the rejections of a PersistentVolumeClaim (ValidatePersistentVolumeClaim)."""
    for rejection in validate_spec(claim.get("spec") or {}):
        yield rejection.below("spec")


def validate_spec(spec: Fields, *, drops: bool = True) -> Iterator[Rejection]:
    """Yields the rejections of the spec of a claim, or of a template of claims. Paths begin at the spec.

    With `drops`, the server drops some data sources before it checks them. It does not in templates.
    """
    yield from _access_modes(spec.get("accessModes") or ())
    for rejection in label_selectors.validate(spec.get("selector")):
        yield rejection.below("selector")
    requests = (spec.get("resources") or {}).get("requests") or {}
    path = ("resources", "requests", "storage")
    if "storage" not in requests:
        yield rejections.required_field(path, "the size of the storage")
    elif quantity.value(requests["storage"]) <= 0:
        yield rejections.out_of_range(requests["storage"], path, 1)
    for field in ("storageClassName", "volumeAttributesClassName"):
        name = spec.get(field)
        if name and not object_meta.is_subdomain(name):
            yield rejections.bad_name(name, (field,))
    if spec.get("volumeMode") == "":
        yield rejections.unknown("", ("Filesystem", "Block"), ("volumeMode",))
    yield from _sources(spec, drops=drops)


def _access_modes(modes: tuple[str, ...] | list[str]) -> Iterator[Rejection]:
    if not modes:
        yield rejections.required_field(("accessModes",), "an access mode")
    for index, mode in enumerate(modes):
        if mode not in _MODES:
            yield rejections.unknown(mode, _MODES, ("accessModes", index))
    if "ReadWriteOncePod" in modes and len({*modes}) > 1:
        yield rejections.conflict(("accessModes",), "ReadWriteOncePod excludes other access modes", "keep one of them")


def _sources(spec: Fields, *, drops: bool) -> Iterator[Rejection]:
    """Checks the data with which a volume begins (validateDataSource, validateDataSourceRef).

    A reference into another namespace needs a feature gate that is off by default; without it the server drops the reference.
    """
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if drops and reference is not None and reference.get("namespace"):
        reference = None
    if drops and source is not None and reference is None and (source.get("kind"), source.get("apiGroup") or "") not in _COPIED:
        source = None
    for field, named in (("dataSource", source), ("dataSourceRef", reference)):
        if named is not None:
            for rejection in _source(named):
                yield rejection.below(field)
    if source is not None and reference is not None and _address(source) != _address(reference):
        yield rejections.conflict(("dataSource",), "the source differs from dataSourceRef", "remove dataSource")


def _address(source: Fields) -> tuple[Any, ...]:
    return tuple(source.get(field) for field in ("apiGroup", "kind", "name"))


def _source(source: Fields) -> Iterator[Rejection]:
    group = source.get("apiGroup") or ""
    for field in ("name", "kind"):
        if not source.get(field):
            yield rejections.required_field((field,), f"the {field} of the source")
    if not group and source.get("kind") != _CLAIM:
        yield rejections.unknown(source.get("kind"), (_CLAIM,), ("kind",))
    elif group and not object_meta.is_subdomain(group):
        yield rejections.bad_name(group, ("apiGroup",))
