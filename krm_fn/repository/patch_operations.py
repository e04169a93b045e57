"""Finds operations of JSON patches without a value: kustomize writes a null in its place, and says nothing.

`add`, `replace` and `test` need a value (RFC 6902, sections 4.1, 4.3 and 4.6); `gopkg.in/evanphx/json-patch.v4` writes null
in place of a missing one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import codes, json_pointer, results
from krm_fn.base.results import Path, Result
from krm_fn.repository import kustomize_patches
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, text_of

_WITH_VALUE = ("add", "replace", "test")


def check(tree: Tree, closure: Closure) -> Iterator[Result]:
    """Yields a warning for each operation that lacks its value."""
    for patch in kustomize_patches.of_closure(tree, closure):
        for number, operation in _without_value(patch.source):
            name, path = operation["op"], text_of(operation, "path")
            message = f"this operation has no value, so {name} writes null at {path}; add value, or write op: remove"
            yield results.warning(codes.OPERATION_WITHOUT_VALUE, message, **patch.source.location((number, "path")))


def emptied_fields(patches: Iterable[Source]) -> set[tuple[str, ...]]:
    """Returns the paths, as texts, of the fields into which such operations of patches write null."""
    return {tuple(json_pointer.steps(text_of(operation, "path"))) for patch in patches for _, operation in _without_value(patch)}


def is_emptied(path: Path, emptied: set[tuple[str, ...]]) -> bool:
    """True if such an operation wrote the value at a path."""
    return tuple(map(str, path)) in emptied


def _without_value(patch: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, operation in enumerate(patch.value if isinstance(patch.value, list) else ()):
        if text_of(operation, "op") in _WITH_VALUE and text_of(operation, "path") and "value" not in operation:
            yield number, operation
