"""The Dynamo resources of an input with the status that they should have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from krm_fn import expand, results
from krm_fn.cli import _requests, _status_table
from krm_fn.kube import identity, labels
from krm_fn.schema import sentences
from krm_fn.status import adapter, component, endpoints, graph, model, models, request, requests, subject
from krm_fn.status.base_models import BaseModels
from krm_fn.status.children import Children
from krm_fn.status.features import Features

if TYPE_CHECKING:
    from collections.abc import Container

    from krm_fn.cli._status_table import Row
    from krm_fn.files.sources import Sources
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result
    from krm_fn.status.models import Model
    from krm_fn.status.requests import Request
    from krm_fn.status.subject import Subject

_FEATURES = Features(pods=True, restarts=True, requests=True, auto_apply=True, models=True, loras=True)
"""The input tells what is known: pods count if they are in it."""
_INTERNAL = "DYN019"
_REFUSED = {*sentences.SENTENCES, "DYN022", "DYN025", "DYN026"} - {"DYN101", "DYN102", "DYN145", "DYN205"}
"""Codes of rules that the operator checks, too. It then writes the status `ValidationFailed`. The last four are rules of a render only."""


class Judged:
    """The Dynamo resources of the input, and the findings about them."""

    def __init__(self, loaded: Sources) -> None:
        self.results: list[Result] = []
        self._loaded = loaded
        self._children = Children.of(loaded.values, loaded.home)
        self._now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._resources = [resource for resource in loaded.values if identity.is_dynamo(resource)]
        self.subjects = [self._read(resource) for resource in self._resources]
        self._graphs = {each.key: each for each in self.subjects if each.key.kind == subject.GRAPH}
        for each in self.subjects:
            self._children.enlist(each)
        self._requests = {read.key: read for read in map(self._request, self._of(identity.REQUEST))}
        self._models = {read.key: read for read in (models.read(each, loaded.home) for each in self._of(models.KIND))}
        self._around = _requests.Around(loaded.values, loaded.home)
        self._slices = any(resource.get("kind") == endpoints.KIND for resource in loaded.values)
        self._base_models = BaseModels.of(loaded.values, loaded.home)

    def resources(self) -> list[Resource]:
        """The Dynamo resources with their status."""
        pairs = zip(self._resources, self.subjects, strict=True)
        return [_with_status(resource, self._status(each)) for resource, each in pairs]

    def table(self) -> str:
        """The workloads of graphs and of components without a graph, the requests, and the models."""
        rows = [row for each in self.subjects for row in self._rows(each)]
        asked = [_status_table.request(each, self._request_status(each)) for each in self._requests.values()]
        served = [_status_table.model(each, self._model_status(each)) for each in self._models.values()]
        return _status_table.text(rows, asked, served)

    def _of(self, kind: str) -> list[Resource]:
        """The Dynamo resources of one kind."""
        return [each for each in self._resources if each.get("kind") == kind]

    def _read(self, resource: Resource) -> Subject:
        """One resource, with the annotations of a render if it has none."""
        read = subject.read(resource, self._loaded.home)
        if read.entries is not None or read.wrong or read.graph or read.key.kind == identity.REQUEST:
            return read
        rendered, refused = self._rendered(resource, _REFUSED)
        return read._replace(wrong=refused, reason=subject.REFUSED) if refused else subject.read(rendered, self._loaded.home)

    def _request(self, resource: Resource) -> Request:
        """One request, with the annotations of a render if it has none."""
        read = requests.read(resource, self._loaded.home)
        if read.managed:
            return read
        rendered, refused = self._rendered(resource)
        return requests.read(rendered, self._loaded.home)._replace(managed=True, wrong=refused)

    def _rendered(self, resource: Resource, rules: Container[str] | None = None) -> tuple[Resource, str]:
        """The resource with the annotations of a render, and why its spec is refused. `rules` limits the codes of refusals."""
        annotations, found = expand.own_annotations(resource, self._loaded.config)
        self.results += [each for each in found if each.code == _INTERNAL]
        refused = [each for each in found if each.severity == "error" and (rules is None or each.code in rules)]
        metadata = resource["metadata"]
        rendered = {**resource, "metadata": {**metadata, "annotations": {**labels.notes(resource), **annotations}}}
        return rendered, f"Validation failed: {results.line(min(refused, key=results.order))}" if refused else ""

    def _status(self, read: Subject) -> dict[str, Any]:
        if read.key.kind == identity.REQUEST:
            return self._request_status(self._requests[read.key])
        if read.key.kind == models.KIND:
            return self._model_status(self._models[read.key])
        if read.key.kind == subject.GRAPH:
            return graph.status(read, self._children, self._now, _FEATURES)
        if read.key.kind == subject.COMPONENT and (owner := self._owner(read)) is not None:
            return component.status(read, self._children, self._now, owner if read.graph else None, _FEATURES)
        if read.key.kind == subject.ADAPTER and (owner := self._owner(read)) is not None:
            return adapter.status(read, self._children, self._now, owner, _FEATURES)
        return read.status

    def _request_status(self, asked: Request) -> dict[str, Any]:
        return request.status(asked, self._around.seen(asked, self._graphs), self._now, _FEATURES)

    def _model_status(self, asked: Model) -> dict[str, Any]:
        """The status of a model. Without EndpointSlices in the input nothing is known about it, and it keeps its status."""
        if not self._slices:
            return asked.status
        return model.status(asked, self._base_models, self._children, self._now, _FEATURES)

    def _rows(self, read: Subject) -> list[Row]:
        if read.key.kind == subject.GRAPH:
            return _status_table.rows(read, graph.judge(read, self._children, self._now, _FEATURES))
        if read.key.kind == subject.COMPONENT and not read.graph:
            return _status_table.rows(read, component.judge(read, self._children, self._now, None, _FEATURES))
        return []

    def _owner(self, read: Subject) -> Subject | None:
        """The graph of a component or adapter; a component itself if it has no graph, None if the input does not have the graph."""
        return self._graphs.get(read.key._replace(kind=subject.GRAPH, name=read.graph)) if read.graph else read


def _with_status(resource: Resource, status: dict[str, Any]) -> Resource:
    return {**resource, "status": status} if status else resource
