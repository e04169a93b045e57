"""Finds the cause of a build that kustomize ends with an error: the patch, the operation or the replacement that fits no resource.

kustomize names the part that it looks for, and neither the file nor what the base has. The texts are those of kustomize 5
(`api/resmap`, `api/resource`) and of the JSON patches in it (`gopkg.in/evanphx/json-patch.v4`).
`kustomization_causes` has the causes that a Kustomization or a patch shows by itself, and `replacement_causes` those of replacements.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from krm_fn.base import json_pointer, results, spelling
from krm_fn.base.results import Path
from krm_fn.kubernetes.api_server import object_meta
from krm_fn.render import dynamo_api
from krm_fn.repository import function_layers, kustomization_causes, kustomizations, kustomize_patches, replacement_causes
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomization_causes import BuildCause
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.kustomize_patches import Patch
from krm_fn.repository.tree import Tree, entries, text_of

_NO_MATCH = re.compile(r"no matches for Id (\w+)\.\S+/([\w.-]+)\.(?:\[noNs\]|[\w-]+)[;\s]")
_NO_REPLICAS = re.compile(r"resource with name (\S+) does not match a config with the following GVK")
_COMPONENT = re.compile(r"expected kind (!= )?'Component' for path '([^']+)'")
_OUTSIDE = re.compile(r"security; file '([^']+)' is not in or below")
_NOT_MERGED = re.compile(r'Name:"([^"]+)"[^}]*\}[^}]*does not exist; cannot merge or replace')
_NO_TARGET = re.compile(r'must specify a target for JSON patch \[(?:path: "([^"]*)")?')
_GENERATORS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_SET_TWICE = "already defined at line"
_OPERATION = re.compile(
    r"\b(add|replace|remove|move|copy|test) operation does not apply|error in (add|replace|remove|move|copy|test) for path"
)
_MALFORMED = "MalformedYAMLError"
_BRACES = "invalid map key: map["
_ACTION = re.compile(r"^[^#\n]*?:[ ]+(\{\{[^{}\n]*\}\})", re.MULTILINE)
_REGISTERED = "may not add resource with an already registered id"
_DOMAIN = re.compile(r"[\w-]+(\.[\w-]+)+", re.ASCII)
_PREFIXED = 2
"""The parts of a key with a domain: `nvidia.com` and `gpu`."""
_FIELD_OF_VERSION = {dynamo_api.V1ALPHA1: "services", dynamo_api.V1BETA1: "components"}
"""The field with the components of a graph in each API version."""
_LONGEST = 60
_MOST_SHOWN = 6
"""The largest number of entries or keys that a message lists."""


class _Gap(NamedTuple):
    """The first step of a path that a value lacks: the steps before it, the value there, and the steps from it on."""

    before: list[str]
    value: Any
    rest: list[str]


def find(tree: Tree, closure: Closure, messages: str) -> BuildCause | None:
    """Returns the cause of the error in the messages of kustomize; None if the files do not show it."""
    return _of_files(tree, closure, messages) or _of_resources(tree, closure, messages)


def _of_files(tree: Tree, closure: Closure, messages: str) -> BuildCause | None:
    """Returns the cause that the files and the entries of Kustomizations show by themselves."""
    if missing := _missing_file(tree, closure, messages):
        return missing
    if (outside := _OUTSIDE.search(messages)) and (cause := _of_file_outside(closure, outside[1])):
        return cause
    if duplicate := next(iter(kustomizations.duplicate_keys(tree, closure)), None) if _SET_TWICE in messages else None:
        return BuildCause(duplicate.message, {"file": duplicate.file, "line": duplicate.line, "column": duplicate.column})
    if of_resources := _of_resource_files(tree, closure, messages):
        return of_resources
    if wrong := kustomization_causes.find(tree, closure, messages):
        return wrong
    if component := _COMPONENT.search(messages):
        return _of_component(closure, component[2], is_listed_as_resource=bool(component[1]))
    if patch := _NO_TARGET.search(messages):
        return _of_patch_without_target(closure, patch[1] or "")
    if generated := _NOT_MERGED.search(messages):
        return _of_generator(tree, closure, generated[1])
    return None


def _of_resource_files(tree: Tree, closure: Closure, messages: str) -> BuildCause | None:
    """Returns the cause of a file with resources that is not YAML, has placeholders, or is listed twice."""
    if _MALFORMED in messages:
        return _unreadable_file(tree, closure)
    if _BRACES in messages:
        return next(_actions(tree, closure), None)
    return next(_listed_twice(closure), None) if _REGISTERED in messages else None


def _of_resources(tree: Tree, closure: Closure, messages: str) -> BuildCause | None:
    """Returns the cause of a patch, a replacement or a number of replicas that fits no resource."""
    patches = [*kustomize_patches.of_closure(tree, closure)]
    files = {patch.source.file for patch in patches}
    listed = [source for name in sorted(closure.files) for source in tree.read(name).sources]
    bases = [source for source in listed if source.file not in files and isinstance(source.value, dict)]
    if wrong := kustomization_causes.find_in_patches([patch.source for patch in patches], messages):
        return wrong
    if match := _NO_MATCH.search(f"{messages} "):
        named = (
            patch for patch in patches if not patch.target and (patch.source.address.kind, patch.source.address.name) == match.groups()
        )
        patch = next(named, None)
        return _of_patch(tree, closure, patch, bases) if patch else None
    if replicas := _NO_REPLICAS.search(messages):
        return _of_replicas(tree, closure, replicas[1])
    if replacement := replacement_causes.find(tree, closure, messages, bases):
        return replacement
    if operation := _OPERATION.search(messages):
        return _of_operation(operation[1] or operation[2], messages, patches, bases)
    return None


def _missing_file(tree: Tree, closure: Closure, messages: str) -> BuildCause | None:
    """Returns the cause of a file or folder that does not exist, with the path that is meant."""
    if "no such file or directory" not in messages and "doesn't exist" not in messages:
        return None
    for folder, kustomization in closure.folders.items():
        for path, written in kustomizations.named_paths(kustomization.value):
            target = posixpath.normpath(posixpath.join(folder, written))
            if target in messages and tree.contains(target) and not tree.path(target).exists():
                near = kustomizations.nearest_path(tree, folder, written)
                fix = f"write {near}" if near else "correct the path, or remove it"
                location = kustomization.location(path or _path_of(kustomization.value, written))
                return BuildCause(f"{written} does not exist; {fix}", location)
    return None


def _of_file_outside(closure: Closure, file: str) -> BuildCause | None:
    """Returns the cause of a file that is not below the folder of its Kustomization: kustomize reads such folders, and no such files."""
    for folder, kustomization in closure.folders.items():
        for path, written in kustomizations.named_paths(kustomization.value):
            target = posixpath.normpath(posixpath.join(folder, written))
            if written.startswith("../") and f"/{file}".endswith(f"/{target}"):
                field = path or _path_of(kustomization.value, written)
                name, place = posixpath.basename(target), posixpath.dirname(written)
                if field[:1] == ("resources",):
                    fix = f"list {place} in its place, and write a kustomization.yaml with resources: [{name}] there"
                else:
                    fix = f"write a kustomization.yaml of kind: Component with this entry into {place}, and list {place} in components"
                return BuildCause(f"kustomize reads no file of another folder, such as {written}; {fix}", kustomization.location(field))
    return None


def _of_component(closure: Closure, path: str, *, is_listed_as_resource: bool) -> BuildCause | None:
    """Returns the cause of a Component among `resources`, or of another Kustomization among `components`."""
    wrong, right = ("resources", "components") if is_listed_as_resource else ("components", "resources")
    for folder, kustomization in closure.folders.items():
        for number, written in enumerate(entries(kustomization.value, wrong)):
            if isinstance(written, str) and f"/{path}".endswith(f"/{posixpath.normpath(posixpath.join(folder, written))}"):
                problem = f"{written} is {'a Component' if is_listed_as_resource else 'no Component'}, and stands in {wrong}"
                return BuildCause(f"{problem}; move it to {right}", kustomization.location((wrong, number)))
    return None


def _of_patch_without_target(closure: Closure, path: str) -> BuildCause | None:
    """Returns the cause of a JSON patch whose entry does not say which resource it changes. `path` is its file; empty for an inline one."""
    for kustomization in closure.folders.values():
        for number, entry in enumerate(entries(kustomization.value, "patches")):
            is_it = text_of(entry, "path") == path and (path or text_of(entry, "patch").lstrip()[:1] in ("-", "["))
            if is_it and not entry.get("target"):
                problem = "a JSON patch names no resource itself, and its entry has no target"
                fix = "add a target with the kind of the resource that it changes, such as target: {kind: DynamoGraphDeployment}"
                return BuildCause(f"{problem}; {fix}", kustomization.location(("patches", number)))
    return None


def _of_generator(tree: Tree, closure: Closure, name: str) -> BuildCause | None:
    """Returns the cause of a generator that merges with an object which no layer below generates.

    If a file of the build reads the object under this name, that of the layer below is the slip.
    """
    listed = [
        (kustomization, field_name, number, entry)
        for kustomization in closure.folders.values()
        for field_name in _GENERATORS
        for number, entry in enumerate(entries(kustomization.value, field_name))
    ]
    merging = next((row for row in listed if text_of(row[3], "name") == name and text_of(row[3], "behavior") in ("merge", "replace")), None)
    if merging is None:
        return None
    kustomization, field_name, number, _ = merging
    others = [row for row in listed if row[1] == field_name and text_of(row[3], "behavior") in ("", "create")]
    near = spelling.similar_or_only(name, [text_of(row[3], "name") for row in others])
    is_read = any(re.search(rf"name: ['\"]?{re.escape(name)}['\"]?\s*$", tree.read(file).text, re.MULTILINE) for file in closure.files)
    problem = f"no layer below generates the {_GENERATORS[field_name]} {name}, with which this build merges one"
    if near and is_read:
        base, _, position, _ = next(row for row in others if text_of(row[3], "name") == near)
        return BuildCause(f"{problem}, but {near}; write {name}", base.location((field_name, position, "name")))
    fix = f"write {near}" if near else "remove its behavior, or generate it below"
    return BuildCause(f"{problem}; {fix}", kustomization.location((field_name, number, "name")))


def _unreadable_file(tree: Tree, closure: Closure) -> BuildCause | None:
    """Returns the error of the first file that is not YAML. kustomize counts its lines from 0, and does not name its folder."""
    for name in sorted(closure.files):
        if problem := next(iter(results.errors_of(tree.read(name).results)), None):
            return BuildCause(problem.message, {"file": problem.file, "line": problem.line, "column": problem.column})
    return None


def _actions(tree: Tree, closure: Closure) -> Iterator[BuildCause]:
    """Finds actions of Helm, which YAML reads as a mapping with a mapping as its key."""
    for name in sorted(closure.files):
        file = tree.read(name)
        for match in _ACTION.finditer(file.text):
            line = file.text.count("\n", 0, match.start(1)) + 1
            problem = f"`{match[1][:_LONGEST]}` is a placeholder, which nothing has substituted"
            location = {"file": tree.shown(name), "line": line, "column": 1}
            yield BuildCause(f"{problem}; substitute it before the build, with helm template", location)


def _listed_twice(closure: Closure) -> Iterator[BuildCause]:
    """Finds entries of `resources` with one file or folder."""
    for kustomization in closure.folders.values():
        listed = [posixpath.normpath(entry) for entry in entries(kustomization.value, "resources") if isinstance(entry, str)]
        for number, entry in enumerate(listed):
            if entry in listed[:number]:
                yield BuildCause(f"{entry} is in resources twice; remove one of the two", kustomization.location(("resources", number)))


def _path_of(value: Any, text: str) -> Path:
    """Returns the path of the first entry of a value that is a text; empty without one."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        if entry == text:
            return (key,)
        if path := _path_of(entry, text):
            return (key, *path)
    return ()


