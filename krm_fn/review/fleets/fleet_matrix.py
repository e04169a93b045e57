"""Compares the clusters of a fleet: which settings, fields and objects differ between them.

A graph has the same name in all clusters, and may have another namespace in each. The fields of its source and the settings of its render
explain most differences of its objects: a second render of each cluster with its own source and settings shows which ones they do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Path
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from krm_fn.render.convert import versions
from krm_fn.render.schema import object_changes
from krm_fn.review.diff import diff_report
from krm_fn.review.fleets import effective_settings, fleet_clusters, resource_matrix
from krm_fn.review.fleets.fleet_clusters import ClusterGraph, FleetCluster
from krm_fn.review.fleets.resource_matrix import MatrixRow

_Value = TypeVar("_Value")
CONFIGURATION = "Configuration"
_SETTINGS = {"image": "image", "replicas": "replicas", "schedulerName": "scheduler"}
"""The last steps of fields whose values are also effective settings, and the word in the names of these settings."""


class MatrixSection(NamedTuple):
    """The rows of one resource, or of several resources that differ in the same way."""

    titles: tuple[str, ...]
    rows: tuple[MatrixRow, ...]

    def columns(self) -> list[tuple[int, ...]]:
        """Returns the numbers of the clusters in each column: clusters with equal values in all rows share one."""
        columns: dict[tuple[int, ...], list[int]] = {}
        for number, values in enumerate(zip(*(row.alike for row in self.rows), strict=True)):
            columns.setdefault(values, []).append(number)
        return [tuple(numbers) for numbers in columns.values()]


class FleetMatrix(NamedTuple):
    """The sections that differ: the configuration, then Dynamo resources, then other objects.

    `resources` counts the compared Dynamo resources, and `differing` those that differ. `explained` counts the rows of generated objects
    that are left out, because settings or fields of their graph explain them.
    """

    clusters: tuple[str, ...]
    sections: tuple[MatrixSection, ...]
    resources: int
    differing: int
    explained: int

    @property
    def differs(self) -> bool:
        """True if anything differs between the clusters."""
        return bool(self.sections or self.differing)


def compare(clusters: Sequence[FleetCluster], *, with_objects: bool = False) -> FleetMatrix:
    """Compares at least two clusters. `with_objects` keeps all rows of generated objects. Secret values are hidden."""
    configuration = resource_matrix.compare([cluster.settings() for cluster in clusters])
    sections = [MatrixSection((CONFIGURATION,), tuple(configuration))] if configuration else []
    graphs = _align_values([cluster.graphs for cluster in clusters])
    differing, explained = 0, 0
    for key, entries in graphs:
        rows, objects = _graph_rows(entries, key.namespace)
        shown = [row for row, is_explained in objects if with_objects or not is_explained]
        explained += len(objects) - len(shown)
        differing += bool(rows or objects)
        if rows or shown:
            sections.append(MatrixSection((diff_report.object_name(key),), (*rows, *shown)))
    for key, resources in _align_values([cluster.others for cluster in clusters]):
        if rows := resource_matrix.compare(resources):
            sections.append(MatrixSection((diff_report.object_name(key),), tuple(rows)))
    names = tuple(cluster.name for cluster in clusters)
    return FleetMatrix(names, tuple(_join_sections(sections)), len(graphs), differing, explained)


def _align_values(maps: Sequence[dict[ObjectKey, _Value]]) -> list[tuple[ObjectKey, list[_Value | None]]]:
    """Returns the values of each key in all clusters, in the order of the keys.

    Clusters may use different namespaces. The namespace decides only for a name that one cluster has in several namespaces. In the
    result, the namespace of a key is empty if it differs.
    """
    counts = [Counter(key._replace(namespace="") for key in values) for values in maps]
    several = {key for count in counts for key, number in count.items() if number > 1}
    aligned: dict[ObjectKey, list[_Value | None]] = {}
    namespaces: dict[ObjectKey, set[str]] = {}
    for number, values in enumerate(maps):
        for key, value in values.items():
            common = key._replace(namespace="")
            common = key if common in several else common
            aligned.setdefault(common, [None] * len(maps))[number] = value
            namespaces.setdefault(common, set()).add(key.namespace)
    named = ((key._replace(namespace=min(namespaces[key]) if len(namespaces[key]) == 1 else ""), aligned[key]) for key in aligned)
    return sorted(named, key=lambda entry: (entry[0].kind, entry[0].namespace, entry[0].name, entry[0].group))


def _graph_rows(graphs: Sequence[ClusterGraph | None], namespace: str) -> tuple[list[MatrixRow], list[tuple[MatrixRow, bool]]]:
    """Returns the rows of settings and fields of a graph, and those of its objects, each with true if the others explain it."""
    first = graphs[0]
    if first and all(graph and graph[:2] == first[:2] and graph.objects == first.objects for graph in graphs):
        return [], []
    settings = [effective_settings.read(graph, namespace) if graph else None for graph in graphs]
    names = list(dict.fromkeys(name for graph_settings in settings for name in graph_settings or ()))
    rows = resource_matrix.differences(names, settings)
    fields = resource_matrix.compare(_sources(graphs))
    covered = {(word, repr(row.values)) for row in rows for word in row.label.split()}
    remaining = [row for row in fields if not row.names or (_SETTINGS.get(f"{row.names[-1]}"), repr(row.values)) not in covered]
    presence = [row for row in remaining if not row.names]
    return [*presence, *rows, *(row for row in remaining if row.names)], [*_object_rows(graphs)]


def _sources(graphs: Sequence[ClusterGraph | None]) -> list[Resource | None]:
    """Returns the sources, all in one API version."""
    sources = [graph.source if graph else None for graph in graphs]
    if len({source["apiVersion"] for source in sources if source}) == 1:
        return sources
    return [source and versions.to(dynamo_api.BETA1, source) for source in sources]


def _object_rows(graphs: Sequence[ClusterGraph | None]) -> Iterator[tuple[MatrixRow, bool]]:
    """Yields the rows of the objects of a graph in the clusters that have the graph, each with true if it is explained."""
    present = [graph for graph in graphs if graph]
    maps = [{fleet_clusters.object_name(resource): resource for resource in graph.objects} for graph in present]
    unexplained: dict[tuple[str, str], list[Path]] | None = None
    for name in dict.fromkeys(name for objects in maps for name in objects):
        by_graph = iter([objects.get(name) for objects in maps])
        rows = resource_matrix.compare([next(by_graph) if graph else None for graph in graphs], " ".join(name))
        rows = [row for row in rows if len({number for number, graph in zip(row.alike, graphs, strict=True) if graph}) > 1]
        if rows and unexplained is None:
            unexplained = _unexplained_fields(present, maps)
        for row in rows:
            others = (unexplained or {}).get(name, ())
            yield row, not any(row.names[: len(path)] == path or path[: len(row.names)] == row.names for path in others)


def _unexplained_fields(
    graphs: Sequence[ClusterGraph], maps: Sequence[dict[tuple[str, str], Resource]]
) -> dict[tuple[str, str], list[Path]]:
    """Returns the fields of objects that differ from a second render in some cluster; the empty path for an object as a whole."""
    fields: dict[tuple[str, str], list[Path]] = {}
    checked: list[tuple[ClusterGraph, dict[tuple[str, str], Resource]]] = []
    for graph, objects in zip(graphs, maps, strict=True):
        if not graph.is_built or any(graph == other and objects == known for other, known in checked):
            continue
        checked.append((graph, objects))
        rendered = {fleet_clusters.object_name(resource): resource for resource in graph.render_again()}
        for name in (*objects, *(name for name in rendered if name not in objects)):
            if name in objects and name in rendered:
                changes = object_changes.between(rendered[name], objects[name])
                fields.setdefault(name, []).extend(change.names for change in changes)
            else:
                fields.setdefault(name, []).append(())
    return fields


def _join_sections(sections: Sequence[MatrixSection]) -> Iterator[MatrixSection]:
    """Yields the sections; resources with the same rows share one."""
    titles: dict[str, list[str]] = {}
    by_rows: dict[str, MatrixSection] = {}
    for section in sections:
        key = repr(section.rows)
        titles.setdefault(key, []).extend(section.titles)
        by_rows.setdefault(key, section)
    yield from (section._replace(titles=tuple(titles[key])) for key, section in by_rows.items())
