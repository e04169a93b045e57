"""Warns of monitors that scrape nothing of a graph: their port, their path or their namespace is wrong, and Prometheus reports no error.

A monitor names a port by its name (Prometheus operator: `PodMetricsEndpoint.port` and `Endpoint.port`), and selects pods or Services of its
own namespace, unless it has a `namespaceSelector`. Dynamo's servers answer with metrics on /metrics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from krm_fn.base import codes, results, spelling
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.api_server import label_selectors
from krm_fn.kubernetes.references import selector_fields
from krm_fn.kubernetes.references.selector_fields import EVERYWHERE, ObjectSelector
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping, name_of, objects, text
from krm_fn.render import labels
from krm_fn.render.config import Config
from krm_fn.render.manifests import ownership
from krm_fn.render.resolve import cluster
from krm_fn.review import pods

_OF_DYNAMO = ("system", "http")
"""The ports of Dynamo's servers with metrics: that of workers, and that of frontends."""
_METRICS, _OTHER_PATHS = "/metrics", ("metrics", "/", "/prometheus", "/health")
"""The path of the metrics of Dynamo's servers, and others that people write."""
_ENDPOINTS = {"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}


class _Selectable(NamedTuple):
    """The labels of the pods of a template, or of a Service, and the names of their ports."""

    labels: dict[str, Any]
    ports: tuple[str, ...]
    is_generated: bool
    namespace: str


def check(resources: Sequence[Resource], rendered: Iterable[Resource], config: Config) -> Iterator[Result]:
    """Yields a warning for each port that nothing has which a monitor selects. `rendered` are the resources after a render."""
    monitors = [(resource, selector) for resource in resources for selector in _selectors(resource)]
    default = cluster.default_namespace(config)
    by_label: dict[tuple[str, str, str, str], list[_Selectable]] = {}
    for resource in rendered if monitors else ():
        for kind, selectable in _selectables(resource, identity.key(resource, default).namespace):
            for namespace in (selectable.namespace, EVERYWHERE):
                for label, value in selectable.labels.items():
                    by_label.setdefault((kind, namespace, label, f"{value}"), []).append(selectable)
    for monitor, selector in monitors:
        namespaces = selector.namespaces or (identity.key(monitor, default).namespace,)
        selected = _selected_objects(selector, namespaces, by_label)
        if selected and all(item.is_generated for item in selected):
            yield from _check(monitor, selected, "Service" if selector.field.selects == "Service" else "pod")
        elif not selected and not selector.namespaces and labels.GRAPH in selector.labels:
            yield from _check_namespace(monitor, {item.namespace for item in _selected_objects(selector, (EVERYWHERE,), by_label)})


def _selected_objects(
    selector: ObjectSelector, namespaces: Iterable[str], by_label: Mapping[tuple[str, str, str, str], Sequence[_Selectable]]
) -> list[_Selectable]:
    """Returns what a selector selects in some namespaces."""
    lists = [
        [item for namespace in namespaces for item in by_label.get((selector.field.selects, namespace, label, value), ())]
        for label, value in selector.labels.items()
    ]
    wanted = {"matchLabels": selector.labels, "matchExpressions": [*selector.expressions]}
    return [item for item in min(lists, key=len, default=[]) if label_selectors.matches(wanted, item.labels)]


def _check_namespace(monitor: Resource, others: Collection[str]) -> Iterator[Result]:
    """Finds a monitor whose graph is in another namespace."""
    if len(others) == 1:
        (other,) = others
        message = f"the pods that this monitor means are in namespace {other}, and it selects those of its own one"
        fix = f"add namespaceSelector: {{matchNames: [{other}]}} to spec"
        yield results.warning(codes.MONITOR_SCRAPES_NOTHING, f"{message}; {fix}", results.ref(monitor), ("spec", "selector"))


def _selectors(resource: Resource) -> Iterator[ObjectSelector]:
    if results.ref(resource).kind in _ENDPOINTS and not ownership.is_marked(resource):
        yield from selector_fields.of(resource)


def _selectables(resource: Resource, namespace: str) -> Iterator[tuple[str, _Selectable]]:
    is_generated = ownership.is_marked(resource)
    if results.ref(resource)[:2] == ("v1", "Service"):
        names = tuple(map(name_of, objects(mapping(resource, "spec").get("ports"))))
        yield "Service", _Selectable(labels.of(resource), names, is_generated, namespace)
    for template in pods.of(resource):
        containers = (*objects(template.spec.get("containers")), *objects(template.spec.get("initContainers")))
        names = tuple(name_of(port) for container in containers for port in objects(container.get("ports")))
        yield "Pod", _Selectable(template.labels, names, is_generated, namespace)


def _check(monitor: Resource, selected: Sequence[_Selectable], kind: str) -> Iterator[Result]:
    field = _ENDPOINTS[results.ref(monitor).kind]
    known = dict.fromkeys(name for item in selected for name in item.ports if name)
    in_all = [name for name in known if all(name in item.ports for item in selected)]
    for index, endpoint in enumerate(objects(mapping(monitor, "spec").get(field))):
        port = text(endpoint.get("port"))
        if port and known and port not in known:
            of_dynamo = [name for name in _OF_DYNAMO if name in in_all]
            near = spelling.nearest_name(port, known) or next(iter(of_dynamo or (in_all if len(in_all) == 1 else ())), "")
            fix = f"write {near}" if near else f"write one of {', '.join(known)}"
            message = f"no {kind} that this monitor selects has a port {port}, so it scrapes nothing; {fix}"
            path = ("spec", field, index, "port")
            yield results.warning(codes.MONITOR_SCRAPES_NOTHING, message, results.ref(monitor), path, current=port, proposed=near or None)
        folder = text(endpoint.get("path"))
        if port in _OF_DYNAMO and (spelling.is_slip(folder, _METRICS, "/-_") or folder in _OTHER_PATHS):
            message = f"Dynamo's servers have no metrics at {folder}, so this monitor scrapes nothing; write {_METRICS}"
            path = ("spec", field, index, "path")
            yield results.warning(codes.MONITOR_SCRAPES_NOTHING, message, results.ref(monitor), path, current=folder, proposed=_METRICS)
