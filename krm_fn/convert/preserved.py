"""Fields that one API version does not have, kept in an annotation in the format of the reference (`api/v1alpha1/preservation.go`).

The annotation holds JSON, never YAML: `{"version": 1, "spec": {...}}`, where `spec` has the fields at their places in the other version.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.convert._values import mapping

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_VERSION = 1


def read(resource: Resource, key: str) -> dict[str, Any]:
    """The fields in the annotation `key`; empty if there are none, or if the text is not what the reference writes.

    A text without `spec` is the older form, which holds the fields themselves.
    """
    text = mapping(mapping(resource.get("metadata")).get("annotations")).get(key)
    if not isinstance(text, str):
        return {}
    try:
        held = mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    return mapping(held.get("spec")) if "spec" in held else held


def write(resource: Resource, key: str, fields: dict[str, Any], *, bare: bool = False) -> Resource:
    """Returns the resource with the fields in its annotation `key`. Without fields, the annotation is removed.

    The annotation of a status is `bare`: it holds the fields without version.
    """
    metadata = mapping(resource.get("metadata"))
    annotations = {name: value for name, value in mapping(metadata.get("annotations")).items() if name != key}
    if fields:
        annotations[key] = json.dumps(fields if bare else {"version": _VERSION, "spec": fields}, separators=(",", ":"), ensure_ascii=False)
    elif annotations == mapping(metadata.get("annotations")):
        return resource
    kept = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**resource, "metadata": {**kept, "annotations": annotations} if annotations else kept}
