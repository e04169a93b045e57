"""Rules of an API server about volumes that Kubernetes makes for a pod: projected and downward API volumes, and ephemeral volumes."""

from __future__ import annotations

import re

from krm_fn.base import codes
from krm_fn.kubernetes import quantity
from krm_fn.kubernetes.api_server import field_rules, label_selectors, name_formats
from krm_fn.kubernetes.api_server.by_field import container_rules
from krm_fn.kubernetes.api_server.rejections import Rejection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_FIELD = re.compile(r"metadata\.(name|namespace|uid|labels|annotations)")
_SOURCES = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 2**32  # seconds


def validate_projected(volume: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the sources `projected` and `downwardAPI` of a volume."""
    for rejection in _downward(volume.get("downwardAPI") or {}):
        yield rejection.below("downwardAPI")
    for rejection in _check_projected(volume.get("projected") or {}):
        yield rejection.below("projected")


def _downward(source: Fields) -> Iterator[Rejection]:
    """Checks files of fields of the pod (validateDownwardAPIVolumeSource)."""
    yield from field_rules.validate_mode(source, "defaultMode")
    for index, item in enumerate(source.get("items") or ()):
        for rejection in _downward_item(item):
            yield rejection.below("items", index)


def _downward_item(item: Fields) -> Iterator[Rejection]:
    """Checks one file (validateDownwardAPIVolumeFile)."""
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    yield from _path(item)
    yield from field_rules.validate_mode(item, "mode")
    if (field is None) == (resource is None):
        yield Rejection(codes.NOT_EXACTLY_ONE_FIELD, (), "the file must have exactly one of fieldRef and resourceFieldRef; keep or set one")
    if field is not None:
        version = field.get("apiVersion") or "v1"
        if version != "v1":
            yield Rejection(
                codes.INVALID_FIELD_REF, ("fieldRef", "apiVersion"), f"{version!r} is not the version of pods; write v1, or remove it"
            )
        if not _is_field(field.get("fieldPath") or ""):
            message = "a file cannot have this field as its content; write for example metadata.labels or metadata.name"
            yield Rejection(codes.INVALID_FIELD_REF, ("fieldRef", "fieldPath"), message)
    elif resource is not None:
        yield from _resource(resource)


def _resource(reference: Fields) -> Iterator[Rejection]:
    """Checks a file of a resource (validateContainerResourceFieldSelector)."""
    if not reference.get("containerName"):
        yield Rejection(
            codes.EMPTY_REQUIRED_FIELD, ("resourceFieldRef", "containerName"), "the name of the container is required; write it"
        )
    elif not field_rules.is_resource(reference.get("resource") or ""):
        message = "a file cannot have this resource as its content; write for example limits.cpu or requests.memory"
        yield Rejection(codes.INVALID_FIELD_REF, ("resourceFieldRef", "resource"), message)
    for rejection in container_rules.validate_divisor(reference):
        yield rejection.below("resourceFieldRef")


def _check_projected(volume: Fields) -> Iterator[Rejection]:
    """Checks all sources together (validateProjectedVolumeSource, validateProjectionSources).

    Feature gates decide about the sources clusterTrustBundle and podCertificate, so they are not checked.
    """
    yield from field_rules.validate_mode(volume, "defaultMode")
    paths: set[Any] = set()
    for index, source in enumerate(volume.get("sources") or ()):
        for rejection in _source(source):
            yield rejection.below("sources", index)
        for kind in ("secret", "configMap", "downwardAPI"):
            for position, item in enumerate((source.get(kind) or {}).get("items") or ()):
                path = item.get("path")
                if path and path in paths:
                    message = f"two files have the path {path}; change one of the paths"
                    yield Rejection(codes.DUPLICATE_ENTRY_IN_POD, ("sources", index, kind, "items", position, "path"), message)
                paths.add(path)


def _source(source: Fields) -> Iterator[Rejection]:
    kinds = [kind for kind in _SOURCES if source.get(kind) is not None]
    if len(kinds) > 1:
        yield Rejection(
            codes.NOT_EXACTLY_ONE_FIELD, (), f"the entry has the sources {' and '.join(kinds)}; write an entry for each of them"
        )
    for kind in ("secret", "configMap"):
        holder = source.get(kind)
        if holder is None:
            continue
        if not holder.get("name"):
            yield Rejection(codes.EMPTY_REQUIRED_FIELD, (kind, "name"), "the field is required; set it")
        for rejection in field_rules.validate_items(holder):
            yield rejection.below(kind)
    for index, item in enumerate((source.get("downwardAPI") or {}).get("items") or ()):
        for rejection in _downward_item(item):
            yield rejection.below("downwardAPI", "items", index)
    if source.get("serviceAccountToken") is not None:
        for rejection in _token(source["serviceAccountToken"]):
            yield rejection.below("serviceAccountToken")


def _token(token: Fields) -> Iterator[Rejection]:
    seconds = token.get("expirationSeconds")
    if seconds is not None and not _SHORTEST_TOKEN <= seconds <= _LONGEST_TOKEN:
        message = f"a token of {seconds} seconds is not allowed; write a number from {_SHORTEST_TOKEN} to {_LONGEST_TOKEN}"
        yield Rejection(codes.NUMBER_NOT_ALLOWED, ("expirationSeconds",), message)
    yield from _path(token)


def _path(holder: Fields) -> Iterator[Rejection]:
    path = holder.get("path") or ""
    if not path:
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("path",), "the path of the file is required; write it")
    elif not field_rules.is_file_path(path):
        yield Rejection(codes.PATH_OUT_OF_VOLUME, ("path",), field_rules.BAD_FILE_PATH)


def _is_field(path: str) -> bool:
    """Returns true for a field of the pod that a file can have as its content (validateObjectFieldSelector)."""
    return bool(_FIELD.fullmatch(path)) or field_rules.is_subscript(path)


_ALONE = "ReadWriteOncePod"
_METADATA = {"labels", "annotations"}


def validate_ephemeral(volume: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the source `ephemeral` of a volume (validateEphemeralVolumeSource)."""
    template = (volume["ephemeral"] or {}).get("volumeClaimTemplate")
    if template is None:
        message = "the template of a claim is required; write what to claim, or use emptyDir"
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, ("ephemeral", "volumeClaimTemplate"), message)
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
            yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("metadata", field), message)


