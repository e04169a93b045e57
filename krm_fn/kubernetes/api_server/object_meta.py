"""Rules of an API server about the metadata of an object.

Follows apimachinery `pkg/api/validation/objectmeta.go`, and ValidateObjectMeta of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from krm_fn.kubernetes.api_server import Rejection, name_formats, object_names, rejections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    Fields = Mapping[str, Any]

_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def validate(metadata: Fields, kind: str) -> Iterator[Rejection]:
    """Yields the rejections of the metadata of an object of a kind (ValidateObjectMeta). Paths begin at the metadata."""
    name, (has_form, form) = metadata.get("name") or "", object_names.form(kind)
    if not name:
        yield rejections.required(("name",), "the name")
    elif not has_form(name):
        yield rejections.bad_name(name, ("name",), form)
    yield from name_formats.validate_metadata(metadata.get("labels"), metadata.get("annotations"))
    yield from _owners(metadata.get("ownerReferences") or ())
    yield from _finalizers(metadata.get("finalizers") or ())


def _owners(owners: Sequence[Fields]) -> Iterator[Rejection]:
    """Checks references to owners (ValidateOwnerReferences). The schema requires their fields, but they may be empty."""
    controllers = 0
    for index, owner in enumerate(owners):
        path = ("ownerReferences", index)
        version = owner.get("apiVersion") or ""
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field) or (field == "apiVersion" and version.endswith("/")):
                yield rejections.required((*path, field))
        if (version, owner.get("kind")) == ("v1", "Event"):
            yield Rejection("DYN258", (*path, "kind"), "an Event cannot own an object; remove the owner")
        controllers += owner.get("controller") is True
        if owner.get("controller") is True and controllers > 1:
            yield Rejection("DYN258", (*path, "controller"), "another owner is the controller too; write controller: true for one owner")


def _finalizers(finalizers: Sequence[str]) -> Iterator[Rejection]:
    """Checks finalizers (ValidateFinalizers, validateKubeFinalizerName)."""
    for index, finalizer in enumerate(finalizers):
        if not name_formats.is_qualified(finalizer) or ("/" not in finalizer and finalizer not in _STANDARD_FINALIZERS):
            message = f"{finalizer!r} is not a finalizer; write domain/name, orphan or foregroundDeletion"
            yield Rejection("DYN258", ("finalizers", index), message)
    if {"orphan", "foregroundDeletion"} <= {*finalizers}:
        yield Rejection("DYN258", ("finalizers",), "orphan and foregroundDeletion exclude each other; keep one of them")
