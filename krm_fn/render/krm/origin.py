"""Finds the file of a resource in the annotations of its orchestrator.

kpt annotates every item with path and index. kustomize annotates the file if `buildMetadata: [originAnnotations]` is set.
"""

from __future__ import annotations

from krm_fn.base.yaml import reader
from krm_fn.render import labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from krm_fn.kubernetes.types import Resource

_INTERNAL = "internal.config.kubernetes.io/"


def file(resource: Resource) -> tuple[str, int]:
    """Returns the path of a resource's file, and the number of its document there, from 0. The path is empty if no annotation names it.

    Under kpt the path starts at the package, under kustomize at the root of the build.
    """
    annotations = labels.annotations(resource)
    path = annotations.get(labels.PATH) or annotations.get(labels.LEGACY_PATH)
    if isinstance(path, str):
        index = annotations.get(labels.INDEX) or annotations.get(labels.LEGACY_INDEX)
        return path, int(index) if isinstance(index, str) and index.isdecimal() and len(index) < 10 else 0
    return _origin(annotations.get(labels.ORIGIN)), 0


def location(resource: Resource, line: int) -> dict[str, Any]:
    """Returns the location of a resource as fields of a Result: its file, or else `line`, its line in the input.

    The line is given only if the user wrote the input, not an orchestrator.
    """
    path, number = file(resource)
    if path:
        return {"file": path, "document": number}
    return {"line": line} if by_hand(resource) else {}


def by_hand(resource: Resource) -> bool:
    """True if the resource carries no annotation of an orchestrator."""
    return not any(key.startswith(_INTERNAL) for key in labels.annotations(resource))


def under_kpt(resources: list[Any]) -> bool:
    """True if kpt runs the function: only kpt annotates the indentation of lists and the package of a resource."""
    return any(
        labels.SEQINDENT in (annotations := labels.annotations(resource)) or labels.PACKAGE_PATH in annotations
        for resource in resources
        if isinstance(resource, dict)
    )


def _origin(annotation: Any) -> str:
    """Returns the path in kustomize's annotation, which is YAML. Generated resources have `configuredIn` instead."""
    documents, _ = reader.read(annotation) if isinstance(annotation, str) else ([], [])
    value = documents[0].value if documents else None
    if not isinstance(value, dict):
        return ""
    path, repo, ref = value.get("path") or value.get("configuredIn"), value.get("repo"), value.get("ref")
    if not isinstance(path, str) or not repo:
        return path if isinstance(path, str) else ""
    return f"{repo}//{path}" + (f"?ref={ref}" if ref else "")  # kustomize's own form for a remote file
