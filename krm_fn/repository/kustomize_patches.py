"""The patches of a build: the documents in files and in Kustomizations, with their targets."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from krm_fn.base.results import Path
from krm_fn.repository import kustomizations
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, entries, text_of

_FIELDS = ("patches", "patchesJson6902", "patchesStrategicMerge")


class Patch(NamedTuple):
    """A document of a patch, the target that its Kustomization names, empty without one, and the folder of the Kustomization."""

    source: Source
    target: dict[str, Any]
    folder: str


def of_closure(tree: Tree, closure: Closure) -> Iterator[Patch]:
    """Yields the documents of all patches, in files and in Kustomizations."""
    for folder, kustomization in closure.folders.items():
        for field_name in _FIELDS:
            for number, entry in enumerate(entries(kustomization.value, field_name)):
                target = entry.get("target") if isinstance(entry, dict) else None
                for source in _documents(tree, folder, kustomization, (field_name, number), entry):
                    yield Patch(source, target if isinstance(target, dict) else {}, folder)


def _documents(tree: Tree, folder: str, kustomization: Source, path: Path, entry: Any) -> Iterator[Source]:
    """Yields the documents of one entry with a patch: those of its file, or those in its text, each at its lines there."""
    if inline := kustomizations.inline_patch(entry):
        yield from kustomizations.inline_documents(kustomization, path if isinstance(entry, str) else (*path, "patch"), inline)
    else:
        name = posixpath.normpath(posixpath.join(folder, entry if isinstance(entry, str) else text_of(entry, "path")))
        yield from tree.read(name).sources if tree.is_file(name) else ()


def select(target: dict[str, Any], bases: Iterable[Source]) -> list[Source]:
    """Returns the resources with the kind of a target, and of these the ones with its name, if there are any."""
    kind, name = text_of(target, "kind"), text_of(target, "name")
    alike = [base for base in bases if kind in ("", base.address.kind)]
    return [base for base in alike if name in ("", base.address.name)] or alike
