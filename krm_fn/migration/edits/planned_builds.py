"""Compares a new build of a root with the resources that a plan has for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, labels, render_mark
from krm_fn.render.manifests import ownership
from krm_fn.repository.files.sources import Sources

REPLACING = "ConfigMap"
"""The kind of objects that hold values for replacements of kustomize."""


def differences(
    before: Sources, after: Sources, planned: Mapping[int, Resource], followed: Mapping[int, str], *, moves_images: bool
) -> Iterator[Result]:
    """Yields the errors about the resources of a root that a new build makes in another way than planned.

    `planned` are the changed resources, and `followed` the releases that graphs follow, both by the ids of the values in `before`. A
    rendered graph names the release that its render followed. `moves_images`: entries of `images` change, which are for all objects with an
    image, so that other objects may change, too.
    """
    new = {identity.key(source.value): source.value for source in after.resources}
    for source in before.resources:
        is_other = not dynamo_api.is_dynamo(source.value) and (moves_images or source.address.kind == REPLACING)
        if is_other or ownership.is_generated(source.value):
            continue
        wanted, built = planned.get(id(source.value), source.value), new.get(identity.key(source.value))
        if built is None:
            message = "the build fails or lacks the resource with the edits of the step, so nothing is written; write the edits by hand"
            yield results.error(codes.EDITS_BUILD_ANOTHER_PLAN, message, source.address, **source.location())
        elif path := _difference(_comparable(wanted), _comparable(built)):
            message = (
                f"with the edits of the step, the build changes {results.field(path)} in another way than planned, so nothing is written; "
                "another graph may share the file, so name all of its folders, or write the edits by hand"
            )
            yield results.error(codes.EDITS_BUILD_ANOTHER_PLAN, message, source.address, path, **source.location(path))
        elif (mark := render_mark.read(f"{labels.annotations(built).get(labels.RENDERED_BY, '')}")) and (
            mark.behaviour != followed.get(id(source.value), mark.behaviour)
        ):
            message = (
                f"with the edits of the step, the build still follows {mark.behaviour}, so nothing is written; write behaviour: "
                f"{followed[id(source.value)]} into its configuration"
            )
            yield results.error(codes.EDITS_BUILD_ANOTHER_PLAN, message, source.address, ("spec",), **source.location(("spec",)))


def _comparable(resource: Resource) -> Resource:
    """Returns a resource without the annotations that a render writes."""
    annotations = {key: text for key, text in labels.annotations(resource).items() if not key.startswith(labels.PREFIX)}
    return {**resource, "metadata": {**resource["metadata"], "annotations": annotations}}


def _difference(wanted: Any, built: Any) -> results.Path | None:
    """Returns the path of the first field that differs; None for equal values."""
    if wanted == built:
        return None
    if isinstance(wanted, dict) and isinstance(built, dict):
        key = next(key for key in {**wanted, **built} if wanted.get(key) != built.get(key) or (key in wanted) != (key in built))
        return (key, *(_difference(wanted[key], built[key]) or ())) if key in wanted and key in built else (key,)
    if isinstance(wanted, list) and isinstance(built, list) and len(wanted) == len(built):
        number = next(number for number, (one, other) in enumerate(zip(wanted, built, strict=True)) if one != other)
        return (number, *(_difference(wanted[number], built[number]) or ()))
    return ()
