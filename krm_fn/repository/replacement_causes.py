"""Finds the replacement because of which kustomize ends with an error: its source is not in the build, or its target lacks a field.

The texts of the errors are those of `api/filters/replacement` of kustomize 5.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any

from krm_fn.base import spelling
from krm_fn.base.results import Path
from krm_fn.repository import kustomize_patches
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomization_causes import BuildCause
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, entries, text_of

_NO_FIELD = re.compile(r'unable to find field "([^"]+)" in replacement target')
_NOT_SELECTED = re.compile(r"nothing selected by (\w+)\.\S*?/([^\s/]+?)\.(?:\[noNs\]|[\w-]+)(?:[:;\s]|$)")
_STEP = re.compile(r"\[([^\[\]=]+)=([^\[\]]*)\]|((?:\\\.|[^.\[])+)")
_MOST_SHOWN = 6
"""The largest number of entries that a message lists."""


def find(tree: Tree, closure: Closure, messages: str, bases: Iterable[Source]) -> BuildCause | None:
    """Returns the cause of the error in the messages of kustomize; None for another error. `bases` are the resources of the build."""
    if selected := _NOT_SELECTED.search(messages):
        return _of_source(closure, selected[1], selected[2], bases)
    if field := _NO_FIELD.search(messages):
        return _of_target(tree, closure, field[1], bases)
    return None


def _of_source(closure: Closure, kind: str, name: str, bases: Iterable[Source]) -> BuildCause | None:
    """Returns the cause of a replacement whose source is not a resource of the build."""
    for kustomization in closure.folders.values():
        for number, entry in enumerate(entries(kustomization.value, "replacements")):
            if (text_of(entry, "source", "kind"), text_of(entry, "source", "name")) == (kind, name):
                near = spelling.similar_or_only(name, [base.address.name for base in bases if base.address.kind == kind])
                fix = f"write {near}" if near else "add it to resources, or correct the source"
                return BuildCause(
                    f"no {kind} of the build has the name {name}; {fix}", kustomization.location(("replacements", number, "source", "name"))
                )
    return None


def _of_target(tree: Tree, closure: Closure, field: str, bases: Iterable[Source]) -> BuildCause | None:
    """Returns the cause of a target of a replacement that a resource does not have."""
    for source, path, selected in _field_paths(tree, closure, field):
        for base in kustomize_patches.select(selected, bases):
            value: Any = base.value
            before = "the resource"
            for match in _STEP.finditer(field):
                inner = _entry(value, match[1], match[2]) if match[1] else _member(value, match[3].replace("\\.", "."))
                if inner is None:
                    whose = f"{before} of {base.address.kind} {base.address.name}"
                    return BuildCause(_field_message(whose, value, match), source.location(path))
                value, before = inner, match[0]
    return None


def _field_paths(tree: Tree, closure: Closure, field: str) -> Iterator[tuple[Source, Path, dict[str, Any]]]:
    """Yields the locations of a field path in the replacements of a build, each with the resources that its target selects."""
    for folder, kustomization in closure.folders.items():
        for number, entry in enumerate(entries(kustomization.value, "replacements")):
            name = posixpath.normpath(posixpath.join(folder, text_of(entry, "path"))) if text_of(entry, "path") else ""
            files = tree.read(name).sources if name and tree.is_file(name) else []
            listed: list[tuple[Source, Path, Any]] = [(kustomization, ("replacements", number), entry)]
            for source in files:
                values = source.value if isinstance(source.value, list) else [source.value]
                listed += [(source, (index,) if isinstance(source.value, list) else (), value) for index, value in enumerate(values)]
            for source, path, value in listed:
                for index, target in enumerate(entries(value, "targets")):
                    for position, text in enumerate(entries(target, "fieldPaths")):
                        if text == field:
                            select = target.get("select")
                            yield source, (*path, "targets", index, "fieldPaths", position), select if isinstance(select, dict) else {}


def _entry(value: Any, key: str, wanted: str) -> Any:
    listed = value if isinstance(value, list) else ()
    return next((entry for entry in listed if isinstance(entry, dict) and str(entry.get(key)) == wanted), None)


def _member(value: Any, step: str) -> Any:
    if isinstance(value, list):
        return value[int(step)] if step.isdecimal() and int(step) < len(value) else value if step == "*" else None
    return value.get(step) if isinstance(value, dict) else None


def _field_message(whose: str, value: Any, step: re.Match[str]) -> str:
    """Returns the message about the step of a field path that a value lacks. `whose` is the value in words."""
    key, wanted, name = step[1], step[2], step[3]
    if key:
        names = [str(entry.get(key)) for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
        near = spelling.similar_or_only(wanted, names)
        right = [near] if near else names[:_MOST_SHOWN]
        fix = f"write {' or '.join(f'[{key}={other}]' for other in right)}" if right else "correct the path"
        return f"no entry of {whose} has the {key} {wanted}; {fix}"
    if isinstance(value, list):
        return f"{whose} has {len(value)} entries, and the path has the index {name}; write an index from 0 to {len(value) - 1}"
    near = spelling.similar(name, [*value]) if isinstance(value, dict) else ""
    return f"{whose} has no {name}; write {near or 'a field that it has, or set options.create: true'}"
