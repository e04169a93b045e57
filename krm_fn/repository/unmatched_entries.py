"""Entries of a Kustomization without an effect, and patches with more effect than their author meant.

kustomize accepts a patch whose target selects nothing, and an image that no container has, in silence (`api/internal/builtins` of
kustomize 5: PatchTransformer and ImageTagTransformer). A merge patch of a custom resource replaces whole lists, unless `openapi` has their
keys.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.results import Result
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import dynamo_api
from krm_fn.repository import kustomizations
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, field

_NO_EFFECT, _LOST = codes.KUSTOMIZATION_ENTRY_WITHOUT_EFFECT, codes.PATCH_REPLACES_COMPONENTS
_SELECTED = ("kind", "name")
_VERSIONED = ("group", "version")
_GENERATED = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_PLAIN = re.compile(r"[\w./-]+", re.ASCII)
"""A name that is no other pattern than itself, apart from its dots."""
_ADDS = {"crds", "generators", "helmChartInflationGenerator", "helmCharts", "helmGlobals", "transformers"}
"""The fields of a layer that can add or rename objects."""
_WRITTEN = (
    *(dynamo_api.GRAPH, dynamo_api.COMPONENT),
    *("GRPCRoute", "HTTPRoute", "HorizontalPodAutoscaler", "PersistentVolumeClaim", "PodMonitor", "ScaledObject", "Secret"),
)
"""Kinds whose objects people write: a patch of another object of the kind means one that krm-fn makes."""
_OF_GRAPH = ("spec.services.", "spec.components.")
"""The beginning of a field path into the components of a graph."""
_LISTED = 5
_DEPTH = 12


def check(tree: Tree, closure: Closure) -> Iterator[Result]:
    """Yields a warning for each entry without an effect. Components are left out: they patch what other layers may have."""
    for folder, kustomization in closure.folders.items():
        targets = [*kustomizations.patch_targets(kustomization)]
        images = objects(field(kustomization.value, "images"))
        replacements = objects(field(kustomization.value, "replacements"))
        if (targets or images or replacements) and not kustomizations.is_component(kustomization):
            below = kustomizations.closure(tree, folder)
            documents = [
                source.value for name in sorted(below.files) for source in tree.read(name).sources if isinstance(source.value, dict)
            ]
            yield from _check_unselected(kustomization, targets, below, documents)
            yield from _check_replacements(kustomization, replacements, documents)
            if images:
                yield from _unused_images(kustomization, images, below, documents)


def _check_unselected(
    kustomization: Source, targets: Sequence[tuple[results.Path, dict[str, Any]]], below: Closure, documents: Sequence[dict[str, Any]]
) -> Iterator[Result]:
    """Finds targets whose kind or name no object of the layer has, next to one that it has. Each is a pattern for the whole text."""
    layers = [source.value for source in below.folders.values()]
    known = {
        "kind": {text(document.get("kind")) for document in documents}
        | {kind for layer in layers for name, kind in _GENERATED.items() if layer.get(name)},
        "name": {name_of(mapping(document, "metadata")) for document in documents},
    }
    affixes = [text(layer.get(name)) for layer in layers for name in ("namePrefix", "nameSuffix")]
    added = (_ADDS & layer.keys() - ({"transformers"} if layer is kustomization.value else set()) for layer in layers)
    whole = documents if not (below.problems or any(added)) else ()
    for path, target in targets:
        meant = ((step, _meant_value(step, target, known[step] - {""}, affixes, whole)) for step in _SELECTED)
        step, near = next((entry for entry in meant if entry[1]), ("", ""))
        if near:
            message = f"this patch has no effect, because nothing has the {step} {text(target.get(step))}; write {near}"
            yield results.warning(_NO_EFFECT, message, **kustomization.location((*path, step)))
        else:
            yield from _check_version(kustomization, path, target, documents)


def _meant_value(
    step: str, target: dict[str, Any], known: Collection[str], affixes: Iterable[str], documents: Sequence[dict[str, Any]]
) -> str:
    """Returns the kind or the name that a target means if no object has the one that it names; empty without one, or if it is not known.

    `documents` are the objects of a layer if all are known. `affixes` are prefixes and suffixes of names, which a target may have.
    """
    pattern = bare = text(target.get(step))
    for affix in affixes if step == "name" else ():
        bare = bare.removeprefix(affix).removesuffix(affix)
    if not _PLAIN.fullmatch(pattern) or bare in known or any(kustomizations.is_pattern_of(pattern, name) for name in known):
        return ""
    if near := spelling.nearest_name(pattern, sorted(known)):
        return near
    return _only_of_kind(documents, text(target.get("kind"))) if step == "name" else _kind_of(documents, text(target.get("name")))


def _check_replacements(
    kustomization: Source, replacements: Sequence[dict[str, Any]], documents: Sequence[dict[str, Any]]
) -> Iterator[Result]:
    """Finds a replacement into components of a graph whose target selects another kind, which the layer does not have."""
    kinds = {text(document.get("kind")) for document in documents}
    for number, replacement in enumerate(replacements):
        for index, target in enumerate(objects(replacement.get("targets"))):
            kind = text(mapping(target, "select").get("kind"))
            fields = [f"{path}" for path in target.get("fieldPaths") or ()]
            is_of_graph = any(path.startswith(_OF_GRAPH) for path in fields)
            if kind and is_of_graph and dynamo_api.GRAPH in kinds and not any(kustomizations.is_pattern_of(kind, known) for known in kinds):
                message = f"this replacement has no effect, because nothing has the kind {kind}; write {dynamo_api.GRAPH}"
                path = ("replacements", number, "targets", index, "select", "kind")
                yield results.warning(_NO_EFFECT, message, **kustomization.location(path))


def _check_version(
    kustomization: Source, path: results.Path, target: dict[str, Any], documents: Sequence[dict[str, Any]]
) -> Iterator[Result]:
    """Finds a target with the group or version of no object of its kind: kustomize compares both (`types.SelectorRegex`)."""
    kind, name = text(target.get("kind")), text(target.get("name"))
    alike = [
        document
        for document in documents
        if document.get("kind") == kind and (not name or kustomizations.is_pattern_of(name, name_of(mapping(document, "metadata"))))
    ]
    versions = {text(document.get("apiVersion")) for document in alike}
    if len(versions) != 1 or not dynamo_api.is_dynamo(alike[0]):
        return
    right = dict(zip(_VERSIONED, min(versions).split("/"), strict=False))
    for step in _VERSIONED:
        pattern = text(target.get(step))
        if pattern and step in right and not kustomizations.is_pattern_of(pattern, right[step]):
            message = f"this patch has no effect, because {kind} has the {step} {right[step]}, not {pattern}; write {right[step]}"
            yield results.warning(_NO_EFFECT, message, **kustomization.location((*path, step)))
            return


def _kind_of(documents: Sequence[dict[str, Any]], pattern: str) -> str:
    """Returns the kind of a graph if all objects of a layer with the name of a target are graphs; else an empty text."""
    named = {
        text(document.get("kind"))
        for document in documents
        if pattern and kustomizations.is_pattern_of(pattern, name_of(mapping(document, "metadata")))
    }
    return dynamo_api.GRAPH if named == {dynamo_api.GRAPH} else ""


def _only_of_kind(documents: Sequence[dict[str, Any]], kind: str) -> str:
    """Returns the name of the only object of a kind in a layer; empty for several, and for a kind that krm-fn makes, too.

    The patches of an object have its name.
    """
    names = {name_of(mapping(document, "metadata")) for document in documents if document.get("kind") == kind}
    return names.pop() if len(names) == 1 and kind in _WRITTEN else ""


def _unused_images(
    kustomization: Source, images: Sequence[dict[str, Any]], below: Closure, documents: Sequence[dict[str, Any]]
) -> Iterator[Result]:
    """Finds entries whose name is the last part of an image, or a slip for one: kustomize compares whole names without tag and digest."""
    whole = {image.partition("@")[0] for document in documents for image in _texts(document, _DEPTH)}
    known = {*map(_repository, whole)}
    layers = [source.value for source in below.folders.values()]
    known |= {text(entry.get("newName")) for layer in layers for entry in objects(field(layer, "images"))}
    for number, entry in enumerate(images):
        name = text(entry.get("name"))
        if (bare := _repository(name)) != name and name not in whole and bare in known:
            message = f"this entry has no effect: kustomize compares its name with images without their tag; write {bare}"
            yield results.warning(_NO_EFFECT, message, **kustomization.location(("images", number, "name")))
        if not _PLAIN.fullmatch(name) or any(kustomizations.is_pattern_of(name, image) for image in known):
            continue
        ends = sorted(image for image in known if image.endswith(f"/{name}"))
        near = ends[0] if len(ends) == 1 else "" if ends else spelling.nearest_name(name, sorted(known))
        if near:
            message = f"this entry has no effect, because no container has the image {name}; write {near}"
            yield results.warning(_NO_EFFECT, message, **kustomization.location(("images", number, "name")))


def _repository(image: str) -> str:
    name = image.partition("@")[0]
    return name.rpartition(":")[0] if ":" in name.rpartition("/")[2] else name


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Yields the texts of all fields `image` at any depth."""
    if isinstance(value, dict) and depth:
        for key, inner in value.items():
            if key == "image" and isinstance(inner, str):
                yield inner
            else:
                yield from _texts(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _texts(inner, depth - 1)


def check_components(built: Sequence[Source]) -> Iterator[Result]:
    """Yields a warning for each merge patch that changes other components of a graph than its author meant.

    It replaced the list of components, so that others of the graph are lost. Or it added a part of a component, because the base has none
    of this name. A list of components of another patch, as in JSON, is what its author wrote.
    """
    for source in built:
        if source.value.get("kind") != dynamo_api.GRAPH or not source.patches:
            continue
        before, after = (_components(value) for value in (source.unbuilt, source.value))
        patches = [patch for patch in source.patches if isinstance(patch.value, dict) and _components(patch.value)]
        lost = [name for name in before if name not in after]
        if lost and patches and [*_components(patches[0].value)] == [*after]:
            yield _lost(source, patches[0], lost)
        for patch in patches:
            for name, (path, _) in _components(patch.value).items():
                if name in after and name not in before and _is_part(after[name][1]):
                    message = _explain_added(name, [known for known in before if known in after])
                    yield results.warning(_LOST, message, results.ref(source.value), after[name][0], **patch.location(path))


def _explain_added(name: str, known: Sequence[str]) -> str:
    near = spelling.similar(name, known)
    if near:
        return f"this patch adds {name} as a new component, because the base has {near}; write {near}"
    listed = ", ".join((*known[:_LISTED], *["..."] * (len(known) > _LISTED)))
    problem = f"this patch adds a part of a component {name}, and the base has no component of this name"
    return f"{problem}; write one of {listed}" if known else f"{problem}; write the whole component"


def _lost(source: Source, patch: Source, lost: Sequence[str]) -> Result:
    names = ", ".join((*lost[:_LISTED], *["..."] * (len(lost) > _LISTED)))
    message = f"this patch replaces the whole list of components, so the graph loses {names}"
    fix = "set openapi to the file of `krm-fn schema --for kustomize`, which merges components by name"
    path = ("spec", "components")
    return results.warning(_LOST, f"{message}; {fix}", results.ref(source.value), path, **patch.location(path))


def _components(graph: Any) -> dict[str, tuple[results.Path, Any]]:
    """Returns the path and the value of each component of a graph by its name, in both API versions."""
    spec = mapping(graph, "spec") if isinstance(graph, dict) else {}
    listed = {name_of(component): (("spec", "components", at), component) for at, component in enumerate(objects(spec.get("components")))}
    return listed | {name: (("spec", "services", name), service) for name, service in mapping(spec.get("services")).items()}


def _is_part(component: Any) -> bool:
    """True for a component without its type and a container: it changes one that exists."""
    image = mapping(component, "extraPodSpec", "mainContainer").get("image")
    containers = mapping(component, "podTemplate", "spec").get("containers")
    is_typed = isinstance(component, dict) and (component.get("componentType") or component.get("type"))
    return not (is_typed or image or containers)
