"""Finds configurations of krm-fn in `transformers` that kustomize does not run, because they lack the annotation with the function.

Without it, kustomize looks for a plugin of the kind (`api/internal/plugins/loader`). The kustomize inside kubectl finds one in
`KUSTOMIZE_PLUGIN_HOME`, so a configuration without the annotation is a mistake only beside one that has it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Result
from krm_fn.render import function_config, labels
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, entries

_CODE = codes.FUNCTION_WITHOUT_ANNOTATION
_FIELDS = ("transformers", "generators")


def check(tree: Tree, folder: str, closures: Mapping[str, Closure]) -> Iterator[Result]:
    """Yields a warning for each configuration of a Kustomization without the annotation, or with another name of it."""
    closure = closures[folder]
    for source in _configs(tree, closure):
        annotations = labels.annotations(source.value)
        near = next((key for key in annotations if spelling.nearest(key, [labels.FUNCTION])), "")
        if labels.FUNCTION in annotations:
            continue
        if near:
            message = f"kustomize runs no function, because it does not know the annotation {near}; write {labels.FUNCTION}"
            yield results.warning(_CODE, message, **source.location(("metadata", "annotations", near)))
        elif other := _annotated_beside(tree, folder, closures):
            problem = f"kustomize runs no function, because this file lacks the annotation {labels.FUNCTION}, and {other.file} has it"
            yield results.warning(_CODE, f"{problem}; add the annotation", **source.location(("metadata",)))


def _annotated_beside(tree: Tree, folder: str, closures: Mapping[str, Closure]) -> Source | None:
    """Returns a configuration with the annotation in a Kustomization that shares a file with that of a folder."""
    for other, candidate in closures.items():
        if other != folder and not candidate.files.isdisjoint(closures[folder].files):
            for source in _configs(tree, candidate):
                if labels.FUNCTION in labels.annotations(source.value):
                    return source
    return None


def _configs(tree: Tree, closure: Closure) -> Iterator[Source]:
    """Yields the configurations in files that the layers of a Kustomization list as functions."""
    for folder, kustomization in closure.folders.items():
        listed = (entry for field in _FIELDS for entry in entries(kustomization.value, field) if isinstance(entry, str))
        names = (posixpath.normpath(posixpath.join(folder, entry)) for entry in listed if "\n" not in entry)
        for name in names:
            yield from (
                source for source in (tree.read(name).sources if tree.is_file(name) else ()) if function_config.is_config(source.address)
            )
