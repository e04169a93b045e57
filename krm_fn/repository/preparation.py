"""Prepares a private copy for a build that runs no program of the repository.

kustomize builds without `--enable-exec`, and with a plugin folder that holds krm-fn alone. So a function with krm-fn loses the annotation
that names its program or image: kustomize then finds krm-fn by the kind of the function, and can run nothing else, whatever a patch or a
generator writes. The output is the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from krm_fn.base.yaml import emitter, reader
from krm_fn.render import labels
from krm_fn.repository import kustomizations
from krm_fn.repository.files import reading, writing
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, entries


@contextlib.contextmanager
def prepare_root(tree: Tree, folder: str, closure: Closure, settings: dict[str, Any]) -> Iterator[None]:
    """Changes the files of one root in the copy, and restores its Kustomization at the end, because other roots may include it."""
    for name in sorted(closure.files):
        _rewrite(tree.path(name), tree.read(name).text, tree.read(name).sources)
    originals = {path: path.read_bytes() for path in (tree.path(tree.kustomization_file(at)) for at in closure.folders)}
    try:
        for at, source in closure.folders.items():
            value = _without_inline_functions(source.value)
            if at == folder:
                value = kustomizations.with_origins(kustomizations.overlay(value, settings))
            write(tree.path(tree.kustomization_file(at)), emitter.text(value))
        yield
    finally:
        for path, data in originals.items():
            write(path, data.decode("utf-8", "surrogateescape"))


def write(path: Path, text: str) -> None:
    """Replaces a file of the copy. A link is replaced, not its target."""
    path.unlink()
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _rewrite(path: Path, text: str, sources: Iterable[Source]) -> None:
    changes = [writing.DocumentChange(source, [without_function(source.value)]) for source in sources if _has_function(source.value)]
    if changes and path.is_file() and reading.read(str(path)).text == text:
        write(path, writing.rewritten(text, changes))


def _has_function(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(labels.annotations(value).get(labels.FUNCTION), str)


def without_function(value: dict[str, Any]) -> dict[str, Any]:
    """Returns a resource without the annotation of a function."""
    metadata = {**value["metadata"], "annotations": {**labels.annotations(value)}}
    del metadata["annotations"][labels.FUNCTION]
    if not metadata["annotations"]:
        del metadata["annotations"]
    return {**value, "metadata": metadata}


def _without_inline_functions(kustomization: dict[str, Any]) -> dict[str, Any]:
    """Returns a Kustomization whose inline functions have no annotation of a function."""
    changed = dict(kustomization)
    for name in ("generators", "transformers", "validators"):
        if name in kustomization:
            changed[name] = [_without_function_text(entry) for entry in entries(kustomization, name)]
    return changed


def _without_function_text(entry: Any) -> Any:
    if not isinstance(entry, str) or "\n" not in entry.strip():
        return entry
    values = [document.value for document in reader.read(entry)[0]]
    return "---\n".join(emitter.text(without_function(value) if _has_function(value) else value) for value in values)
