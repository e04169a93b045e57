"""Gives the objects of a graph back to the operator: what the operator has to find, before its start and after it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes.types import Resource
from krm_fn.migration.take_over import definitions, graph_fields, moved_graphs, operators
from krm_fn.migration.take_over.graph_fields import Fields
from krm_fn.migration.take_over.moved_graphs import MovedGraph, RefusedMoveError, object_name
from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import ownership
from krm_fn.repository.files import kubectl
from krm_fn.review import pods

_NO_SPEC = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # the operator's hash of an object without spec
_MARKS = {labels.LAST_APPLIED_HASH: _NO_SPEC, labels.LAST_APPLIED_GENERATION: "1"}
_WITHOUT_SPEC = ("ServiceAccount", "Role", "RoleBinding", "ConfigMap")
_UNNAMED = "legacy"  # the older hash of workers whose names have none
_OF_COMPONENTS = ("Deployment", moved_graphs.GROUP, "PodGroup", "Service", "Ingress", "VirtualService")


class OperatorState(NamedTuple):
    """The state in which an operator keeps the pods of a graph.

    `fields` are those of the graph by service, and `annotations` those of the graph; None removes one. `marked` are the objects that need
    the operator's mark. `notes` say what cannot be kept.
    """

    moved: MovedGraph
    graph: Resource
    fields: Fields
    annotations: dict[str, str | None]
    marked: list[Resource]
    notes: list[Result]

    def missing(self) -> Iterator[Result]:
        """Reports all parts of this state that the cluster lacks. Raises KubectlError."""
        for graph in self.moved.resources():
            yield from graph_fields.missing(graph, self.fields, self.annotations)
        names = {*map(object_name, self.marked)}
        for live in self.moved.live_rendered() if names else ():
            if object_name(live) in names and _MARKS.items() - labels.annotations(live).items():
                message = "the object lacks the mark of the operator; run `krm-fn adopt give-back`"
                yield results.error(codes.NOT_READY_FOR_OPERATOR, message, results.ref(live))


def give_back(graphs: Sequence[MovedGraph]) -> list[OperatorState]:
    """Makes the operator recognize the objects, and the graphs say what runs. Returns the states that are now in the cluster.

    Raises RefusedMoveError before the first write if an operator acts, or if a graph cannot be prepared. Raises KubectlError.
    """
    _refuse([*operators.acting(graph.namespace for graph in graphs)])
    states = _states(graphs)
    for state in states:
        (tried,) = kubectl.objects(state.moved.kubectl(*_patching(state), "--dry-run=server"))
        _refuse([*graph_fields.missing(tried, state.fields, state.annotations)])
        if state.marked:
            state.moved.kubectl(*_marking(), "--dry-run=server", stdin=kubectl.list_of(state.marked))
    for state in states:
        if state.marked:
            state.moved.kubectl(*_marking(), stdin=kubectl.list_of(state.marked))
        state.moved.kubectl(*_patching(state))
        for adapter in state.moved.adapters().values():
            number = moved_graphs.replicas(adapter)
            if number is None or number != adapter["spec"].get("replicas"):  # the operator's definition requires this field
                state.moved.patch(object_name(adapter), json.dumps({"spec": {"replicas": 1 if number is None else number}}))
    _refuse([finding for state in states for finding in state.missing()])
    return states


def check_start(graphs: Sequence[MovedGraph]) -> None:
    """Checks that the operator can start and that it keeps the pods. Raises RefusedMoveError with all that is missing, and KubectlError."""
    findings: list[Result] = []
    for namespace in sorted({graph.namespace for graph in graphs}):
        watching = operators.watching(namespace)
        if not watching:
            message = f"no operator watches the namespace {namespace}; install its Helm release with 0 replicas"
            findings.append(results.error(codes.NO_OPERATOR_OF_NAMESPACE, message))
        findings += [finding for operator in watching for finding in definitions.problems(operator)]
    _refuse([*dict.fromkeys(findings), *(finding for state in _states(graphs) for finding in state.missing())])


def _patching(state: OperatorState) -> tuple[str, ...]:
    """The arguments of the patch of a graph, in the version that the cluster stores."""
    patch = json.dumps(graph_fields.patch(state.graph, state.fields, state.annotations))
    resource = moved_graphs.name_with_version(moved_graphs.GRAPHS, state.moved.cluster.versions)
    return "patch", f"{resource}/{state.moved.name}", "--type=merge", "--output=json", f"--patch={patch}"


def _marking() -> tuple[str, ...]:
    return "annotate", "--overwrite", "--filename=-", "--output=json", *(f"{name}={value}" for name, value in _MARKS.items())


def _refuse(findings: list[Result]) -> None:
    """Raises RefusedMoveError if there are findings."""
    if findings:
        raise RefusedMoveError(findings)


def _states(graphs: Sequence[MovedGraph]) -> list[OperatorState]:
    """The state of each graph. Raises RefusedMoveError if the operator would not keep the pods of one, whatever it finds.

    Resources are read in the version that the cluster stores: the webhook that converts them does not run without the operator.
    """
    stored = definitions.stored_versions()
    for graph in graphs:
        graph.cluster.versions |= stored
        graph.cluster.forget()
    _refuse([finding for graph in graphs for finding in _unkept(graph)])
    return [_state(graph) for graph in graphs]


def _unkept(moved: MovedGraph) -> Iterator[Result]:
    """Reports why an operator would not keep the pods of a graph."""
    if not moved.resources():
        yield results.error(codes.GRAPH_TO_GIVE_BACK_MISSING, f"the graph {moved.namespace}/{moved.name} is not in the cluster; apply it")
        return
    (graph,) = moved.resources()
    running = [*moved.workloads().values()]
    yield from _new_names(graph, running)
    services = graph_fields.services(graph)
    for service in sorted({*_replicas(moved), *_pull_secrets(running)} - services.keys()):
        yield results.error(
            codes.RUNNING_SERVICE_NOT_IN_GRAPH, f"the graph has no {service}, which runs; apply the graph that runs", results.ref(graph)
        )


def _state(moved: MovedGraph) -> OperatorState:
    (graph,) = moved.resources()
    # The operator gives up at an object without spec that lacks the mark.
    marked = [live for live in moved.live_rendered() if live["kind"] in _WITHOUT_SPEC and not ownership.is_shared(live)]
    running = [*moved.workloads().values()]
    numbers = _replicas(moved)
    secrets, annotations, notes = _with_hashes(graph, _pull_secrets(running), running)
    fields: Fields = {service: {} for service in sorted({*numbers, *secrets})}
    for service, number in numbers.items():
        fields[service]["replicas"] = number
    for service, names in secrets.items():
        fields[service]["imagePullSecrets"] = names
    return OperatorState(moved, graph, fields, annotations, marked, notes)


def _new_names(graph: Resource, running: list[Resource]) -> Iterator[Result]:
    """Reports workers that the operator does not find, so that it creates new ones.

    It looks for the name of the service with the hash of its pods, and knows no DisaggregatedSets.
    """
    is_unnamed = labels.annotations(graph).get(labels.WORKER_HASH_V1) == _UNNAMED
    for workload in running:
        if problem := _hidden_from_operator(workload, is_unnamed=is_unnamed):
            message = f"{problem}, so the operator would run new workers beside it"
            fix = "keep the graph in Git, or delete it and let the operator create it again"
            yield results.error(codes.OPERATOR_WOULD_RUN_NEW_WORKERS, f"{message}; {fix}", results.ref(workload))


def _hidden_from_operator(workload: Resource, *, is_unnamed: bool) -> str:
    """Returns why an operator does not find a workload; empty if it does. `is_unnamed`: it looks for names without a hash."""
    if joined := labels.of(workload).get(labels.SET_NAME):
        return f"it belongs to the DisaggregatedSet {joined}, which no operator knows"
    worker_hash = labels.of(workload).get(labels.WORKER_HASH, "")
    is_named = workload["kind"] == moved_graphs.SET or f"-{worker_hash}" in workload["metadata"]["name"]
    return f"the name lacks the worker hash {worker_hash} of its pods" if worker_hash and not (is_unnamed or is_named) else ""


def _replicas(moved: MovedGraph) -> dict[str, int]:
    """The replicas of the graph's adapters by service."""
    references = [(adapter["spec"]["dgdRef"], moved_graphs.replicas(adapter)) for adapter in moved.adapters().values()]
    numbered = [(reference, number) for reference, number in references if number is not None]
    return {reference.get("componentName") or reference["serviceName"]: number for reference, number in numbered}


