"""Reads which folders of a repository the pipelines in it apply: Argo CD Applications and ApplicationSets, and Kustomizations of Flux.

References: https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml and
https://fluxcd.io/flux/components/kustomize/kustomizations/.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes import paths
from krm_fn.repository import destinations
from krm_fn.repository.files.reading import Source
from krm_fn.repository.tree import entries, field, text_of

_ARGO, _FLUX, _FLUX_SOURCE = "argoproj.io/", "kustomize.toolkit.fluxcd.io/", "source.toolkit.fluxcd.io/"
_TEMPLATE = re.compile(r"\{\{(?:[^{}\n]|[{}](?![{}]))*\}\}")
_SETTINGS = ("namePrefix", "nameSuffix", "namespace", "patches", "components")
"""The fields with which both tools change a Kustomization, and which kustomize has under the same names."""
_ELSEWHERE = ("commonAnnotations", "commonLabels", "commonMetadata", "images", "replicas")
_VALUES = "postBuild"
BOOTSTRAP = "flux-system"
"""The name of the source that `flux bootstrap` writes."""
_MAIN = ("", "main", "master")
_OTHER_COMMITS = ("tag", "semver", "name", "commit")
"""The fields of `ref` that name no branch."""
_OWN_SERVER, _OWN_CLUSTER = "https://kubernetes.default.svc", "in-cluster"
"""The address of the cluster in which Argo CD runs, and the name that Argo CD gives to it."""
_BASENAME = re.compile(r"\{\{\s*\.?path\.basename\s*\}\}")
_SEGMENT = re.compile(r"\{\{\s*(?:index\s+\.path\.segments\s+|path\[)([0-9]{1,3})\]?\s*\}\}")
"""The last name of a folder, and one of its names, with and without Go templates."""


class Delivery(NamedTuple):
    """A folder that a pipeline applies. `by` names the pipeline, `source` is its resource.

    `namespace` is that of objects without one. `settings` are fields that the pipeline adds to the Kustomization. `unknown` are settings of
    the pipeline that krm-fn does not apply. `cluster` is the name of the cluster; empty if it is not known.
    """

    folder: str
    by: str
    source: Source
    namespace: str = ""
    settings: dict[str, Any] = {}
    unknown: tuple[Path, ...] = ()
    cluster: str = ""


class Deliveries(NamedTuple):
    """The folders that pipelines apply, and findings about pipelines that krm-fn cannot follow."""

    deliveries: list[Delivery]
    results: list[Result]


def read(sources: Iterable[Source], folders: Iterable[str], at: str = ".") -> Deliveries:
    """Returns the folders that the pipelines among the resources apply. `folders` are all folders of the repository with resources.

    A path with an expression of an ApplicationSet stands for each folder that it can name. Paths begin at the top of the repository; a path
    that does not exist there begins at the folder `at`.
    """
    known, found = sorted(set(folders)), Deliveries([], [])
    resources = [*sources]
    repositories = [source for source in resources if is_flux_repository(source)]
    for source in resources:
        for delivery in _of_source(source):
            matching = _matching(delivery, source, known, ".") or _matching(delivery, source, known, at)
            if is_elsewhere := is_flux(source) and _is_elsewhere(source, repositories):
                matching = []
            problem = _problem(delivery, matching, is_elsewhere=is_elsewhere)
            if problem:
                found.results.append(results.info(codes.PIPELINE_PARTLY_KNOWN, problem, source.address, **source.location()))
            for folder in matching:
                found.deliveries.append(
                    delivery._replace(
                        folder=folder,
                        namespace=_known_text(_fill_text(delivery.namespace, folder)),
                        cluster=_fill_text(delivery.cluster, folder),
                    )
                )
    return found


def is_flux(source: Source) -> bool:
    """True for a Kustomization of Flux."""
    return source.address.api_version.startswith(_FLUX) and source.address.kind == "Kustomization"


def is_flux_repository(source: Source) -> bool:
    """True for a git repository that Flux fetches."""
    return source.address.api_version.startswith(_FLUX_SOURCE) and source.address.kind == "GitRepository"


def _is_elsewhere(kustomization: Source, repositories: Iterable[Source]) -> bool:
    """True if the source of a Kustomization of Flux is known to be another repository, or another branch than the one with these files.

    The source that `flux bootstrap` writes is this repository. Rendered objects are often on another branch, with the same folders.
    """
    reference = field(kustomization.value, "spec", "sourceRef")
    namespace = text_of(reference, "namespace") or kustomization.address.namespace
    by_name = {source.address.name: field(source.value, "spec") for source in repositories if namespace in ("", source.address.namespace)}
    source, own = by_name.get(name := text_of(reference, "name")), by_name.get(BOOTSTRAP)
    if source is None or name == BOOTSTRAP:
        return False
    is_other_commit = any(field(source, "ref", kind) for kind in _OTHER_COMMITS)
    is_other_branch = text_of(source, "ref", "branch") not in (*_MAIN, text_of(own, "ref", "branch"))
    return is_other_commit or is_other_branch or (own is not None and _repository(source) != _repository(own))


def _repository(source: Any) -> list[str]:
    """Returns the owner and the name in the URL of a git repository, which are the same with SSH and with HTTPS."""
    return re.split(r"[/:]", text_of(source, "url").removesuffix("/").removesuffix(".git"))[-2:]


def _of_source(source: Source) -> Iterator[Delivery]:
    address = source.address
    if address.api_version.startswith(_ARGO) and address.kind in ("Application", "ApplicationSet"):
        base: Path = ("spec",) if address.kind == "Application" else ("spec", "template", "spec")
        yield from _argo(source, base)
    elif is_flux(source):
        yield _flux(source)


def _argo(source: Source, base: Path) -> Iterator[Delivery]:
    spec, by = field(source.value, *map(str, base)), f"Argo CD {source.address.kind} {source.address.name}"
    namespace = text_of(spec, "destination", "namespace")
    server = text_of(spec, "destination", "name") or text_of(spec, "destination", "server")
    cluster = _OWN_CLUSTER if server == _OWN_SERVER else server
    single = field(spec, "source")
    for entry in entries(spec, "sources") or ([single] if single else []):
        if not text_of(entry, "path"):
            continue
        settings = _pick_settings(field(entry, "kustomize"))
        unknown = [name for name in _ELSEWHERE if field(entry, "kustomize", name)] + ["helm"] * bool(field(entry, "helm"))
        yield Delivery(text_of(entry, "path"), by, source, namespace, settings, tuple((*base, "source", name) for name in unknown), cluster)


def _flux(source: Source) -> Delivery:
    spec, by = field(source.value, "spec"), f"Flux Kustomization {source.address.name}"
    namespace = text_of(spec, "targetNamespace")
    settings = {**_pick_settings(spec), **({"namespace": namespace} if namespace else {})}
    unknown = tuple(("spec", name) for name in (*_ELSEWHERE, _VALUES) if field(spec, name))
    folder = text_of(spec, "path") or "."
    if text_of(spec, "sourceRef", "kind") not in ("", "GitRepository"):
        folder = ""
    secret = text_of(spec, "kubeConfig", "secretRef", "name") or text_of(spec, "kubeConfig", "configMapRef", "name")
    return Delivery(folder, by, source, namespace, settings, unknown, secret or destinations.of_path(posixpath.dirname(source.file)))


def _pick_settings(fields: Any) -> dict[str, Any]:
    return {name: field(fields, name) for name in _SETTINGS if field(fields, name)}


def _matching(delivery: Delivery, source: Source, folders: list[str], at: str) -> list[str]:
    """Returns the folders that the path of a pipeline names, and that are in the repository."""
    if not delivery.folder:
        return []
    written = posixpath.normpath(delivery.folder.lstrip("/") or ".")
    path = posixpath.normpath(posixpath.join(at, written))
    if not _TEMPLATE.search(path):
        return [path] if path == "." or any(folder == path or folder.startswith(f"{path}/") for folder in folders) else []
    globs = list(_directories(source.value)) if _TEMPLATE.fullmatch(written) else [_TEMPLATE.sub("*", written)]
    present = sorted({above for folder in folders for above in _with_parents(folder)})
    chosen = [folder for folder in present if any(_same_depth(folder, glob) for glob, excluded in _flags(globs, at) if not excluded)]
    return [folder for folder in chosen if not any(_same_depth(folder, glob) for glob, excluded in _flags(globs, at) if excluded)]


def _flags(globs: list[Any], at: str) -> Iterator[tuple[str, bool]]:
    """Yields the globs of folders, each with a flag that says if it excludes the folders."""
    for glob in globs:
        path = glob if isinstance(glob, str) else text_of(glob, "path")
        yield posixpath.normpath(posixpath.join(at, path)), not isinstance(glob, str) and field(glob, "exclude") is True


def _same_depth(folder: str, glob: str) -> bool:
    return folder.count("/") == glob.count("/") and fnmatchcase(folder, glob)


def _directories(value: Any) -> Iterator[Any]:
    """Yields the entries of `directories` of git generators, also inside of other generators."""
    for inner in paths.walk_values(value):
        yield from entries(inner, "git", "directories") if isinstance(inner, dict) else ()


def _with_parents(folder: str) -> Iterator[str]:
    while folder and folder != ".":
        yield folder
        folder = posixpath.dirname(folder)


def _fill_text(text: str, folder: str) -> str:
    """Returns a text of an ApplicationSet with the names of the folder in it."""
    steps = folder.split("/")
    text = _BASENAME.sub(posixpath.basename(folder), text)
    return _SEGMENT.sub(lambda match: steps[int(match[1])] if int(match[1]) < len(steps) else match[0], text)


def _known_text(text: str) -> str:
    """Returns a text; empty if it depends on something else than the folder."""
    return "" if _TEMPLATE.search(text) else text


def _problem(delivery: Delivery, matching: list[str], *, is_elsewhere: bool) -> str:
    """Returns what krm-fn does not know about a pipeline; empty if it knows all."""
    if not delivery.folder:
        return f"{delivery.by} applies an artifact and not a folder of the repository; krm-fn judges the folders that it is built from"
    if is_elsewhere:
        return f"{delivery.by} applies {delivery.folder} of another branch or repository, so krm-fn does not judge it; check it where it is"
    if not matching:
        return f"{delivery.by} applies {delivery.folder}, which is not in these files; check it where it is"
    if delivery.unknown:
        names = ", ".join(results.field(path) for path in delivery.unknown)
        return f"{delivery.by} changes the objects by {names}, which krm-fn does not apply; check the objects of the pipeline too"
    return ""
