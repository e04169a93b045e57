"""Computes the statuses that `krm-fn sync` would write, from the objects of an input."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from krm_fn.base import codes, results
from krm_fn.base.results import Result
from krm_fn.cluster import timestamps
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.identity import ObjectKey
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, expand, labels
from krm_fn.render.schema import rule_messages
from krm_fn.repository.files.sources import Sources
from krm_fn.review.inputs import syncer_state
from krm_fn.review.inputs.syncer_state import SyncerState
from krm_fn.syncer import profiler_output
from krm_fn.syncer.profiler_output import OutputConfigMap, ProfilerOutput
from krm_fn.syncer.status import (
    SyncFeatures,
    cached_model,
    cached_object,
    cached_request,
    conditions,
    graph_status,
    model_endpoints,
    model_status,
    request_deployment,
    request_profiling,
    request_status,
    service_index,
)
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from krm_fn.syncer.status.cached_model import CachedModel
from krm_fn.syncer.status.cached_object import CachedObject
from krm_fn.syncer.status.cached_request import CachedRequest, ProfilingJob, RequestInputs
from krm_fn.syncer.status.readiness import WorkloadReadiness
from krm_fn.syncer.status.request_profiling import ProfilingPod
from krm_fn.syncer.status.workload_index import WorkloadIndex

FEATURES = SyncFeatures(
    pods=True, restarts=True, requests=True, auto_apply=True, models=True, loras=True, device_claims=True, services=True
)
"""All features are on: the status depends only on the objects in the input."""
_NOUNS = {
    cached_object.GRAPH: "graphs",
    cached_object.COMPONENT: "components",
    dynamo_api.REQUEST: "requests",
    cached_model.KIND: "models",
}
_OPERATOR_RULES = {*rule_messages.MESSAGES, codes.MISSING_FIELD, codes.NUMBER_OUT_OF_RANGE, codes.WRONG_LENGTH} - {
    codes.COMPONENT_NAMES_COLLIDE,
    codes.SEVERAL_ENDPOINT_PICKERS,
    codes.MOUNT_WITHOUT_CLAIM,
    codes.CONTAINER_WITHOUT_IMAGE,
}
"""Codes of rules that the operator checks, too. It then writes the status `ValidationFailed`. The last four are rules of a render only."""


class ClusterContext(NamedTuple):
    """The cluster that the objects come from. `name` is empty for objects of files.

    `services` is true if Services were listed, so that one can be missing. `unlisted` are the kinds that were not listed.
    """

    name: str = ""
    services: bool = False
    syncer: SyncerState = SyncerState()
    unlisted: tuple[ApiResource, ...] = ()


class StaleStatus(NamedTuple):
    """A stored condition Ready that differs from the computed one. `stored` is empty without one."""

    key: ObjectKey
    stored: str
    since: str
    computed: str


class Unready(NamedTuple):
    """A resource that is not ready. `failed` is true if waiting does not help."""

    key: ObjectKey
    failed: bool


class ComputedStatus:
    """Computes the statuses of the Dynamo resources among the inputs, at the time `now`. `results` are the findings about them."""

    def __init__(self, loaded: Sources, cluster: ClusterContext | None = None) -> None:
        self.results: list[Result] = []
        self._loaded = loaded
        self.cluster = cluster or _of_files(loaded.values)
        self._features = FEATURES._replace(services=self.cluster.services)
        self._index = WorkloadIndex.of(loaded.values, loaded.default_namespace)
        self.now = timestamps.now()
        dynamo_resources = [resource for resource in loaded.values if dynamo_api.is_dynamo(resource)]
        self._resources = [resource for resource in dynamo_resources if not dynamo_api.is_search(resource)]
        self.searches = [resource for resource in dynamo_resources if dynamo_api.is_search(resource)]
        self.objects = [self._read(resource) for resource in self._resources]
        self._graphs = {cached.key: cached for cached in self.objects if cached.key.kind == cached_object.GRAPH}
        for cached in self.objects:
            self._index.put_graph(cached)
        self._requests = {request.key: request for request in map(self._read_request, self._of(dynamo_api.REQUEST))}
        models = (cached_model.read(resource, loaded.default_namespace) for resource in self._of(cached_model.KIND))
        self._models = {model.key: model for model in models}
        self._request_objects = RequestObjects(loaded.values, loaded.default_namespace)
        self._has_slices = any(resource.get("kind") == model_endpoints.KIND for resource in loaded.values)
        self._base_models = BaseModelIndex.of(loaded.values, loaded.default_namespace)

    def resources(self) -> list[Resource]:
        """Returns the Dynamo resources with their status. Searches keep theirs, which only Dynamo's operator computes."""
        statuses = map(self._status, self.objects)
        pairs = zip(self._resources, statuses, strict=True)
        return [*({**resource, "status": fields} if fields else resource for resource, fields in pairs), *self.searches]

    def workloads(self) -> Iterator[tuple[CachedObject, Iterable[WorkloadReadiness]]]:
        """Returns the graphs and the standalone components, each with the readiness of its workloads."""
        for cached in self.objects:
            if cached.key.kind == cached_object.GRAPH:
                yield cached, graph_status.graph_readiness(cached, self._index, self.now, self._features)
            elif cached.key.kind == cached_object.COMPONENT and not cached.graph:
                yield cached, graph_status.component_readiness(cached, self._index, self.now, None, self._features)

    def requests(self) -> Iterator[tuple[CachedRequest, dict[str, Any]]]:
        """Returns the requests, each with its status."""
        return ((request, self._request_status(request)) for request in self._requests.values())

    def models(self) -> Iterator[tuple[CachedModel, dict[str, Any]]]:
        """Returns the models, each with its status."""
        return ((model, self._model_status(model)) for model in self._models.values())

    def unready(self) -> Iterator[Unready]:
        """Returns the graphs, standalone components, requests and models that are not ready."""
        for cached, readiness in self.workloads():
            workloads = list(readiness)
            rejected = bool(cached.problem) or cached.entries is None
            if rejected or any(workload.problem for workload in workloads):
                yield Unready(cached.key, rejected or any(workload.failure for workload in workloads))
        others = [(request.key, status) for request, status in self.requests()] + [(model.key, status) for model, status in self.models()]
        for key, status in others:
            if not conditions.find(status, conditions.READY).is_true:
                yield Unready(key, conditions.find(status, conditions.STALLED).is_true)

    def ready_counts(self) -> dict[str, tuple[int, int]]:
        """Counts the resources that are ready, and all of them, by what they are."""
        unready = {resource.key for resource in self.unready()}
        counts: dict[str, tuple[int, int]] = {}
        keys = [cached.key for cached, _ in self.workloads()] + [*self._requests, *self._models]
        for key in keys:
            ready, total = counts.get(_NOUNS[key.kind], (0, 0))
            counts[_NOUNS[key.kind]] = ready + (key not in unready), total + 1
        return counts

    def drifted_graphs(self) -> list[ObjectKey]:
        """Returns the graphs that somebody changed in the cluster."""
        graphs = (cached for cached in self.objects if cached.key.kind == cached_object.GRAPH)
        return [cached.key for cached in graphs if conditions.find(self._status(cached), conditions.DRIFTED).is_true]

    def drift(self, cached: CachedObject) -> str:
        """Returns the message about the changes of a graph in the cluster; empty without one."""
        return conditions.find(self._status(cached), conditions.DRIFTED).message

    def stale(self) -> Iterator[StaleStatus]:
        """Returns the statuses of rendered graphs, of requests and of models that say something else than their objects.

        A syncer writes a status a moment after a change, so such a status is old only if it stays so. In files, a resource without a status
        is not stale.
        """
        for resource, cached in zip(self._resources, self.objects, strict=True):
            if cached.key.kind not in _NOUNS or (cached.key.kind == cached_object.GRAPH and not _is_rendered(resource)):
                continue
            stored = conditions.find(cached.status, conditions.READY)
            computed = conditions.find(self._status(cached), conditions.READY)
            if stored.status != computed.status and (stored.status or self.cluster.name):
                yield StaleStatus(cached.key, stored.status, stored.since, computed.status)

    def ready(self) -> bool:
        """Returns true if everything is ready. Without a Dynamo resource nothing is ready: the objects may not be applied yet."""
        return bool(self.objects) and not any(self.unready())

    def _of(self, kind: str) -> list[Resource]:
        """Returns the Dynamo resources of one kind."""
        return [resource for resource in self._resources if resource.get("kind") == kind]

    def _read(self, resource: Resource) -> CachedObject:
        """Reads one resource. A resource without the annotations of a render gets them."""
        cached = cached_object.read(resource, self._loaded.default_namespace)
        if cached.entries is not None or cached.problem or cached.graph or cached.key.kind == dynamo_api.REQUEST:
            return cached
        rendered, rejection = self._render_resource(resource, _OPERATOR_RULES)
        if rejection:
            return cached._replace(problem=rejection, reason=cached_object.REJECTED)
        return cached_object.read(rendered, self._loaded.default_namespace)

    def _read_request(self, resource: Resource) -> CachedRequest:
        """Reads one request. A request without the annotations of a render gets them."""
        request = cached_request.read(resource, self._loaded.default_namespace)
        if request.managed:
            return request
        rendered, rejection = self._render_resource(resource)
        return cached_request.read(rendered, self._loaded.default_namespace)._replace(managed=True, problem=rejection)

    def _render_resource(self, resource: Resource, rules: Container[str] | None = None) -> tuple[Resource, str]:
        """Returns the resource with the annotations of a render, and why its spec is rejected. `rules` limits the codes of rejections."""
        annotations, findings = expand.own_annotations(resource, self._loaded.config)
        self.results += [finding for finding in findings if finding.code == codes.INTERNAL_ERROR]
        errors = [finding for finding in findings if finding.severity == "error" and (rules is None or finding.code in rules)]
        metadata = resource["metadata"]
        rendered = {**resource, "metadata": {**metadata, "annotations": {**labels.annotations(resource), **annotations}}}
        return rendered, f"Validation failed: {results.line(min(errors, key=results.order))}" if errors else ""

    def _status(self, cached: CachedObject) -> dict[str, Any]:
        if cached.key.kind == dynamo_api.REQUEST:
            return self._request_status(self._requests[cached.key])
        if cached.key.kind == cached_model.KIND:
            return self._model_status(self._models[cached.key])
        graph = self._graphs.get(cached.key._replace(kind=cached_object.GRAPH, name=cached.graph)) if cached.graph else None
        if cached.graph and graph is None:  # the input does not have the graph
            return cached.status
        return graph_status.of_resource(cached, self._index, self.now, self._features, graph)

    def _request_status(self, request: CachedRequest) -> dict[str, Any]:
        return request_status.of_request(request, self._request_objects.inputs(request, self._graphs), self.now, self._features)

    def _model_status(self, model: CachedModel) -> dict[str, Any]:
        """Computes the status of a model. Without EndpointSlices in the input, it keeps its status."""
        if not self._has_slices:
            return model.status
        return model_status.of_model(model, self._base_models, self._index, self.now, self._features)


