"""Finds the mistakes for which kustomize refuses a Kustomization or a patch before it looks for resources.

kustomize names a field and a type of Go, and neither the line nor what it takes there (`api/types` and `api/internal/target` of
kustomize 5, and the operations of `gopkg.in/evanphx/json-patch.v4`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from krm_fn.base import spelling
from krm_fn.base.results import Path
from krm_fn.kubernetes import secret_values
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, entries, text_of

_KINDS = ("Kustomization", "Component")
_WRONG_KIND = re.compile(r"kind should be (?:Kustomization|Component)|apiVersion for \w+ should be")
_UNKNOWN = re.compile(r'json: unknown field "([^"]+)"')
_WRONG_TYPE = re.compile(r"cannot unmarshal (\w+) into Go struct field \S+?\.(\w+) of type (\S+)")
_NO_PATCH = re.compile(r'unable to parse SM or JSON patch from \[(?:path: "([^"]*)")?')
_PATCH_AND_PATH = "patch and path can't be set at the same time"
_OPERATION = re.compile(r"op: *\w+$", re.MULTILINE)
_OPERATIONS = ("add", "replace", "remove", "move", "copy", "test")
_WRONG_OPERATION = re.compile(r"Unexpected kind: (\S+)")
_MEANT = {"append": "add", "create": "add", "delete": "remove", "insert": "add", "set": "replace", "update": "replace"}
"""Words that people write for an operation of a JSON patch."""
_FIELDS = {
    "configMapGenerator": ("behavior", "env", "envs", "files", "literals", "name", "namespace", "options"),
    "images": ("digest", "name", "newName", "newTag", "tagSuffix"),
    "labels": ("fields", "includeSelectors", "includeTemplates", "pairs"),
    "patches": ("options", "patch", "path", "target"),
    "replacements": ("path", "source", "targets"),
    "replicas": ("count", "name"),
    "secretGenerator": ("behavior", "env", "envs", "files", "literals", "name", "namespace", "options", "type"),
}
"""The fields of the entries of a Kustomization (`api/types` of kustomize 5)."""
_OTHER_NAMES = {
    ("images", "tag"): "newTag",
    ("images", "image"): "name",
    ("images", "newImage"): "newName",
    ("replicas", "replicas"): "count",
}


class BuildCause(NamedTuple):
    """The message about the cause of a build that failed, with the fix after a semicolon, and the location as fields of a finding."""

    message: str
    location: dict[str, Any]


def find(tree: Tree, closure: Closure, messages: str) -> BuildCause | None:
    """Returns the cause that a Kustomization, or a patch without a dash, shows; None if kustomize refused it for another reason."""
    kustomizations = [*closure.folders.values()]
    if _WRONG_KIND.search(messages):
        return next(_wrong_kinds(kustomizations), None)
    if unknown := _UNKNOWN.search(messages):
        return next(_unknown_fields(kustomizations, unknown[1]), None)
    if wrong := _WRONG_TYPE.search(messages):
        return next(_wrong_types(kustomizations, wrong[2]), None)
    if _PATCH_AND_PATH in messages:
        return next(_patches_with_path(kustomizations), None)
    if no_patch := _NO_PATCH.search(messages):
        return next(_single_operations(tree, closure, no_patch[1] or ""), None)
    return None


def find_in_patches(patches: Iterable[Source], messages: str) -> BuildCause | None:
    """Returns the cause of an operation that JSON patches do not have."""
    if wrong := _WRONG_OPERATION.search(messages):
        for patch in patches:
            for number, operation in enumerate(patch.value if isinstance(patch.value, list) else ()):
                if text_of(operation, "op") == wrong[1]:
                    right = _MEANT.get(wrong[1].lower()) or spelling.nearest(wrong[1], _OPERATIONS) or f"one of {', '.join(_OPERATIONS)}"
                    return BuildCause(f"{wrong[1]} is not an operation of a JSON patch; write {right}", patch.location((number, "op")))
    return None


def _patches_with_path(kustomizations: Iterable[Source]) -> Iterator[BuildCause]:
    """Finds a patch that is in its entry and in a file."""
    for kustomization in kustomizations:
        for number, entry in enumerate(entries(kustomization.value, "patches")):
            if text_of(entry, "patch") and text_of(entry, "path"):
                problem = "an entry of patches has its patch here or in the file of path, and not both"
                yield BuildCause(
                    f"{problem}; make an entry of its own of one of them", kustomization.location(("patches", number, "patch"))
                )


def _single_operations(tree: Tree, closure: Closure, path: str) -> Iterator[BuildCause]:
    """Finds an operation that is not an entry of a list. `path` is the file of the patch; empty for an inline one."""
    problem = "a JSON patch is a list of operations, and this is one without a dash; write a dash before op"
    for folder, kustomization in closure.folders.items():
        for number, entry in enumerate(entries(kustomization.value, "patches")):
            file = posixpath.normpath(posixpath.join(folder, path))
            if path and text_of(entry, "path") == path and tree.is_file(file):
                if operation := _OPERATION.match(tree.read(file).text.lstrip()):
                    line = tree.read(file).text[: tree.read(file).text.index(operation[0])].count("\n") + 1
                    yield BuildCause(problem, {"file": tree.shown(file), "line": line, "column": 1})
            elif not path and _OPERATION.match(text_of(entry, "patch").lstrip()):
                yield BuildCause(problem, kustomization.location(("patches", number, "patch")))


def _wrong_kinds(kustomizations: Iterable[Source]) -> Iterator[BuildCause]:
    """Finds a kind that kustomize does not know, and the version of one kind beside the other."""
    for kustomization in kustomizations:
        kind, version = text_of(kustomization.value, "kind"), text_of(kustomization.value, "apiVersion")
        if kind and kind not in _KINDS:
            right = spelling.nearest(kind, _KINDS) or _KINDS[0]
            yield BuildCause(f"{kind} is not a kind of kustomize; write {right}", kustomization.location(("kind",)))
        elif kind == _KINDS[0] and version.endswith("/v1alpha1"):
            problem = f"{version} is the version of a Component, and the kind is {kind}"
            yield BuildCause(
                f"{problem}; write kind: Component, or apiVersion: kustomize.config.k8s.io/v1beta1", kustomization.location(("kind",))
            )
        elif kind == _KINDS[1] and version.endswith("/v1beta1"):
            problem = f"{version} is the version of a Kustomization"
            yield BuildCause(f"{problem}; write kustomize.config.k8s.io/v1alpha1", kustomization.location(("apiVersion",)))


def _unknown_fields(kustomizations: Iterable[Source], name: str) -> Iterator[BuildCause]:
    """Finds the entry with a field that kustomize does not know there."""
    for kustomization in kustomizations:
        for field, known in _FIELDS.items():
            for number, entry in enumerate(entries(kustomization.value, field)):
                if isinstance(entry, dict) and name in entry and name not in known:
                    right = _OTHER_NAMES.get((field, name)) or spelling.nearest(name, known)
                    fix = f"write {right}" if right else f"write one of {', '.join(known)}"
                    yield BuildCause(f"an entry of {field} has no field {name}; {fix}", kustomization.location((field, number, name)))


def _wrong_types(kustomizations: Iterable[Source], name: str) -> Iterator[BuildCause]:
    """Finds a value of another type than kustomize takes: a patch, labels or literals in a shorter form."""
    for kustomization in kustomizations:
        for number, entry in enumerate(entries(kustomization.value, "patches") if name == "patches" else ()):
            if isinstance(entry, str):
                key = "patch" if "\n" in entry.strip() else "path"
                shown = "patch: and the text below it" if key == "patch" else f"path: {entry}"
                yield BuildCause(
                    f"an entry of patches is an object, not a text; write {shown}", kustomization.location(("patches", number))
                )
        labels = kustomization.value.get("labels")
        if name == "labels" and isinstance(labels, dict):
            pairs = ", ".join(f"{key}: {value}" for key, value in labels.items())
            yield BuildCause(
                f"labels is a list of entries with pairs; write labels: [{{pairs: {{{pairs}}}}}]", kustomization.location(("labels",))
            )
        for field in ("configMapGenerator", "secretGenerator") if name == "literals" else ():
            for number, entry in enumerate(entries(kustomization.value, field)):
                yield from _literals(kustomization, (field, number, "literals"), entry)


def _literals(kustomization: Source, path: Path, entry: Any) -> Iterator[BuildCause]:
    literals = entry.get("literals") if isinstance(entry, dict) else None
    pairs = (
        [*literals.items()]
        if isinstance(literals, dict)
        else [pair for item in literals or () if isinstance(item, dict) for pair in item.items()]
    )
    if pairs:
        key, value = pairs[0]
        is_long = isinstance(value, str) and "\n" in value
        shown = "VALUE" if path[0] == "secretGenerator" or secret_values.is_secret_name(f"{key}") else value
        fix = f"put the text into a file {key}, and list it in files" if is_long else f"write {key}={shown}"
        yield BuildCause(f"a literal is one text with = between its key and its value; {fix}", kustomization.location(path))
