"""Rules of an API server about the claim that an ephemeral volume makes."""

from __future__ import annotations

from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import Rejection, label_selectors, name_formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]

_ALONE = "ReadWriteOncePod"
_METADATA = {"labels", "annotations"}


def validate(volume: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the source `ephemeral` of a volume (validateEphemeralVolumeSource)."""
    template = (volume["ephemeral"] or {}).get("volumeClaimTemplate")
    if template is None:
        message = "the template of a claim is required; write what to claim, or use emptyDir"
        yield Rejection("DYN225", ("ephemeral", "volumeClaimTemplate"), message)
        return
    for rejection in (*_metadata(template.get("metadata") or {}), *_claim(template.get("spec") or {})):
        yield rejection.below("ephemeral", "volumeClaimTemplate")


def _metadata(metadata: Fields) -> Iterator[Rejection]:
    """Checks the metadata, which has only labels and annotations (ValidateTemplateObjectMeta)."""
    for rejection in name_formats.validate_metadata(metadata.get("labels"), metadata.get("annotations")):
        yield rejection.below("metadata")
    for field, value in metadata.items():
        if field not in _METADATA and value not in (None, "", 0):
            message = f"the claim of an ephemeral volume cannot have {field}; keep only labels and annotations"
            yield Rejection("DYN232", ("metadata", field), message)


def _claim(spec: Fields) -> Iterator[Rejection]:
    """Checks the claim (ValidatePersistentVolumeClaimSpec)."""
    modes = spec.get("accessModes") or ()
    if not modes:
        yield Rejection("DYN225", ("spec", "accessModes"), "an access mode is required; write for example [ReadWriteOnce]")
    if _ALONE in modes and {*modes} != {_ALONE}:
        yield Rejection("DYN232", ("spec", "accessModes"), f"{_ALONE} is not allowed beside other modes; keep one of them")
    for rejection in label_selectors.validate(spec.get("selector")):
        yield rejection.below("spec", "selector")
    yield from _storage(((spec.get("resources") or {}).get("requests") or {}).get("storage"))
    for field in ("storageClassName", "volumeAttributesClassName"):
        name = spec.get(field)
        if name and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is not a valid name of an object; use lower-case letters, digits, dashes and dots"
            yield Rejection("DYN202", ("spec", field), message)
    if spec.get("volumeMode") == "":
        yield Rejection("DYN233", ("spec", "volumeMode"), "volumeMode is empty; write Filesystem or Block, or remove it")
    for rejection in _sources(spec):
        yield rejection.below("spec")


def _storage(amount: Any) -> Iterator[Rejection]:
    path = ("spec", "resources", "requests", "storage")
    if amount is None:
        yield Rejection("DYN225", path, "the size is required; write it, for example 10Gi")
    elif quantity.value(amount) <= 0:
        yield Rejection("DYN226", path, f"the size {amount} is not above zero; write a larger amount")


def _sources(spec: Fields) -> Iterator[Rejection]:
    """Checks the data that the volume begins with (validateDataSource, validateDataSourceRef)."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, holder in (("dataSource", source), ("dataSourceRef", reference)):
        if holder is not None:
            for rejection in _source(holder):
                yield rejection.below(field)
    if source is None or reference is None:
        return
    if reference.get("namespace"):
        yield Rejection("DYN232", ("dataSource",), "dataSource is not allowed beside a dataSourceRef with a namespace; remove it")
    elif [source.get(key) for key in ("apiGroup", "kind", "name")] != [reference.get(key) for key in ("apiGroup", "kind", "name")]:
        yield Rejection("DYN232", ("dataSource",), "dataSource differs from dataSourceRef; remove it")


def _source(holder: Fields) -> Iterator[Rejection]:
    group, namespace = holder.get("apiGroup") or "", holder.get("namespace") or ""
    for field in ("kind", "name"):
        if not holder.get(field):
            yield Rejection("DYN225", (field,), "the field is required; set it")
    if not group and holder.get("kind") not in ("", None, "PersistentVolumeClaim"):
        message = f"{holder['kind']} is not a kind of the core API group that has data; write its apiGroup, or PersistentVolumeClaim"
        yield Rejection("DYN233", ("kind",), message)
    if group and not name_formats.DNS_SUBDOMAIN.fullmatch(group):
        yield Rejection("DYN202", ("apiGroup",), f"{group!r} is not a valid API group; use lower-case letters, digits, dashes and dots")
    if namespace and not name_formats.DNS_LABEL.fullmatch(namespace):
        yield Rejection("DYN202", ("namespace",), f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes")