def _pull_secrets(running: list[Resource]) -> dict[str, list[Resource]]:
    """The pull secrets of the pods by service.

    The operator finds pull secrets by itself, but not in its first seconds, and would write pod templates without them.
    """
    templates = [template for workload in running for template in pods.of(workload)]
    return {template.service: template.spec["imagePullSecrets"] for template in templates if template.spec.get("imagePullSecrets")}


def _with_hashes(
    graph: Resource, secrets: dict[str, list[Resource]], running: list[Resource]
) -> tuple[dict[str, list[Resource]], dict[str, str | None], list[Result]]:
    """The pull secrets that the graph can get, the annotations that keep the names of its workers, and notes about the others.

    The pods of workers are a part of the worker hash, and pull secrets of the graph a part of the pods. An operator of 1.5 or later keeps
    the hash of the older annotation whatever the pods are. Earlier ones, and all for PodCliqueSets, compute it again.
    """
    written = {service for service, names in secrets.items() if graph_fields.pull_secrets(graph, service) != names}
    templates = [template for workload in running for template in pods.of(workload)]
    hashed = {
        template.service: template.labels[labels.WORKER_HASH]
        for template in templates
        if template.service in written and labels.WORKER_HASH in template.labels
    }
    if not hashed:
        return secrets, {}, []
    if graph["apiVersion"] == dynamo_api.V1ALPHA1 or any(workload["kind"] == moved_graphs.SET for workload in running):
        reason = "because they would change the worker hash, and with it the pods"
        fix = "start the operator at a time at which these pods may restart"
        notes = [
            results.warning(
                codes.PULL_SECRETS_CHANGE_HASH,
                f"the pull secrets of {service} are not written into the graph, {reason}; {fix}",
                results.ref(graph),
            )
            for service in sorted(hashed)
        ]
        return {service: names for service, names in secrets.items() if service not in hashed}, {}, notes
    worker_hash = labels.annotations(graph).get(labels.WORKER_HASH_V1) or next(iter(hashed.values()))
    return secrets, {labels.WORKER_HASH_V1: worker_hash, labels.WORKER_HASH_V2: None}, []


