"""Finds the field of a patch, or of a Kustomization, that wrote a field of a built resource."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from krm_fn.base import json_pointer
from krm_fn.base.results import Path
from krm_fn.kubernetes import paths

_TAGS = (("newTag", ":"), ("digest", "@"))
_WRITING = ("add", "replace")
TRANSFORMERS = ("images", "namespace", "labels", "commonLabels", "commonAnnotations")
"""The fields of a Kustomization that write fields of resources: those of which `find` knows the place of a value."""


def find(patch: Any, built: Any, path: Path) -> Path | None:
    """Returns the path in a patch of the field that has the value of a field of a built resource; None if the patch did not write it.

    A patch is a part of a resource, a list of operations (RFC 6902), or a Kustomization, which writes images and metadata.
    """
    value = paths.at(built, path)
    if value is None:
        return None
    if isinstance(patch, list):
        moved = [*_operations(patch, path, value, built)]
        return next(_operations(patch, path, value), None) or (moved[0] if len(moved) == 1 else None)
    if isinstance(patch, dict) and not patch.keys().isdisjoint(TRANSFORMERS):
        return next(_transformers(patch, path, value), None)
    written = paths.by_names(path, built, patch)
    return written if paths.at(patch, written) == value else None


def _transformers(kustomization: dict[str, Any], path: Path, value: Any) -> Iterator[Path]:
    """Yields the fields of a Kustomization that gave a field of a resource its value."""
    if path == ("metadata", "namespace"):
        candidates: list[Path] = [("namespace",)]
    elif path[:2] == ("metadata", "labels"):
        entries = kustomization.get("labels")
        numbers = range(len(entries)) if isinstance(entries, list) else ()
        candidates = [("commonLabels", *path[2:]), *(("labels", number, "pairs", *path[2:]) for number in numbers)]
    elif path[:2] == ("metadata", "annotations"):
        candidates = [("commonAnnotations", *path[2:])]
    else:
        candidates = []
    yield from (candidate for candidate in candidates if paths.at(kustomization, candidate) == value)
    yield from images(kustomization, value)


def images(kustomization: dict[str, Any], value: Any) -> Iterator[Path]:
    """Yields the entries of `images` of a Kustomization that gave an image its tag or digest."""
    listed = kustomization.get("images")
    for index, image in enumerate(listed if isinstance(listed, list) and isinstance(value, str) else ()):
        for field, mark in _TAGS if isinstance(image, dict) else ():
            if image.get(field) and value == f"{image.get('newName') or image.get('name')}{mark}{image[field]}":
                yield "images", index, field


def _operations(operations: list[Any], path: Path, value: Any, built: Any = None) -> Iterator[Path]:
    """Yields the operations that wrote a field, from the last one.

    With `built`, the entries of lists with names may have other numbers: kustomize moves entries that a later patch changes to the front.
    """
    named = {
        number for number, step in enumerate(path) if isinstance(step, int) and built and paths.at(built, (*path[: number + 1], "name"))
    }
    for index in reversed(range(len(operations))):
        operation = operations[index] if isinstance(operations[index], dict) else {}
        steps = json_pointer.steps(str(operation.get("path", "")))
        pairs = enumerate(zip(steps, path, strict=False))
        is_prefix = len(steps) <= len(path) and all(number in named or _is_step(*pair) for number, pair in pairs)
        if operation.get("op") in _WRITING and steps and is_prefix and paths.at(operation.get("value"), path[len(steps) :]) == value:
            yield index, "value", *path[len(steps) :]


def _is_step(name: str, step: str | int) -> bool:
    """True if a step of a JSON pointer is a step of a path. `-` is the end of a list."""
    return name == str(step) or (name == "-" and isinstance(step, int))
