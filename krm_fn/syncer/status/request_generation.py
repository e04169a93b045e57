"""The second step of a request: the graph that the profiler generated, and the objects that are applied or committed for it.

Follows the operator's `internal/controller/dynamographdeploymentrequest_controller.go` createDGD and createAdditionalResources.
The profiler writes no scaling adapters, and a planner scales only through them, so `with_planner_adapters` adds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from krm_fn.kubernetes import values
from krm_fn.kubernetes.types import Labels, Resource
from krm_fn.render import labels
from krm_fn.syncer.status import request_profiling
from krm_fn.syncer.status.cached_request import CachedRequest, RequestInputs, RequestStep
from krm_fn.syncer.status.conditions import StatusCondition
from krm_fn.syncer.status.version_adapter import FAILED, PENDING, READY

if TYPE_CHECKING:
    from krm_fn.syncer.profiler_output import ProfilerOutput

from krm_fn.render.kinds import types
from krm_fn.render.kinds.types import ComponentType

TYPE = "SpecGenerated"
LIMIT = 250_000
"""The most bytes of a graph in the status. etcd stores 1.5 MiB for an object, and the names of all fields a second time."""
GENERATED, UNSUCCESSFUL = "SpecGenerated", "GenerationFailed"


def step(request: CachedRequest, inputs: RequestInputs, profiling: RequestStep) -> RequestStep:
    """Computes the step of the graph. A graph that was generated before stays, even if the output is lost or was changed since."""
    output, stored = inputs.output, request.generated
    problem = output_problem(request, inputs)
    if profiling.done and output and output.graph and not problem:
        problem = _too_large(request, output.graph, output.beside)
        if not problem:
            return _generated_step(request, output.graph, [*output.notes, *_target_notes(request, output.graph)])
    if stored:
        unusable = output and profiling.done and not request_profiling.has_changed(request, inputs)
        notes = [f"the output cannot be used any more, and the earlier graph stays: {problem}"] if unusable else []
        return _generated_step(request, stored, notes)
    if not profiling.done:
        return RequestStep(PENDING)
    return RequestStep(FAILED, StatusCondition(TYPE, False, UNSUCCESSFUL, problem), stalled=True)


def output_problem(request: CachedRequest, inputs: RequestInputs) -> str:
    """Explains why the output cannot be used, and what to do; empty if it can."""
    output, name = inputs.output, request.output.name
    if output is None:
        return f"output ConfigMap {name} not found - profiling may not have completed yet; {_again(request)}"
    if not _is_profiled(request, inputs, output):
        return f"the ConfigMap {name} is from a run with other settings; {_again(request)}"
    if output.edited:
        return f"the ConfigMap {name} was changed after the profiler wrote it; restore its text, or {_again(request)}"
    return f"{output.problem}; correct the profiler or its configuration, then {_again(request)}" if output.problem else ""


def graph_to_deploy(output: ProfilerOutput, request: CachedRequest) -> Resource:
    """Returns the generated graph with the name, labels and annotations that the request gives. Raises ValueError if there is no graph.

    A user's labels and annotations win over the generated ones. The namespace of the generated graph is not used. In a graph with a
    planner, the scaling adapters of the engines are enabled.
    """
    generated = request.usable_graph(output)
    if generated is None:
        raise ValueError(output.problem)
    key = request.graph_key(generated)
    request_labels = {**_request_labels(request), **_texts(request.overrides.get("labels"))}
    annotations = {**_texts(labels.annotations(generated)), **_texts(request.overrides.get("annotations"))}
    metadata: dict[str, Any] = {"name": key.name, "namespace": key.namespace, "labels": {**_texts(labels.of(generated)), **request_labels}}
    if annotations:
        metadata["annotations"] = annotations
    enabled, _ = with_planner_adapters(generated)
    return {"apiVersion": generated.get("apiVersion"), "kind": key.kind, "metadata": metadata, "spec": enabled.get("spec") or {}}


def config_maps(output: ProfilerOutput, request: CachedRequest) -> list[Resource]:
    """Returns the ConfigMaps beside the graph. None if the output was changed since the profiler wrote it."""
    return [] if output.edited else [_config_map(config_map, request) for config_map in output.config_maps]


def _generated_step(request: CachedRequest, graph: Resource, notes: list[str]) -> RequestStep:
    field = ".".join(("status", *request.field_names.generated_graph))
    message = f"Generated spec is available in {field}"
    if request.auto_apply:
        message = "DynamoGraphDeployment spec generated successfully"
    return RequestStep(READY, StatusCondition(TYPE, True, GENERATED, "; ".join([message, *notes])), done=True, value=graph)


def _is_profiled(request: CachedRequest, inputs: RequestInputs, output: ProfilerOutput) -> bool:
    """Returns True if the output can be that of the Job or of the present settings. An output without a hash counts."""
    job = inputs.job
    hashes = [request.profile_hash, job.profile_hash if job and request_profiling.is_ours(request, job) else ""]
    return not output.profile_hash or not any(hashes) or output.profile_hash in hashes


def _too_large(request: CachedRequest, graph: Resource, beside: int) -> str:
    """Explains why a graph, or the objects beside it, are too large for a request; empty if they are not.

    The operator stores the objects beside the graph in an annotation. With its limit, a request is accepted by both or by none.
    """
    commit = f"commit what `krm-fn request get {request.key.name} -n {request.key.namespace}` prints"
    if values.json_size(graph, LIMIT) > LIMIT:
        return f"the generated graph is larger than {LIMIT} bytes, and the status cannot hold it; {commit}"
    return f"the objects beside the generated graph are larger than {LIMIT} bytes; {commit}" if beside > LIMIT else ""


def _again(request: CachedRequest) -> str:
    return f"delete the Job {request.job.name} and the ConfigMap, and apply the Job again to profile once more"


def _target_notes(request: CachedRequest, graph: Resource) -> list[str]:
    """Explains that the namespace of a graph is not used, or that the graph has no name."""
    key, namespace = request.graph_key(graph), values.text(values.mapping(graph, "metadata").get("namespace"))
    notes = []
    if namespace and namespace != key.namespace:
        notes.append(f"the namespace {namespace} of the generated graph is not used; the graph goes to {key.namespace}")
    if not key.name:
        notes.append(f"the generated graph has no name; set {request.field_names.graph_metadata}.name")
    return [*notes, *adapter_notes(graph)]


def adapter_notes(graph: Resource) -> list[str]:
    """Names the components of a generated graph whose scaling adapters are enabled."""
    _, changed = with_planner_adapters(graph)
    if not changed:
        return []
    return [f"the scaling adapters of {', '.join(changed)} are enabled, because the planner of the graph scales through them"]


def _config_map(generated: Resource, request: CachedRequest) -> Resource:
    metadata: dict[str, Any] = {
        "name": generated["metadata"]["name"],
        "namespace": request.graph_key(generated).namespace,
        "labels": {**_texts(labels.of(generated)), **_request_labels(request)},
    }
    if annotations := _texts(labels.annotations(generated)):
        metadata["annotations"] = annotations
    content: dict[str, Any] = {key: generated[key] for key in ("data", "binaryData", "immutable") if key in generated}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **content}


def _request_labels(request: CachedRequest) -> Labels:
    """Returns the labels that lead from an object to its request."""
    return {
        labels.REQUEST_NAME: request.key.name,
        labels.REQUEST_NAMESPACE: request.key.namespace,
        labels.MODEL_MANAGED_BY: labels.OPERATOR,
    }


def _texts(fields: Any) -> Labels:
    return {key: text for key, text in fields.items() if isinstance(text, str)} if isinstance(fields, dict) else {}


def with_planner_adapters(graph: Resource) -> tuple[Resource, list[str]]:
    """Enables the adapters of the engines of a graph with a planner. Returns the graph, and the names of the changed components.

    A component that has the field keeps it. The graph is a profiler's output, so that any field may have any type.
    """
    spec = values.mapping(graph, "spec")
    services = values.mapping(spec, "services")
    components = spec["components"] if isinstance(spec.get("components"), list) else []
    if not any(_component_type(component).scales for component in (*services.values(), *components)):
        return graph, []
    changed = [name for name, service in services.items() if _lacks_adapter(service)]
    changed += [values.text(component.get("name")) for component in components if _lacks_adapter(component)]
    enabled = {name: {**service, "scalingAdapter": {"enabled": True}} for name, service in services.items() if _lacks_adapter(service)}
    fields: dict[str, Any] = {"services": {**services, **enabled}} if enabled else {}
    if any(map(_lacks_adapter, components)):
        fields["components"] = [{**entry, "scalingAdapter": {}} if _lacks_adapter(entry) else entry for entry in components]
    return {**graph, "spec": {**spec, **fields}}, changed


def _component_type(component: Any) -> ComponentType:
    fields = values.mapping(component)
    return types.get(values.text(fields.get("type")) or values.text(fields.get("componentType")))


def _lacks_adapter(component: Any) -> bool:
    return isinstance(component, dict) and "scalingAdapter" not in component and _component_type(component).runs_engine
