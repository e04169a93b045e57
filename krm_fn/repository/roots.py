"""Finds the roots of a repository: what a pipeline applies as a whole."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.render import dynamo_api, function_config
from krm_fn.render.manifests import ownership
from krm_fn.repository import flux_folders, kustomizations, pipelines
from krm_fn.repository.files import reading, selection
from krm_fn.repository.files.reading import Source
from krm_fn.repository.kustomizations import Closure
from krm_fn.repository.pipelines import Delivery
from krm_fn.repository.tree import KPTFILE, Tree

RootKind = Literal["kustomize", "kpt", "folder"]


class Root(NamedTuple):
    """A root: its folder, how it is built, and why it is a root.

    `namespace` is that of objects without one. `settings` are fields that a pipeline adds to the Kustomization. `files` are those of a
    folder of plain files. `clusters` are the names of the clusters to which pipelines apply it; empty if none is known. `is_delivered`: a
    pipeline names the root.
    """

    folder: str
    kind: RootKind
    reason: str
    namespace: str = ""
    settings: dict[str, Any] = {}
    files: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    is_delivered: bool = False


class TreeRoots(NamedTuple):
    """The roots of a tree, all that each Kustomization is built from, and findings about pipelines.

    `unlisted` are files with Dynamo resources beside a Kustomization that does not list them. `skipped` counts other files by reason.
    `rejected` are the findings about folders that their pipeline rejects or changes, though krm-fn can build them.
    """

    roots: list[Root]
    closures: dict[str, Closure]
    results: list[Result]
    unlisted: list[str]
    skipped: Counter[str]
    rejected: list[Result] = []

    @property
    def unreadable(self) -> set[str]:
        """The folders with a Kustomization that cannot be read."""
        return {folder for folder, closure in self.closures.items() if folder not in closure.folders}


def find(tree: Tree, exclude: Sequence[str] = (), named_roots: Sequence[tuple[str, str]] = ()) -> TreeRoots:
    """Returns the roots of a tree. A Kustomization that another one includes is a root only if a pipeline names it.

    `named_roots` are folders with their namespaces: if there are any, only they are roots.
    """
    skipped: Counter[str] = Counter()
    names = tree.names(exclude, skipped)
    packages = _outermost(posixpath.dirname(name) or "." for name in names if posixpath.basename(name) == KPTFILE)
    built = {posixpath.dirname(name) or "." for name in names if posixpath.basename(name) in selection.KUSTOMIZATIONS}
    closures = {folder: kustomizations.closure(tree, folder) for folder in sorted(built)}
    parts = {name for closure in closures.values() for name in closure.files}
    plain = [name for name in names if not _belongs(name, parts, packages) and not _is_schema(tree, name)]
    named = pipelines.read((source for name in plain for source in tree.read(name).sources), _folders(names), tree.at)
    deliveries: dict[str, list[Delivery]] = {}
    for delivery in named.deliveries if not named_roots else _of_project(named_roots):
        deliveries.setdefault(delivery.folder, []).append(delivery)
    included = {inner for folder in closures for inner in kustomizations.included_folders(tree, folder)}
    roots = [root for folder in closures for root in _kustomize(tree, folder, included, deliveries.get(folder, []))]
    roots += [_root(folder, "kpt", "a kpt package", deliveries.get(folder, [])) for folder in packages]
    unlisted = [name for name in plain if (posixpath.dirname(name) or ".") in closures and tree.read(name).names_dynamo]
    delivered = [folder for folder in deliveries if folder not in closures and folder not in packages]
    roots += _plain(tree, plain, delivered, deliveries, unlisted)
    if named_roots:
        roots = [root for root in roots if root.folder in deliveries and root.reason.startswith(_PROJECT)]
    rejected = list(flux_folders.findings(tree, names, closures))
    return TreeRoots(roots, closures, named.results, unlisted, skipped, rejected)


NOT_INCLUDED = "no other Kustomization includes it"
"""The reason of a root that neither a pipeline nor the project file names."""
_PROJECT = "the project file names it"


def _of_project(named_roots: Sequence[tuple[str, str]]) -> list[Delivery]:
    source = Source({}, "", 0, 0, "")
    return [Delivery(folder, _PROJECT, source, namespace) for folder, namespace in named_roots]


def _belongs(name: str, parts: set[str], packages: Iterable[str]) -> bool:
    """True for a file of a Kustomization or of a kpt package."""
    return name in parts or posixpath.basename(name) in (*selection.KUSTOMIZATIONS, KPTFILE) or any(_is_below(name, at) for at in packages)


def _is_schema(tree: Tree, name: str) -> bool:
    """True for a file that `krm-fn schema` wrote for an editor or for kustomize, which many overlays have as a copy."""
    sources = tree.read(name).sources
    return bool(sources) and all(reading.is_tool_schema(source.value) for source in sources)


def _is_below(name: str, folder: str) -> bool:
    return folder == "." or name.startswith(f"{folder}/")


def _outermost(folders: Iterable[str]) -> list[str]:
    ordered = sorted(set(folders), key=lambda folder: (folder != ".", folder.count("/")))
    outermost: list[str] = []
    for folder in ordered:
        if not any(_is_below(folder, above) for above in outermost):
            outermost.append(folder)
    return sorted(outermost)


def _folders(names: Iterable[str]) -> set[str]:
    return {posixpath.dirname(name) or "." for name in names}


def _kustomize(tree: Tree, folder: str, included: Collection[str], deliveries: Sequence[Delivery]) -> list[Root]:
    """Returns the roots in the folder of a Kustomization. `included` are the folders that another Kustomization includes."""
    if deliveries:
        return [_delivered_root(folder, "kustomize", applied) for applied in _distinct(deliveries)]
    kustomization = tree.kustomization(folder)
    if folder in included or (kustomization and kustomizations.is_component(kustomization)):
        return []
    return [_root(folder, "kustomize", NOT_INCLUDED, ())]


class _Applied(NamedTuple):
    """A delivery, and the clusters of all deliveries that build the same."""

    delivery: Delivery
    clusters: tuple[str, ...]


def _distinct(deliveries: Sequence[Delivery]) -> list[_Applied]:
    """Returns the deliveries of one folder that build different objects, each with its clusters."""
    alike: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        alike.setdefault(repr((delivery.namespace, delivery.settings)), []).append(delivery)
    return [_Applied(group[0], tuple(sorted({entry.cluster for entry in group if entry.cluster}))) for group in alike.values()]


def _root(folder: str, kind: RootKind, reason: str, deliveries: Sequence[Delivery]) -> Root:
    if not deliveries:
        return Root(folder, kind, reason)
    return _delivered_root(folder, kind, _distinct(deliveries)[0])


def _delivered_root(folder: str, kind: RootKind, applied: _Applied) -> Root:
    delivery = applied.delivery
    return Root(folder, kind, delivery.by, delivery.namespace, delivery.settings, clusters=applied.clusters, is_delivered=True)


def _plain(
    tree: Tree, names: Sequence[str], delivered: Sequence[str], deliveries: dict[str, list[Delivery]], unlisted: Sequence[str]
) -> list[Root]:
    """Returns the roots of plain files.

    They are the folders that pipelines name, and folders with a configuration, from the innermost one. All other files are one root, or
    one for each folder if several folders have the same object.
    """
    left_out = {*unlisted}
    remaining = [name for name in names if name not in left_out]
    configured = {posixpath.dirname(name) or "." for name in remaining if any(_is_config(source) for source in tree.read(name).sources)}
    roots: list[Root] = []
    for folder in sorted({*delivered, *configured}, key=lambda name: (name == ".", -name.count("/"), name)):
        files = tuple(name for name in remaining if _is_below(name, folder))
        remaining = [name for name in remaining if not _is_below(name, folder)]
        by = _distinct(deliveries.get(folder, []))
        if files:
            roots += [_delivered_root(folder, "folder", applied)._replace(files=files) for applied in by]
            roots += [Root(folder, "folder", "a folder with a configuration", files=files)] * (not by)
    rest = [Root(folder, "folder", "plain files", files=files) for folder, files in _without_copies(tree, tree.at, remaining)]
    return [*sorted(roots, key=lambda root: root.folder), *rest]


def _without_copies(tree: Tree, folder: str, names: Sequence[str], shared: Sequence[str] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields folders with their files. A folder is divided if two of its folders have the same graph, because a cluster has it once.

    This divides a branch of rendered manifests: each cluster has a folder there, and no pipeline is in the repository. Folders without such
    a graph, and the files `shared`, belong to each cluster.
    """
    copied = _copied_files(tree, names)
    if not copied:
        yield from [(folder, (*shared, *names))] if names else []
        return
    parts: dict[str, list[str]] = {}
    for name in names:
        first, is_deeper, _ = posixpath.relpath(name, folder).partition("/")
        parts.setdefault(posixpath.normpath(posixpath.join(folder, first)) if is_deeper else folder, []).append(name)
    divided = [part for part, inside in parts.items() if not copied.isdisjoint(inside)]
    shared = [*shared, *(name for part, inside in parts.items() if part not in divided for name in inside)]
    for part in divided:
        yield from [(folder, (*shared, *parts[part]))] if part == folder else _without_copies(tree, part, parts[part], shared)


def _copied_files(tree: Tree, names: Iterable[str]) -> set[str]:
    """Returns the files with a Dynamo resource, or an object made of one, that is in another folder too.

    A committed render is no copy of its source.
    """
    files: dict[tuple[ObjectKey, bool], dict[str, str]] = {}
    sources = {name: [source.value for source in tree.read(name).sources if source.address.kind and source.address.name] for name in names}
    renders = {posixpath.dirname(name) for name, values in sources.items() if any(map(ownership.is_generated, values))}
    for name, values in sources.items():
        at = posixpath.dirname(name)
        for value in values:
            if dynamo_api.is_dynamo(value) or ownership.is_generated(value):
                files.setdefault((identity.key(value), at in renders), {})[name] = at
    return {name for folders in files.values() if len(set(folders.values())) > 1 for name in folders}


def _is_config(source: Source) -> bool:
    return function_config.is_config(source.address)