def _claim(spec: Fields) -> Iterator[Rejection]:
    """Checks the claim (ValidatePersistentVolumeClaimSpec)."""
    modes = spec.get("accessModes") or ()
    if not modes:
        yield Rejection(
            codes.EMPTY_REQUIRED_FIELD, ("spec", "accessModes"), "an access mode is required; write for example [ReadWriteOnce]"
        )
    if _ALONE in modes and {*modes} != {_ALONE}:
        yield Rejection(
            codes.FIELDS_NOT_ALLOWED_TOGETHER, ("spec", "accessModes"), f"{_ALONE} is not allowed beside other modes; keep one of them"
        )
    for rejection in label_selectors.validate(spec.get("selector")):
        yield rejection.below("spec", "selector")
    yield from _storage(((spec.get("resources") or {}).get("requests") or {}).get("storage"))
    for field in ("storageClassName", "volumeAttributesClassName"):
        name = spec.get(field)
        if name and not name_formats.DNS_SUBDOMAIN.fullmatch(name):
            message = f"{name!r} is not a valid name of an object; use lower-case letters, digits, dashes and dots"
            yield Rejection(codes.INVALID_NAME_IN_POD, ("spec", field), message)
    if spec.get("volumeMode") == "":
        yield Rejection(codes.VALUE_NOT_ALLOWED, ("spec", "volumeMode"), "volumeMode is empty; write Filesystem or Block, or remove it")
    for rejection in _claim_sources(spec):
        yield rejection.below("spec")


def _storage(amount: Any) -> Iterator[Rejection]:
    path = ("spec", "resources", "requests", "storage")
    if amount is None:
        yield Rejection(codes.EMPTY_REQUIRED_FIELD, path, "the size is required; write it, for example 10Gi")
    elif quantity.value(amount) <= 0:
        yield Rejection(codes.NUMBER_NOT_ALLOWED, path, f"the size {amount} is not above zero; write a larger amount")


def _claim_sources(spec: Fields) -> Iterator[Rejection]:
    """Checks the data that the volume begins with (validateDataSource, validateDataSourceRef)."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for field, holder in (("dataSource", source), ("dataSourceRef", reference)):
        if holder is not None:
            for rejection in _claim_source(holder):
                yield rejection.below(field)
    if source is None or reference is None:
        return
    if reference.get("namespace"):
        yield Rejection(
            codes.FIELDS_NOT_ALLOWED_TOGETHER,
            ("dataSource",),
            "dataSource is not allowed beside a dataSourceRef with a namespace; remove it",
        )
    elif [source.get(key) for key in ("apiGroup", "kind", "name")] != [reference.get(key) for key in ("apiGroup", "kind", "name")]:
        yield Rejection(codes.FIELDS_NOT_ALLOWED_TOGETHER, ("dataSource",), "dataSource differs from dataSourceRef; remove it")


def _claim_source(holder: Fields) -> Iterator[Rejection]:
    group, namespace = holder.get("apiGroup") or "", holder.get("namespace") or ""
    for field in ("kind", "name"):
        if not holder.get(field):
            yield Rejection(codes.EMPTY_REQUIRED_FIELD, (field,), "the field is required; set it")
    if not group and holder.get("kind") not in ("", None, "PersistentVolumeClaim"):
        message = f"{holder['kind']} is not a kind of the core API group that has data; write its apiGroup, or PersistentVolumeClaim"
        yield Rejection(codes.VALUE_NOT_ALLOWED, ("kind",), message)
    if group and not name_formats.DNS_SUBDOMAIN.fullmatch(group):
        yield Rejection(
            codes.INVALID_NAME_IN_POD, ("apiGroup",), f"{group!r} is not a valid API group; use lower-case letters, digits, dashes and dots"
        )
    if namespace and not name_formats.DNS_LABEL.fullmatch(namespace):
        yield Rejection(
            codes.INVALID_NAME_IN_POD, ("namespace",), f"{namespace!r} is not a valid namespace; use lower-case letters, digits and dashes"
        )