def _of_replicas(tree: Tree, closure: Closure, name: str) -> BuildCause | None:
    """Returns the cause of an entry of `replicas` for a workload that the build does not have."""
    for kustomization in closure.folders.values():
        for number, entry in enumerate(entries(kustomization.value, "replicas")):
            if text_of(entry, "name") == name:
                problem = f"no Deployment or StatefulSet has the name {name} here"
                fix = "correct the name, or remove the entry"
                if function_layers.runs_function(tree, closure):
                    problem, fix = f"{problem}: krm-fn makes its objects later", "write replicas of the component with a patch of the graph"
                return BuildCause(f"{problem}; {fix}", kustomization.location(("replicas", number, "name")))
    return None


def _of_patch(tree: Tree, closure: Closure, patch: Patch, bases: Sequence[Source]) -> BuildCause | None:
    """Returns the cause of a merge patch for a resource that the build does not have."""
    if not isinstance(patch.source.value, dict):
        return None
    has_kind = any(base.address.kind == patch.source.address.kind for base in bases)
    before = [] if has_kind or dynamo_api.is_dynamo(patch.source.value) else function_layers.before_function(tree, closure)
    return _of_made_object(closure, patch, before) if before else _without_match(patch.source, bases)


def _of_made_object(closure: Closure, patch: Patch, before: Sequence[str]) -> BuildCause:
    """Returns the cause of a patch of an object that krm-fn makes. `before` are the folders whose patches come before krm-fn."""
    kind, name = patch.source.address.kind, patch.source.address.name
    location = patch.source.location(("metadata", "name"))
    namespaces = [namespace for folder in before if (namespace := text_of(closure.folders[folder].value, "namespace"))]
    if patch.folder in before or patch.source.address.namespace or not namespaces:
        problem = f"no {kind} has the name {name} here: krm-fn makes its objects after the patches of its layer"
        return BuildCause(f"{problem}; {function_layers.AROUND}", location)
    problem = f"no {kind} {name} without a namespace is in the build: that of krm-fn is in {namespaces[0]}"
    return BuildCause(f"{problem}; write metadata.namespace: {namespaces[0]}, or name the object in a target", location)


