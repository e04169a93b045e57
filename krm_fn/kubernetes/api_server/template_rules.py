"""Rules of an API server about a whole pod template: its metadata and its pod."""

from __future__ import annotations

from krm_fn.kubernetes.api_server import by_field, name_formats, pod_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from krm_fn.kubernetes.api_server import Rejection


def validate(template: Mapping[str, Any]) -> Iterator[Rejection]:
    """Yields the rejections of a pod template of a workload that keeps its pods running. Paths begin at the template.

    Types, required fields and enum values are checked by `krm_fn.render.schema.schema_check`. Follows ValidatePodTemplateSpec.
    """
    metadata = template.get("metadata") or {}
    spec: Any = template.get("spec") or {}
    for rejection in name_formats.validate_metadata(metadata.get("labels"), metadata.get("annotations")):
        yield rejection.below("metadata")
    for rejection in by_field.validate_annotations(metadata.get("annotations") or {}, by_field.Context(spec)):
        yield rejection.below("metadata", "annotations")
    for rejection in pod_rules.validate(spec):
        yield rejection.below("spec")