def _is_rendered(resource: Resource) -> bool:
    return labels.WORKLOADS in labels.annotations(resource)


def _of_files(resources: Iterable[Resource]) -> ClusterContext:
    """Returns the context of objects of files, which may have Services and Leases of a cluster, or not."""
    listed = list(resources)
    has_services = any((resource.get("apiVersion"), resource.get("kind")) == ("v1", service_index.KIND) for resource in listed)
    return ClusterContext(services=has_services, syncer=syncer_state.read(listed))


class RequestObjects:
    """Reads the Jobs, pods and ConfigMaps of requests. `default_namespace` is the namespace of resources without one."""

    def __init__(self, resources: Iterable[Resource], default_namespace: str) -> None:
        self._jobs: dict[ObjectKey, ProfilingJob] = {}
        self._outputs: dict[ObjectKey, OutputConfigMap] = {}
        self._pods: list[ProfilingPod] = []
        for resource in resources:
            key = identity.key(resource, default_namespace)
            if (key.group, key.kind) == (request_profiling.GROUP, request_profiling.KIND):
                self._jobs[key] = request_profiling.read_job(resource, default_namespace)
            elif (key.group, key.kind) == ("", "ConfigMap"):
                self._outputs[key] = profiler_output.read_config_map(resource, default_namespace)
            elif (key.group, key.kind) == ("", "Pod"):
                self._pods.append(request_profiling.read_pod(resource, default_namespace))

    def output(self, request: CachedRequest) -> ProfilerOutput | None:
        """Reads the output of a request; None if its ConfigMap is not among the resources."""
        config_map = self._outputs.get(request.output)
        return profiler_output.read(config_map, mocker=request.mocker) if config_map else None

    def inputs(self, request: CachedRequest, graphs: Mapping[ObjectKey, CachedObject]) -> RequestInputs:
        """Returns the inputs of the status of a request."""
        output = self.output(request)
        target = request_deployment.target(request, output)
        return RequestInputs(
            self._jobs.get(request.job),
            output,
            graphs.get(target) if target else None,
            request_profiling.pod_problem(self._pods, request.job),
        )
