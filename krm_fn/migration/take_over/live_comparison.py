"""Compares what Git makes of a graph with what runs, in the form in which the API server would store it. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.adopt import adopt_findings, verification
from krm_fn.migration.adopt.exported_objects import ExportedObjects
from krm_fn.migration.take_over import moved_graphs
from krm_fn.migration.take_over.moved_graphs import MovedGraph, object_name
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import workloads
from krm_fn.render.schema import object_changes
from krm_fn.repository.files import kubectl
from krm_fn.repository.files.kubectl import KubectlError
from krm_fn.review import pods
from krm_fn.review.live import server_fields

_TEMPLATES = (("spec", "template"), ("spec", "leaderWorkerTemplate"))
_COMPARED_AS_PODS = ("labels", "annotations", "metadata", "replicas")


def compare(graph: MovedGraph) -> list[Result]:
    """Returns all that `take-over` would change or the API server would reject; empty if all pods stay. Raises KubectlError.

    The API server makes each rendered workload as if it replaced the live one, in a dry run. So defaults and webhooks are those of the
    cluster. The comparison itself is that of `krm-fn adopt`.
    """
    findings: list[Result] = []
    live = graph.workloads()
    rendered = [resource for resource in graph.rendered if workloads.is_workload(resource)]
    running = [resource for resource in rendered if object_name(resource) in live]
    try:
        replaced = kubectl.objects(_replace(graph, running)) if running else []
        stored = {object_name(resource): resource for resource in replaced}
        compared = [_as_stored(resource, stored) for resource in rendered]
        cluster = [*live.values(), *graph.cluster.of(*moved_graphs.GROVE)]
        exported = ExportedObjects(graph.namespace, cluster, [*filter(_is_graph, graph.rendered)], [], cluster, [])
        verified = verification.verify(compared, exported)
        findings += adopt_findings.of(verified, exported, complete=True)
        restarted = {outcome.key.name for outcome in verified.outcomes if outcome.effect == "restarts"}
        findings += [
            finding
            for resource in compared
            if object_name(resource) in live and resource["metadata"]["name"] not in restarted
            for finding in _beside_pods(live[object_name(resource)], resource)
        ]
        graph.kubectl(*applying(graph), "--dry-run=server", stdin=kubectl.list_of(_objects_to_rehearse(graph)))
    except KubectlError as problem:
        message = f"the API server rejects objects of this graph: {problem.messages}; correct the graph or the configuration"
        findings.append(results.error(codes.MIGRATION_REJECTED, message, results.ref(next(filter(_is_graph, graph.rendered)))))
    return findings


def _replace(graph: MovedGraph, resources: Sequence[Resource]) -> str:
    return graph.kubectl("replace", "--dry-run=server", "--output=json", "--filename=-", stdin=kubectl.list_of(resources))


def _is_graph(resource: Resource) -> bool:
    return bool(resource["kind"] == dynamo_api.GRAPH)


def _as_stored(resource: Resource, stored: Mapping[str, Resource]) -> Resource:
    """A rendered workload as the API server would store it. The number of replicas stays that of the render, also if it has none."""
    if object_name(resource) not in stored:
        return resource
    made = server_fields.native(stored[object_name(resource)])
    spec = {key: value for key, value in made["spec"].items() if key != "replicas" or key in resource["spec"]}
    return {**made, "spec": spec}


def _beside_pods(live: Resource, rendered: Resource) -> Iterator[Result]:
    """Reports fields that differ in a template, beside those of its pods, such as the termination delay of a PodCliqueSet."""
    specs = [template.path for template in pods.of(rendered)]
    for change in object_changes.between(server_fields.native(live), server_fields.native(rendered)):
        path = change.path
        is_of_pods = any(path[: len(spec)] == spec for spec in specs) or not {*path}.isdisjoint(_COMPARED_AS_PODS)
        is_whole_clique = path[2:3] == ("cliques",) and len(path) <= 4
        if path[:2] in _TEMPLATES and not is_of_pods and not is_whole_clique:
            yield results.error(codes.FIELD_BESIDE_PODS_CHANGES, _difference(path, change.old, change.new), results.ref(live), path)


def _difference(path: Path, live: object, rendered: object) -> str:
    shown = ["nothing" if value is None else f"{value}"[:60] for value in (live, rendered)]
    setting = "grove.terminationDelay in the configuration" if path[-1] == "terminationDelay" else "the field in the graph"
    return f"{shown[0]} runs, and {shown[1]} is rendered; correct {setting}"


def objects_to_apply(graph: MovedGraph) -> list[Resource]:
    """Returns the objects to apply: adapters get the labels by which Flux knows what it may prune."""
    namespace, _, kustomization = graph.applier.kustomization.partition("/")
    prefix = "kustomize.toolkit.fluxcd.io"
    more = {f"{prefix}/name": kustomization, f"{prefix}/namespace": namespace} if kustomization else {}
    live = graph.adapters()
    return [
        {**resource, "metadata": {**resource["metadata"], "labels": {**labels.of(resource), **more}}}
        if object_name(resource) in live
        else resource
        for resource in graph.rendered
    ]


def rebound(graph: MovedGraph) -> set[str]:
    """Returns the RoleBindings to create again, since the role of a binding cannot change, by `object_name`."""
    live = {object_name(binding): binding["roleRef"] for binding in graph.cluster.of(moved_graphs.BINDINGS)}
    bindings = {object_name(resource): resource["roleRef"] for resource in graph.rendered if resource["kind"] == "RoleBinding"}
    return {name for name, role in bindings.items() if live.get(name, role) != role}


def _objects_to_rehearse(graph: MovedGraph) -> list[Resource]:
    """The objects for a dry run. Those that are deleted and created again have another name of the same length there."""
    created = rebound(graph)
    return [
        {**resource, "metadata": {**resource["metadata"], "name": "x" * len(resource["metadata"]["name"])}}
        if object_name(resource) in created or resource["kind"] in (dynamo_api.GRAPH, dynamo_api.COMPONENT)
        else resource
        for resource in objects_to_apply(graph)
    ]


def applying(graph: MovedGraph) -> tuple[str, ...]:
    """Returns the arguments with which kubectl applies in the name of the tool that applies from then on."""
    return "apply", "--server-side", "--force-conflicts", f"--field-manager={graph.applier.manager}", "--filename=-"
