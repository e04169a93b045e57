"""The Dynamo resources of an input with the status that they should have."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from krm_fn import expand, results
from krm_fn.cli import status_table
from krm_fn.kube import identity, labels
from krm_fn.profiling import profiler_output
from krm_fn.schema import rule_messages
from krm_fn.status import (
    cached_model,
    cached_object,
    cached_request,
    graph_status,
    model_endpoints,
    model_status,
    replica_scaling,
    request_deployment,
    request_profiling,
    request_status,
)
from krm_fn.status.base_model_index import BaseModelIndex
from krm_fn.status.cached_request import RequestInputs
from krm_fn.status.sync_features import SyncFeatures
from krm_fn.status.workload_index import WorkloadIndex

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from krm_fn.cli.status_table import WorkloadRow
    from krm_fn.files.sources import Sources
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.profiling.profiler_output import OutputConfigMap, ProfilerOutput
    from krm_fn.results import Result
    from krm_fn.status.cached_model import CachedModel
    from krm_fn.status.cached_object import CachedObject
    from krm_fn.status.cached_request import CachedRequest
    from krm_fn.status.request_profiling import ProfilingJob, ProfilingPod


_FEATURES = SyncFeatures(pods=True, restarts=True, requests=True, auto_apply=True, models=True, loras=True)
"""All features are on: the status depends only on the objects in the input."""
_INTERNAL = "DYN019"
_REFUSED = {*rule_messages.MESSAGES, "DYN022", "DYN025", "DYN026"} - {"DYN101", "DYN102", "DYN145", "DYN205"}
"""Codes of rules that the operator checks, too. It then writes the status `ValidationFailed`. The last four are rules of a render only."""


class ComputedStatus:
    """The Dynamo resources of the input, and the findings about them."""

    def __init__(self, loaded: Sources) -> None:
        self.results: list[Result] = []
        self._loaded = loaded
        self._children = WorkloadIndex.of(loaded.values, loaded.default_namespace)
        self._now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._resources = [resource for resource in loaded.values if identity.is_dynamo(resource)]
        self.subjects = [self._read(resource) for resource in self._resources]
        self._graphs = {each.key: each for each in self.subjects if each.key.kind == cached_object.GRAPH}
        for each in self.subjects:
            self._children.put_graph(each)
        self._requests = {read.key: read for read in map(self._request, self._of(identity.REQUEST))}
        self._models = {
            read.key: read for read in (cached_model.read(each, loaded.default_namespace) for each in self._of(cached_model.KIND))
        }
        self._around = RequestObjects(loaded.values, loaded.default_namespace)
        self._slices = any(resource.get("kind") == model_endpoints.KIND for resource in loaded.values)
        self._base_models = BaseModelIndex.of(loaded.values, loaded.default_namespace)

    def resources(self) -> list[Resource]:
        """The Dynamo resources with their status."""
        pairs = zip(self._resources, self.subjects, strict=True)
        return [_with_status(resource, self._status(dynamo_resource)) for resource, dynamo_resource in pairs]

    def table(self) -> str:
        """The workloads of graphs and of components without a graph, the requests, and the models."""
        rows = [row for each in self.subjects for row in self._rows(each)]
        asked = [status_table.request(each, self._request_status(each)) for each in self._requests.values()]
        served = [status_table.model(each, self._model_status(each)) for each in self._models.values()]
        return status_table.text(rows, asked, served)

    def _of(self, kind: str) -> list[Resource]:
        """The Dynamo resources of one kind."""
        return [resource for resource in self._resources if resource.get("kind") == kind]

    def _read(self, resource: Resource) -> CachedObject:
        """One resource, with the annotations of a render if it has none."""
        read = cached_object.read(resource, self._loaded.default_namespace)
        if read.entries is not None or read.problem or read.graph or read.key.kind == identity.REQUEST:
            return read
        rendered, refused = self._rendered(resource, _REFUSED)
        return (
            read._replace(problem=refused, reason=cached_object.REJECTED)
            if refused
            else cached_object.read(rendered, self._loaded.default_namespace)
        )

    def _request(self, resource: Resource) -> CachedRequest:
        """One request, with the annotations of a render if it has none."""
        read = cached_request.read(resource, self._loaded.default_namespace)
        if read.managed:
            return read
        rendered, refused = self._rendered(resource)
        return cached_request.read(rendered, self._loaded.default_namespace)._replace(managed=True, problem=refused)

    def _rendered(self, resource: Resource, rules: Container[str] | None = None) -> tuple[Resource, str]:
        """The resource with the annotations of a render, and why its spec is refused. `rules` limits the codes of refusals."""
        annotations, findings = expand.own_annotations(resource, self._loaded.config)
        self.results += [finding for finding in findings if finding.code == _INTERNAL]
        refused = [finding for finding in findings if finding.severity == "error" and (rules is None or finding.code in rules)]
        metadata = resource["metadata"]
        rendered = {**resource, "metadata": {**metadata, "annotations": {**labels.annotations(resource), **annotations}}}
        return rendered, f"Validation failed: {results.line(min(refused, key=results.order))}" if refused else ""

    def _status(self, read: CachedObject) -> dict[str, Any]:
        if read.key.kind == identity.REQUEST:
            return self._request_status(self._requests[read.key])
        if read.key.kind == cached_model.KIND:
            return self._model_status(self._models[read.key])
        if read.key.kind == cached_object.GRAPH:
            return graph_status.of_graph(read, self._children, self._now, _FEATURES)
        if read.key.kind == cached_object.COMPONENT and (owner := self._owner(read)) is not None:
            return graph_status.of_component(read, self._children, self._now, owner if read.graph else None, _FEATURES)
        if read.key.kind == cached_object.ADAPTER and (owner := self._owner(read)) is not None:
            return replica_scaling.adapter_status(read, self._children, self._now, owner, _FEATURES)
        return read.status

    def _request_status(self, asked: CachedRequest) -> dict[str, Any]:
        return request_status.of_request(asked, self._around.seen(asked, self._graphs), self._now, _FEATURES)

    def _model_status(self, asked: CachedModel) -> dict[str, Any]:
        """The status of a model. Without EndpointSlices in the input nothing is known about it, and it keeps its status."""
        if not self._slices:
            return asked.status
        return model_status.of_model(asked, self._base_models, self._children, self._now, _FEATURES)

    def _rows(self, read: CachedObject) -> list[WorkloadRow]:
        if read.key.kind == cached_object.GRAPH:
            return status_table.rows(read, graph_status.graph_readiness(read, self._children, self._now, _FEATURES))
        if read.key.kind == cached_object.COMPONENT and not read.graph:
            return status_table.rows(read, graph_status.component_readiness(read, self._children, self._now, None, _FEATURES))
        return []

    def _owner(self, read: CachedObject) -> CachedObject | None:
        """The graph of a component or adapter; a component itself if it has no graph, None if the input does not have the graph."""
        return self._graphs.get(read.key._replace(kind=cached_object.GRAPH, name=read.graph)) if read.graph else read


def _with_status(resource: Resource, status: dict[str, Any]) -> Resource:
    return {**resource, "status": status} if status else resource


class RequestObjects:
    """The Jobs, pods and ConfigMaps among resources. `default_namespace` is the namespace of resources without one."""

    def __init__(self, resources: Iterable[Resource], default_namespace: str) -> None:
        self._jobs: dict[ObjectKey, ProfilingJob] = {}
        self._published: dict[ObjectKey, OutputConfigMap] = {}
        self._pods: list[ProfilingPod] = []
        for resource in resources:
            key = identity.key(resource, default_namespace)
            if (key.group, key.kind) == (request_profiling.GROUP, request_profiling.KIND):
                self._jobs[key] = request_profiling.read_job(resource, default_namespace)
            elif (key.group, key.kind) == ("", "ConfigMap"):
                self._published[key] = profiler_output.published(resource, default_namespace)
            elif (key.group, key.kind) == ("", "Pod"):
                self._pods.append(request_profiling.read_pod(resource, default_namespace))

    def output(self, asked: CachedRequest) -> ProfilerOutput | None:
        """The output of a request, read; None if its ConfigMap is not among the resources."""
        config_map = self._published.get(asked.output)
        return profiler_output.read(config_map, mocker=asked.mocker) if config_map else None

    def seen(self, asked: CachedRequest, graphs: Mapping[ObjectKey, CachedObject]) -> RequestInputs:
        """The inputs of the status of a request."""
        output = self.output(asked)
        target = request_deployment.target(asked, output)
        return RequestInputs(
            self._jobs.get(asked.job),
            output,
            graphs.get(target) if target else None,
            request_profiling.pod_problem(self._pods, asked.job),
        )
