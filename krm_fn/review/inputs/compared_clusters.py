"""Loads each cluster of a fleet for `krm-fn diff --across`, and compares them. The rules are in `krm_fn.review.fleets`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from krm_fn.base import codes, report, results
from krm_fn.base.results import Result
from krm_fn.render.expand import KnownItems
from krm_fn.repository.files import reading
from krm_fn.repository.roots import Root
from krm_fn.repository.states import RepositoryFiles, RootFiles
from krm_fn.review.diff import rendered_state
from krm_fn.review.fleets import fleet_clusters, fleet_matrix
from krm_fn.review.fleets.fleet_clusters import FleetCluster
from krm_fn.review.fleets.fleet_matrix import FleetMatrix
from krm_fn.review.inputs import InputError, Inputs, cluster_discovery, repository_states


class _LoadedCluster(NamedTuple):
    """A cluster, or None if it cannot be built, and the findings about it."""

    cluster: FleetCluster | None
    results: list[Result]
    lines: list[str]


class ComparedClusters(NamedTuple):
    """What differs between clusters, the findings about them, and one line for each root, which says how it was read."""

    matrix: FleetMatrix
    results: list[Result]
    lines: list[str]


def compare(given: Inputs, *, with_objects: bool) -> ComparedClusters:
    """Compares the clusters of a fleet: each path is one. `with_objects`: with all fields of generated objects.

    Raises InputError for fewer than two clusters.
    """
    paths = list({os.path.normpath(path): path for path in given.paths}.values())
    if len(paths) < 2 or reading.STDIN in paths:
        raise InputError(
            "--across compares the folders or rendered files of at least two clusters; for example: krm-fn diff --across clusters/*", None
        )
    loaded = _load(given._replace(paths=tuple(paths)), _names(paths))
    matrix = fleet_matrix.compare([entry.cluster for entry in loaded if entry.cluster], with_objects=with_objects)
    findings = [finding for entry in loaded for finding in entry.results]
    return ComparedClusters(matrix, findings, [line for entry in loaded for line in entry.lines])


def _names(paths: Sequence[str]) -> list[str]:
    """Returns the parts of the paths in which they differ.

    >>> _names(["clusters/a/prod", "clusters/b/prod"]), _names(["a", "a/b"])
    (['a', 'b'], ['a', 'a/b'])
    """
    parts = [Path(path).parts for path in paths]
    first, last = _common(parts), _common([part[::-1] for part in parts])
    names = ["/".join(part[first : max(first, len(part) - last)]) for part in parts]
    return names if all(names) and len(set(names)) == len(names) else [*paths]


def _common(parts: Sequence[tuple[str, ...]]) -> int:
    """Returns the number of parts with which all paths begin."""
    return next((number for number, steps in enumerate(zip(*parts, strict=False)) if len(set(steps)) > 1), min(map(len, parts)))


def _load(given: Inputs, names: Sequence[str]) -> list[_LoadedCluster]:
    """Loads all clusters. Equal resources of several clusters are rendered once."""
    repositories = repository_states.read_several(given)
    known = KnownItems()
    loaded = []
    for path, name in zip(given.paths, names, strict=True):
        if path in repositories:
            state = repositories[path]
        else:
            root = RootFiles(Root(path, "folder", ""), path, path, "", given.of_path(path).load())
            state = RepositoryFiles([root], [])
        loaded.append(_cluster(name, state, known))
    return loaded


def _cluster(name: str, state: RepositoryFiles, known: KnownItems) -> _LoadedCluster:
    """Renders the roots of a cluster."""
    parts = [root.sources for root in state.roots]
    states = [rendered_state.render(part.values, part.config, part.settings_value, part.results, known) for part in parts]
    about = [finding for part, rendered in zip(parts, states, strict=True) for finding in part.locate(rendered.findings)]
    about += cluster_discovery.check_cluster(state.roots)
    lines = [root.line for root in state.roots if root.how]
    is_known = all(root.is_known for root in state.roots) and not any(rendered.failed or rendered.is_partial for rendered in states)
    if is_known:
        return _LoadedCluster(fleet_clusters.read(name, states), [*state.results, *about], lines)
    message = f"the cluster {report.visible(name)} cannot be built, so it is not compared; repair the errors about its files"
    return _LoadedCluster(None, [*state.results, *about, results.error(codes.CLUSTER_NOT_COMPARED, message)], lines)
