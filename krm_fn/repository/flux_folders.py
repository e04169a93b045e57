"""Finds the folders that Flux rejects or changes: those with functions, and rendered objects whose variables it replaces.

Flux builds with kustomize as a library, in which plugins are disabled. A folder without a Kustomization gets one with all files and
Kustomizations below it: https://fluxcd.io/flux/components/kustomize/kustomizations/#generate-kustomizationyaml.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from krm_fn.base import codes, results
from krm_fn.base.results import Result, Severity
from krm_fn.render import labels
from krm_fn.render.manifests import ownership
from krm_fn.repository import kustomizations, pipelines
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.pipelines import Delivery
from krm_fn.repository.tree import Tree, entries, field, text_of

_BUILT_IN = "builtin"
"""The API version of the plugins that are a part of kustomize."""
_OF_PODS = re.compile(r"\$\{(?:LWS|GROVE)_[A-Z_]+\}")
"""The variables that LeaderWorkerSet and Grove set in pods."""


def findings(tree: Tree, names: Iterable[str], closures: Mapping[str, Closure]) -> Iterator[Result]:
    """Yields the errors about the folders that Kustomizations of Flux apply.

    `names` are the files of the tree, and `closures` what each Kustomization of kustomize is built from.
    """
    files = list(names)
    sources = [source for name in files for source in tree.read(name).sources]
    repositories = [source for source in sources if pipelines.is_flux_repository(source)]
    of_flux = [source for source in sources if pipelines.is_flux(source)]
    known = {source.address.name for source in repositories}
    folders = {posixpath.dirname(name) or "." for name in files}
    for delivery in pipelines.read([*of_flux, *repositories], folders, tree.at).deliveries:
        severity = _severity(delivery, known)
        if severity != "error" and delivery.folder == ".":
            continue  # every repository has this path
        problems = [*_with_functions(tree, delivery, closures)]
        if field(delivery.source.value, "spec", "postBuild") and delivery.folder not in closures:
            problems += _with_variables(delivery, (source for name in files for source in _generated_sources(tree, name, delivery.folder)))
        yield from (finding._replace(severity=severity) for finding in problems)


def _severity(delivery: Delivery, repositories: Iterable[str]) -> Severity:
    """Returns the severity of a finding: a note if it is not known that the source of a Kustomization is this repository."""
    name = text_of(delivery.source.value, "spec", "sourceRef", "name")
    return "error" if name in ("", pipelines.BOOTSTRAP, *repositories) else "info"


def _with_functions(tree: Tree, delivery: Delivery, closures: Mapping[str, Closure]) -> Iterator[Result]:
    """Yields the error about a folder in which a Kustomization lists a function."""
    for folder in _built_folders(delivery.folder, closures):
        for at, kustomization in closures[folder].folders.items():
            if plugin := next(_plugins(tree, at, kustomization), ""):
                shown = tree.shown(delivery.folder)
                message = (
                    f"Flux runs no functions, so it rejects {shown}: {kustomization.file} lists the function {plugin}; render the folder "
                    "in CI, as examples/flux/render.sh does, and let Flux apply the result"
                )
                location = delivery.source.location(("spec", "path"))
                yield results.error(codes.FLUX_REJECTS_FUNCTION, message, delivery.source.address, ("spec", "path"))._replace(**location)
                return


def _built_folders(folder: str, closures: Mapping[str, Closure]) -> list[str]:
    """Returns the Kustomizations that Flux builds for a folder: its own, otherwise the outermost ones below it."""
    if folder in closures:
        return [folder]
    below = [other for other in closures if folder == "." or other.startswith(f"{folder}/")]
    return [other for other in below if not any(other.startswith(f"{above}/") for above in below)]


def _plugins(tree: Tree, folder: str, kustomization: Source) -> Iterator[str]:
    """Yields the kinds of the plugins of a Kustomization that are not a part of kustomize."""
    values = [*kustomizations.inline_plugins(kustomization.value)]
    for name in kustomizations.PLUGINS:
        for entry in entries(kustomization.value, name):
            if isinstance(entry, str) and "\n" not in entry.strip():
                values += _plugin_values(tree, posixpath.normpath(posixpath.join(folder, entry.strip())))
    for value in values:
        if (ref := results.ref(value) if isinstance(value, dict) else None) and ref.kind and ref.api_version != _BUILT_IN:
            yield f"{ref.kind} {ref.name}"


def _plugin_values(tree: Tree, target: str) -> list[Any]:
    """Returns the resources of a file, or of a folder with a Kustomization."""
    names = kustomizations.closure(tree, target).files if tree.is_folder(target) else [target]
    return [source.value for name in sorted(names) if tree.is_file(name) for source in tree.read(name).sources]


def _generated_sources(tree: Tree, name: str, folder: str) -> list[Source]:
    """Returns the generated objects of a file, if it is below a folder."""
    is_below = folder == "." or name.startswith(f"{folder}/")
    return [source for source in tree.read(name).sources if ownership.is_generated(source.value)] if is_below else []


def _with_variables(delivery: Delivery, objects: Iterable[Source]) -> Iterator[Result]:
    """Yields the errors about objects with a variable of pods that Flux replaces, or does not know."""
    for source in objects:
        variable = _OF_PODS.search(repr(source.value))
        if variable and not labels.is_unsubstituted(source.value):
            message = (
                f"{delivery.by} substitutes variables, so {variable[0]} would not reach the pods; write the annotation "
                f"{labels.FLUX_SUBSTITUTE}: disabled on the graph, and render it again"
            )
            yield results.error(codes.FLUX_REPLACES_VARIABLE, message, source.address, ("metadata", "annotations"))._replace(
                **source.location(("metadata", "annotations"))
            )
