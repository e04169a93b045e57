"""Changes of the resources that an adoption writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels

if TYPE_CHECKING:
    from krm_fn.kube.types import Labels, Resource


def annotated(resource: Resource, annotations: Labels) -> Resource:
    """The resource with further annotations."""
    metadata = resource["metadata"]
    return {**resource, "metadata": {**metadata, "annotations": {**labels.notes(resource), **annotations}}}


def without_empty_lists(value: Any) -> Any:
    """The value without fields that hold an empty list. An operator's client leaves them out, and Grove counts one as a change of pods."""
    if isinstance(value, dict):
        return {key: without_empty_lists(inner) for key, inner in value.items() if inner != []}
    return [without_empty_lists(each) for each in value] if isinstance(value, list) else value
