"""Rules of an API server about volumes whose files come from several objects, or from fields of the pod."""

from __future__ import annotations

import re

from krm_fn.kubernetes.api_server import Rejection, field_rules
from krm_fn.kubernetes.api_server.by_field import env_source_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server.by_field import Context

    Fields = Mapping[str, Any]


_FIELD = re.compile(r"metadata\.(name|namespace|uid|labels|annotations)")
_SOURCES = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
_SHORTEST_TOKEN, _LONGEST_TOKEN = 600, 2**32  # seconds


def validate(volume: Fields, _context: Context) -> Iterator[Rejection]:
    """Yields the rejections of the sources `projected` and `downwardAPI` of a volume."""
    for rejection in _downward(volume.get("downwardAPI") or {}):
        yield rejection.below("downwardAPI")
    for rejection in _projected(volume.get("projected") or {}):
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
        yield Rejection("DYN224", (), "the file must have exactly one of fieldRef and resourceFieldRef; keep or set one")
    if field is not None:
        version = field.get("apiVersion") or "v1"
        if version != "v1":
            yield Rejection("DYN230", ("fieldRef", "apiVersion"), f"{version!r} is not the version of pods; write v1, or remove it")
        if not _is_field(field.get("fieldPath") or ""):
            message = "a file cannot have this field as its content; write for example metadata.labels or metadata.name"
            yield Rejection("DYN230", ("fieldRef", "fieldPath"), message)
    elif resource is not None:
        yield from _resource(resource)


def _resource(reference: Fields) -> Iterator[Rejection]:
    """Checks a file of a resource (validateContainerResourceFieldSelector)."""
    if not reference.get("containerName"):
        yield Rejection("DYN225", ("resourceFieldRef", "containerName"), "the name of the container is required; write it")
    elif not field_rules.is_resource(reference.get("resource") or ""):
        message = "a file cannot have this resource as its content; write for example limits.cpu or requests.memory"
        yield Rejection("DYN230", ("resourceFieldRef", "resource"), message)
    for rejection in env_source_rules.validate_divisor(reference):
        yield rejection.below("resourceFieldRef")


def _projected(volume: Fields) -> Iterator[Rejection]:
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
                    yield Rejection("DYN237", ("sources", index, kind, "items", position, "path"), message)
                paths.add(path)


def _source(source: Fields) -> Iterator[Rejection]:
    kinds = [kind for kind in _SOURCES if source.get(kind) is not None]
    if len(kinds) > 1:
        yield Rejection("DYN224", (), f"the entry has the sources {' and '.join(kinds)}; write an entry for each of them")
    for kind in ("secret", "configMap"):
        holder = source.get(kind)
        if holder is None:
            continue
        if not holder.get("name"):
            yield Rejection("DYN225", (kind, "name"), "the field is required; set it")
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
        yield Rejection("DYN226", ("expirationSeconds",), message)
    yield from _path(token)


def _path(holder: Fields) -> Iterator[Rejection]:
    path = holder.get("path") or ""
    if not path:
        yield Rejection("DYN225", ("path",), "the path of the file is required; write it")
    elif not field_rules.is_file_path(path):
        yield Rejection("DYN228", ("path",), field_rules.BAD_FILE_PATH)


def _is_field(path: str) -> bool:
    """Returns true for a field of the pod that a file can have as its content (validateObjectFieldSelector)."""
    return bool(_FIELD.fullmatch(path)) or field_rules.is_subscript(path)
