"""Keeps `${NAME}` in generated objects from Flux, which replaces it in all objects of a Kustomization with `postBuild`.

Flux leaves an object alone that has the annotation or the label `kustomize.toolkit.fluxcd.io/substitute: disabled`:
https://fluxcd.io/flux/components/kustomize/kustomizations/#post-build-variable-substitution
"""

from __future__ import annotations

from krm_fn.render import labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from krm_fn.kubernetes.types import Resource

_START = "${"


def keep(objects: Iterable[Resource]) -> list[Resource]:
    """Returns the objects of a Dynamo resource in which Flux replaces no variable. Objects with a variable get the annotation."""
    return [_annotate(entry) if has_variable(entry) else entry for entry in objects]


def has_variable(value: Any) -> bool:
    """True if a text in a value, or a key, has the start of a variable."""
    if isinstance(value, dict):
        return any(has_variable(key) or has_variable(inner) for key, inner in value.items())
    if isinstance(value, list):
        return any(has_variable(inner) for inner in value)
    return isinstance(value, str) and _START in value


def _annotate(resource: Resource) -> Resource:
    """Returns an object with the annotation that stops the substitution of variables by Flux.

    Rule metadata.keep-variables: A graph with the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled` passes it on to objects
    with a variable. (krm-fn)
    """
    metadata = resource["metadata"]
    annotations = {**(metadata.get("annotations") or {}), labels.FLUX_SUBSTITUTE: "disabled"}
    return {**resource, "metadata": {**metadata, "annotations": annotations}}
