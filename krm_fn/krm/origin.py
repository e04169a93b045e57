"""Which file a resource comes from, as far as its orchestrator tells.

Not its business: where in the file a field stands (see `krm_fn.yamlio.positions`).
kpt notes path and index of every item; kustomize notes the file where the user asks for it with `buildMetadata: [originAnnotations]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kube import labels
from krm_fn.yamlio import reader

if TYPE_CHECKING:
    from krm_fn.kube.types import Resource

_INTERNAL = "internal.config.kubernetes.io/"


def file(resource: Resource) -> tuple[str, int]:
    """The path of a resource's file and its number among the documents there, from 0; an empty path where nobody told.

    Under kpt the path starts at the package, under kustomize at the root of the build.
    """
    notes = labels.notes(resource)
    path = notes.get(labels.PATH) or notes.get(labels.LEGACY_PATH)
    if isinstance(path, str):
        index = notes.get(labels.INDEX) or notes.get(labels.LEGACY_INDEX)
        return path, int(index) if isinstance(index, str) and index.isdecimal() and len(index) < 10 else 0
    return _origin(notes.get(labels.ORIGIN)), 0


def place(resource: Resource, line: int) -> dict[str, Any]:
    """What a finding can say about where a resource stands: its file, or else `line`, its line in the text that came in.

    Lines of that text mean something to the user only where no orchestrator wrote it.
    """
    path, number = file(resource)
    if path:
        return {"file": path, "document": number}
    return {"line": line} if by_hand(resource) else {}


def by_hand(resource: Resource) -> bool:
    """Whether no orchestrator has had its hands on a resource."""
    return not any(key.startswith(_INTERNAL) for key in labels.notes(resource))


def under_kpt(resources: list[Any]) -> bool:
    """Whether kpt runs the function; it alone tells how lists are indented and which package a resource is from."""
    return any(
        labels.SEQINDENT in (notes := labels.notes(resource)) or labels.PACKAGE_PATH in notes
        for resource in resources
        if isinstance(resource, dict)
    )


def _origin(note: Any) -> str:
    """The path in kustomize's note, which is YAML; generated resources have `configuredIn` instead."""
    documents, _ = reader.read(note) if isinstance(note, str) else ([], [])
    value = documents[0].value if documents else None
    if not isinstance(value, dict):
        return ""
    path, repo, ref = value.get("path") or value.get("configuredIn"), value.get("repo"), value.get("ref")
    if not isinstance(path, str) or not repo:
        return path if isinstance(path, str) else ""
    return f"{repo}//{path}" + (f"?ref={ref}" if ref else "")  # as kustomize itself names what it fetches