def _without_match(source: Source, bases: Iterable[Source]) -> BuildCause:
    """Returns the cause of a merge patch without a resource of its kind, name, version and namespace among the bases."""
    kind, name = source.address.kind, source.address.name
    others = [base for base in bases if base.address.kind == kind]
    if same := next((base for base in others if base.address.name == name), None):
        right, written = same.value.get("apiVersion"), source.value.get("apiVersion")
        if right != written:
            if _has_fields_of(written, same.value) and not _has_fields_of(right, same.value):
                problem = f"{kind} {name} has apiVersion {right}, and the fields of {written}, as its patch has"
                return BuildCause(f"{problem}; write {written}", same.location(("apiVersion",)))
            problem = f"the patch has apiVersion {written}, and {kind} {name} of the base has {right}"
            return BuildCause(f"{problem}; write {right}, and the fields of that version", source.location(("apiVersion",)))
        problem = f"the patch of {kind} {name} has another namespace than the base"
        return BuildCause(f"{problem}; write metadata.namespace as the base does", source.location(("metadata",)))
    names = [base.address.name for base in others]
    near = spelling.similar_or_only(name, names)
    wrong = next((base for base in others if base.address.name == near and not object_meta.is_subdomain(near)), None)
    if wrong and object_meta.is_subdomain(name):
        problem = f"{near!r} is not a valid name of a {kind}, and its patch has {name}"
        return BuildCause(f"{problem}; write {name}", wrong.location(("metadata", "name")))
    fix = (
        f"write {near}"
        if near
        else f"write one of {', '.join(names[:_MOST_SHOWN])}"
        if names
        else f"remove the patch, or add {kind} {name}"
    )
    return BuildCause(f"no {kind} of the build has the name {name} of this patch; {fix}", source.location(("metadata", "name")))