def set_owners(graphs: Sequence[MovedGraph]) -> int:
    """Makes the graphs and their components the owners of their objects, as the operator would have. Returns the number of these objects.

    Volumes and shared accounts get no owner. Call it after the operator has started. Raises RefusedMoveError before the first write if an
    owner does not exist yet, and KubectlError.
    """
    chosen = [(graph, live, owner) for graph in graphs for live, owner in _owners(graph)]
    problem = "the owner of this object does not exist yet; wait until the operator has created it, and run the command again"
    _refuse([results.error(codes.OWNER_DOES_NOT_EXIST_YET, problem, results.ref(live)) for _, live, owner in chosen if owner is None])
    for graph, live, owner in chosen:
        has_controller = any(other.get("controller") for other in live["metadata"].get("ownerReferences", ()))
        if owner is not None and not has_controller:
            metadata = owner["metadata"]
            reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}
            owned = {"ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}]}
            graph.patch(object_name(live), json.dumps({"metadata": owned}))
    return len(chosen)


def _owners(graph: MovedGraph) -> Iterator[tuple[Resource, Resource | None]]:
    """The live objects that the operator would own, each with its owner; None for an owner that does not exist."""
    components, resources = graph.components(), graph.resources()
    has_set = any(resource["kind"] == moved_graphs.SET for resource in graph.rendered)
    for live in graph.live_rendered():
        if not ownership.owners(live) or live["kind"] == "PersistentVolumeClaim" or ownership.is_shared(live):
            continue
        owners = resources if has_set or live["kind"] not in _OF_COMPONENTS else _component_of(live, components)
        yield live, next(iter(owners), None)


def _component_of(resource: Resource, components: list[Resource]) -> list[Resource]:
    """The components with whose names the name of an object begins, longest first; of the Service of a model, those that serve it."""
    if model := labels.annotations(resource).get(labels.BASE_MODEL):
        return [component for component in components if component["spec"].get("modelRef", {}).get("name") == model]
    prefix = f"{resource['metadata']['name']}-"
    matches = [component for component in components if prefix.startswith(f"{component['metadata']['name']}-")]
    return sorted(matches, key=lambda component: len(component["metadata"]["name"]), reverse=True)
