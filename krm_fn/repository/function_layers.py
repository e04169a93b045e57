"""What a Kustomization with the function sets on the graph only, because kustomize runs functions after everything else in a layer.

Patches of the objects that the function makes change nothing then, also of those that a layer below made: the function makes them anew.
Labels reach the graph, and not these objects. Images reach containers in lists named `containers`, so in a graph of v1alpha1 they reach
nothing, unless a file under `configurations` has the paths.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.base.yaml import reader
from krm_fn.kubernetes import paths
from krm_fn.kubernetes.paths import EVERY
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, objects, text
from krm_fn.render import dynamo_api, function_config, labels
from krm_fn.render.manifests import ownership
from krm_fn.repository import kustomizations
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.tree import Tree, entries, field

_COMMON = (("commonLabels", labels.of), ("commonAnnotations", labels.annotations))
AROUND = "put it into a Kustomization around this one, or patch the graph"
"""The fix of what runs before the function."""
_OUTSIDE_OF_LISTS: tuple[Path, ...] = (
    ("spec", "services", EVERY, "extraPodSpec", "mainContainer", "image"),
    ("spec", "services", EVERY, "frontendSidecar", "image"),
)
"""The images of a v1alpha1 graph that kustomize does not find itself."""


def check(tree: Tree, closure: Closure, built: Sequence[Source]) -> Iterator[Result]:
    """Yields a note for labels of a layer with the function that its objects lack, and a warning for images and patches without effect."""
    for folder in _layers(tree, closure):
        yield from _labels(closure.folders[folder], built)
        yield from _images(closure.folders[folder], built)
    for folder in before_function(tree, closure):
        yield from _patches(closure.folders[folder], built)


def runs_function(tree: Tree, closure: Closure) -> bool:
    """Returns true if krm-fn runs in a layer of a Kustomization."""
    return bool(_layers(tree, closure))


def before_function(tree: Tree, closure: Closure) -> list[str]:
    """Returns the folders of a Kustomization whose patches kustomize applies before krm-fn runs."""
    return [*dict.fromkeys(below for layer in _layers(tree, closure) for below in kustomizations.closure(tree, layer).folders)]


def ends_with_function(tree: Tree, closure: Closure, folder: str, kustomization: dict[str, Any]) -> bool:
    """Returns true if krm-fn is the last step of a build, and its only function. `kustomization` is that of the root, with its settings.

    kustomize then sets names in fields that its lists of references name, adds hashes to names, orders the objects, and changes no more.
    """
    layers = {**{name: source.value for name, source in closure.folders.items()}, folder: kustomization}
    transformers = {name: _transformers(tree, name, layer) for name, layer in layers.items()}
    *before, last = transformers.pop(folder) or [None]
    others = [*before, *(value for listed in transformers.values() for value in listed)]
    return (
        isinstance(last, dict)
        and function_config.is_config(results.ref(last))
        and all(isinstance(value, dict) and value.get("apiVersion") == _BUILT_IN for value in others)
        and not any(layer.get(name) for layer in layers.values() for name in _LATE)
        and all(_has_only_dynamo_fields(source.value) for source in _configurations(tree, layers))
    )


_BUILT_IN = "builtin"
_LATE = ("crds", "generators", "validators", "vars")
"""The fields of a Kustomization that run another function, or change objects after all functions."""


def _transformers(tree: Tree, folder: str, kustomization: dict[str, Any]) -> list[Any]:
    """Returns the functions of a layer in their order; None for an entry that is neither a file nor a text, such as a folder."""
    values: list[Any] = []
    for entry in entries(kustomization, "transformers"):
        name = posixpath.normpath(posixpath.join(folder, entry.strip())) if isinstance(entry, str) else ""
        if name and "\n" in entry.strip():
            values += [document.value for document in reader.read(entry)[0]]
        else:
            values += [source.value for source in tree.read(name).sources] if name and tree.is_file(name) else [None]
    return values


def _configurations(tree: Tree, layers: dict[str, dict[str, Any]]) -> Iterator[Source]:
    for folder, layer in layers.items():
        for entry in entries(layer, "configurations"):
            if isinstance(entry, str) and tree.is_file(name := posixpath.normpath(posixpath.join(folder, entry))):
                yield from tree.read(name).sources


def _has_only_dynamo_fields(value: Any) -> bool:
    """Returns true for a list of fields for kustomize in which references are fields of Dynamo kinds, and name objects of other kinds."""
    references = entries(value, "nameReference")
    fields = [entry for reference in references for entry in entries(reference, "fieldSpecs")]
    names = [text(mapping(reference).get("kind")) for reference in references]
    return all(text(mapping(entry).get("kind")).startswith(_DYNAMO) for entry in fields) and not any(
        not name or name.startswith(_DYNAMO) for name in names
    )


_DYNAMO = "Dynamo"


def _layers(tree: Tree, closure: Closure) -> list[str]:
    return [folder for folder, kustomization in closure.folders.items() if _is_layer(tree, folder, kustomization.value)]


def _is_layer(tree: Tree, folder: str, kustomization: dict[str, Any]) -> bool:
    files = [
        source.value
        for entry in entries(kustomization, "transformers")
        if isinstance(entry, str) and tree.is_file(name := posixpath.normpath(posixpath.join(folder, entry.strip())))
        for source in tree.read(name).sources
    ]
    written = [*files, *kustomizations.inline_plugins(kustomization)]
    return any(isinstance(value, dict) and function_config.is_config(results.ref(value)) for value in written)


def _patches(kustomization: Source, built: Sequence[Source]) -> Iterator[Result]:
    """Yields the patches and replacements for kinds of which the function makes all objects."""
    generated = {source.address.kind for source in built if ownership.is_marked(source.value)}
    late = generated - {source.address.kind for source in built if not ownership.is_marked(source.value)}
    targets = [*kustomizations.patch_targets(kustomization)]
    for number, entry in enumerate(entries(kustomization.value, "replacements")):
        for index, target in enumerate(objects(mapping(entry).get("targets"))):
            targets.append((("replacements", number, "targets", index, "select"), mapping(target, "select")))
    for path, target in targets:
        kind = text(target.get("kind"))
        if kind in late:
            what = "replacement" if path[0] == "replacements" else "patch"
            message = f"this {what} changes no {kind}, because krm-fn makes all objects of this kind after it; {AROUND}"
            yield results.warning(codes.PATCH_OF_LATER_OBJECTS, message, **kustomization.location((*path, "kind")))


def _labels(kustomization: Source, built: Sequence[Source]) -> Iterator[Result]:
    """Yields the fields with labels and annotations that no generated object has."""
    generated = [source.value for source in built if ownership.is_marked(source.value)]
    wanted: list[tuple[Path, dict[str, Any], Callable[[Resource], dict[str, Any]]]] = [
        ((name,), mapping(field(kustomization.value, name)), read) for name, read in _COMMON
    ]
    for number, entry in enumerate(objects(field(kustomization.value, "labels"))):
        wanted.append((("labels", number, "pairs"), mapping(entry.get("pairs")), labels.of))
    for path, pairs, read in wanted:
        if pairs and generated and not any(pairs.items() <= read(value).items() for value in generated):
            kind = "annotations" if read is labels.annotations else "labels"
            message = f"these {kind} reach the graph, and none of the objects that the function makes, because it runs after them"
            fix = f"set {kind} in a layer around this one, without includeSelectors, or {kind} of pods in the graph"
            yield results.info(codes.LABELS_REACH_ONLY_GRAPH, f"{message}; {fix}", **kustomization.location(path))


def _images(kustomization: Source, built: Sequence[Source]) -> Iterator[Result]:
    """Yields the images that a v1alpha1 graph still has as they were."""
    graphs = [source.value for source in built if source.value.get("apiVersion") == dynamo_api.V1ALPHA1]
    images = {text(image) for graph in graphs for _, image in paths.find(graph, _OUTSIDE_OF_LISTS)}
    for number, entry in enumerate(objects(field(kustomization.value, "images"))):
        unchanged = sorted(image for image in images if _is_unchanged(image, entry))
        if unchanged:
            message = f"this image stays {unchanged[0]} in the v1alpha1 graph, because kustomize does not know its fields"
            fix = "list the file of `krm-fn schema --for names GRAPH` under configurations of this layer; it has the paths of images"
            yield results.warning(codes.KUSTOMIZE_IMAGE_WITHOUT_EFFECT, f"{message}; {fix}", **kustomization.location(("images", number)))


def _is_unchanged(image: str, entry: dict[str, Any]) -> bool:
    """True if kustomize would change an image with an entry of `images`, and has not done so."""
    name, digest = image.partition("@")[::2]
    last = name.rpartition("/")[2]
    repository, tag = (name.rpartition(":")[::2]) if ":" in last else (name, "")
    new_name, new_tag, new_digest = (text(entry.get(key)) for key in ("newName", "newTag", "digest"))
    is_changed = (not new_name or new_name == repository) and (not new_tag or new_tag == tag) and (not new_digest or new_digest == digest)
    return repository == entry.get("name") and not is_changed