def _has_fields_of(api_version: Any, graph: dict[str, Any]) -> bool:
    """True if a graph has the field with the components that an API version has."""
    return _FIELD_OF_VERSION.get(f"{api_version}") in (graph.get("spec") or {})


def _of_operation(name: str, messages: str, patches: Iterable[Patch], bases: Iterable[Source]) -> BuildCause | None:
    """Returns the cause of an operation of a JSON patch whose path a resource lacks."""
    for patch in patches:
        operations = patch.source.value if isinstance(patch.source.value, list) else ()
        for number, operation in enumerate(operations):
            pointer = text_of(operation, "path")
            if text_of(operation, "op") != name or not pointer or not re.search(rf"{re.escape(pointer)}(?![\w/~.-])", messages):
                continue
            if not pointer.startswith("/"):
                right = f"/{pointer}" if "/" in pointer else f"/{pointer.replace('.', '/')}"
                return BuildCause(f"a JSON pointer begins with a slash; write {right}", patch.source.location((number, "path")))
            steps = json_pointer.steps(pointer)
            for base in kustomize_patches.select(patch.target, bases):
                if gap := _gap(base.value, steps, name):
                    return BuildCause(_gap_message(name, gap, base), patch.source.location((number, "path")))
    return None


def _gap(value: Any, steps: list[str], name: str) -> _Gap | None:
    """Returns the first step that a value lacks; None without one. The last step of `add` and `replace` may be a new field."""
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        if isinstance(value, list):
            if is_last and name == "add" and step in ("-", str(len(value))):
                return None
            if not step.isdecimal() or int(step) >= len(value):
                return _Gap(steps[:number], value, steps[number:])
            value = value[int(step)]
        elif not isinstance(value, dict) or (step not in value and not (is_last and name in ("add", "replace"))):
            return _Gap(steps[:number], value, steps[number:])
        else:
            value = value.get(step)
    return None


def _gap_message(name: str, gap: _Gap, base: Source) -> str:
    """Returns the message about an operation: what the resource has at the step that it lacks, and the fix."""
    where = f"{base.address.kind} {base.address.name} has"
    pointer, step = "/" + "/".join(json_pointer.escape(part) for part in gap.before), gap.rest[0]
    if isinstance(gap.value, list):
        shown = ", ".join(f"{number}{_name_of_entry(entry)}" for number, entry in enumerate(gap.value[:_MOST_SHOWN]))
        last = f"{len(gap.value) - 1}"
        fix = f"indexes count from 0, so write {pointer}/{last}" if step == str(len(gap.value)) != "0" else "write an index of the list"
        fix = f"{fix}, or {pointer}/- to append an entry" if name == "add" else fix
        return f"the path has the index {step} in {pointer}, where {where} {shown or 'no entry'}; {fix}"
    keys = [*gap.value] if isinstance(gap.value, dict) else []
    if isinstance(gap.value, dict) and (whole := _key_with_slash(gap.rest, keys)):
        return f"a slash in a key of a JSON pointer is ~1; write {pointer}/{json_pointer.escape(whole)}"
    near = spelling.similar(step, keys)
    problem = f"{where} no {step} in {pointer}"
    if near:
        removal = ", or remove this operation" if name == "remove" and len(gap.rest) == 1 else ""
        return f"{problem}; write {near}{removal}"
    if len(gap.rest) == 1 and name == "remove":
        return f"{problem}; remove this operation"
    listed = ", ".join(keys[:_MOST_SHOWN]) or "no fields"
    return f"{problem}, which has {listed}; add {step} with an operation of its own before this one, or correct the path"


def _key_with_slash(rest: list[str], keys: list[str]) -> str:
    """Returns the key that the next steps of a path make together, as `nvidia.com/gpu` is written; empty without one."""
    joined = ("/".join(rest[:count]) for count in range(2, len(rest) + 1))
    known = next((key for key in joined if key in keys), "")
    return known or ("/".join(rest) if len(rest) == _PREFIXED and _DOMAIN.fullmatch(rest[0]) else "")


def _name_of_entry(entry: Any) -> str:
    return f" ({entry['name']})" if isinstance(entry, dict) and isinstance(entry.get("name"), str) else ""
