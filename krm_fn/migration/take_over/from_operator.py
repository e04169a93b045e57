"""Takes the objects of a graph over from the operator."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence

from krm_fn.base import codes, results
from krm_fn.base.records import NamedTuple
from krm_fn.base.results import Result
from krm_fn.kubernetes import identity
from krm_fn.kubernetes.types import Resource
from krm_fn.kubernetes.values import mapping
from krm_fn.migration.take_over import definitions, live_comparison, moved_graphs, operators
from krm_fn.migration.take_over.moved_graphs import MovedGraph, RefusedMoveError, is_owned_by, object_name
from krm_fn.render import dynamo_api, labels
from krm_fn.repository.files import kubectl

_GRACE = 20
"""Seconds that the garbage collector has before this command removes finalizers in its place."""
_LONGEST = 600
"""Seconds after which an owner that still exists is an error."""
_NO_FINALIZERS, _NO_OWNERS = ('{"metadata": {"finalizers": null}}', '{"metadata": {"ownerReferences": null}}')


class TakenOver(NamedTuple):
    """The lines of kubectl about the objects that it applied, and the live objects that only the operator needed."""

    applied: str
    leftovers: list[str]


def check(graphs: Sequence[MovedGraph]) -> list[Result]:
    """Returns all reasons why a graph cannot be taken over now: an operator acts on its namespace, or pods would not stay.

    Raises KubectlError. Nothing is changed.
    """
    acting = operators.acting(graph.namespace for graph in graphs)
    return [*acting, *(finding for graph in graphs for finding in live_comparison.compare(graph))]


def take_over(graph: MovedGraph) -> TakenOver:
    """Removes the operator's graph and components, and applies the objects of Git. Their pods stay.

    Call `check` before. Can run again after an interruption. Raises RefusedMoveError and KubectlError.
    """
    objects, created, kept = live_comparison.objects_to_apply(graph), live_comparison.rebound(graph), [*_live_replicas(graph)]
    owners = [*graph.components(), *graph.resources()]
    generated = {
        object_name(live) for live in graph.cluster.of(*moved_graphs.GENERATED) if any(is_owned_by(live, owner) for owner in owners)
    }
    _release_adapters(graph, owners)
    # Finalizers first: a deleted owner waits for them, and only the operator would remove them.
    for owner in owners:
        graph.patch(object_name(owner), _NO_FINALIZERS)
    for owner in owners:
        graph.kubectl("delete", object_name(owner), "--cascade=orphan", "--wait=false")
    _wait_for_end(graph, owners)
    for resource in kept:
        flags = ("--server-side", "--force-conflicts", "--field-manager=autoscaler", "--validate=false", "--filename=-")
        graph.kubectl("apply", *flags, stdin=resource)
    for name in created:
        graph.kubectl("delete", name)
    _remove_older_fields(graph)
    _mark_as_applied(graph)
    applied = graph.kubectl(*live_comparison.applying(graph), stdin=kubectl.list_of(objects))
    return TakenOver(applied, sorted(_leftovers(graph, generated)))


def _release_adapters(graph: MovedGraph, owners: Sequence[Resource]) -> None:
    """Removes the owners from the adapters.

    The garbage collector reads Dynamo's kinds anew after their definitions were exchanged. If it sees a deleted graph before the adapters
    of the graph, it removes no owner reference from them, and deletes them after the graph.
    """
    for adapter in graph.cluster.of(moved_graphs.ADAPTERS):
        if any(is_owned_by(adapter, owner) for owner in owners):
            graph.patch(object_name(adapter), _NO_OWNERS)


def _wait_for_end(graph: MovedGraph, owners: Sequence[Resource]) -> None:
    """Waits until the API server has removed deleted owners. Raises RefusedMoveError if one still exists after ten minutes.

    The garbage collector removes the owner reference from each object, and then its own finalizer from the owner. It uses the API version
    in which it first saw them. If the cluster no longer serves this version, such as v1beta1 of an operator that stores v1alpha1, the
    requests for the owner and for objects of these kinds fail for ever. The other objects have no owner then, and this function does the
    rest.
    """
    uids, started = {owner["metadata"]["uid"] for owner in owners}, time.monotonic()
    while left := [owner for owner in (*graph.components(), *graph.resources()) if owner["metadata"]["uid"] in uids]:
        if time.monotonic() > started + _LONGEST:
            raise RefusedMoveError([report_unended(owner) for owner in left])
        owned = [item for item in graph.cluster.of(*moved_graphs.READ) if any(is_owned_by(item, owner) for owner in left)]
        has_released = all(dynamo_api.is_dynamo(item) for item in owned)
        if has_released and time.monotonic() > started + _GRACE and definitions.unserved_versions():
            for item in owned:
                graph.patch(object_name(item), _NO_OWNERS)
            for owner in left:
                graph.patch(object_name(owner), _NO_FINALIZERS)
        time.sleep(0.5)
        graph.cluster.forget()


def report_unended(owner: Resource) -> Result:
    """Returns the finding about an owner whose deletion does not end."""
    finalizers = ", ".join(owner["metadata"].get("finalizers", ()))
    message = f"the deletion of this object has not ended, and its finalizers are {finalizers or 'empty'}"
    fix = "remove the finalizers whose controllers do not run, and run the command again"
    return results.error(codes.DELETION_DOES_NOT_END, f"{message}; {fix}", results.ref(owner))


def _live_replicas(graph: MovedGraph) -> Iterator[Resource]:
    """The number of replicas of each adapter, and of each Deployment that Git leaves to an autoscaler, as objects to apply.

    Without an owner of the field, a Deployment would fall back to 1, and an adapter to the number in Git.
    """
    live = {**graph.workloads(), **graph.adapters()}
    for resource in graph.rendered:
        is_scaled = resource["kind"] in ("Deployment", dynamo_api.ADAPTER) and "replicas" not in resource["spec"]
        if current := live.get(object_name(resource)) if is_scaled else None:
            number = moved_graphs.replicas(current) if resource["kind"] == dynamo_api.ADAPTER else current["spec"]["replicas"]
            if number is not None:
                yield {**_naming_parts(resource), "spec": {"replicas": number}}


def _remove_older_fields(graph: MovedGraph) -> None:
    """Removes the operator's marks and fields from what it wrote in an older version.

    kubectl takes over only fields of the version that it applies.
    """
    for live in graph.live_rendered():
        entries, operator = live["metadata"].get("managedFields", []), _writer(live)
        kept = [
            entry
            for entry in entries
            if entry["manager"] != operator or entry["apiVersion"] == live["apiVersion"] or entry.get("subresource")
        ]
        if len(kept) < len(entries):
            # An API server ignores an empty list. A list of one empty entry clears the fields of all managers.
            annotations = {labels.LAST_APPLIED_HASH: None, labels.LAST_APPLIED_GENERATION: None}
            graph.patch(object_name(live), json.dumps({"metadata": {"managedFields": kept or [{}], "annotations": annotations}}))


def _mark_as_applied(graph: MovedGraph) -> None:
    """Marks the operator's fields as those of `kubectl apply`.

    The next server-side apply of kubectl takes over the fields of the manager that owns this annotation.
    """
    by_manager: dict[str, list[Resource]] = {}
    live = graph.live_rendered()
    usual = next(filter(None, map(_writer, live)), "manager")
    for resource in live:
        by_manager.setdefault(_writer(resource) or usual, []).append(resource)
    for manager, resources in by_manager.items():
        flags = ("--overwrite", f"--field-manager={manager}", "--filename=-", f"{identity.LAST_APPLIED}={{}}")
        graph.kubectl("annotate", *flags, stdin=kubectl.list_of(map(_naming_parts, resources)))


def _writer(resource: Resource) -> str:
    """The name under which the operator wrote an object: that of the owner of the operator's hash. Empty if nothing owns it."""
    for entry in resource["metadata"].get("managedFields", ()):
        if f"f:{labels.LAST_APPLIED_HASH}" in mapping(entry.get("fieldsV1"), "f:metadata", "f:annotations"):
            return str(entry["manager"])
    return ""


def _naming_parts(resource: Resource) -> Resource:
    """The parts of an object that name it."""
    metadata = {field: resource["metadata"][field] for field in ("name", "namespace")}
    return {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "metadata": metadata}


def _leftovers(graph: MovedGraph, generated: set[str]) -> Iterator[str]:
    """Objects of this graph with the operator's mark, without an owner and without a place in Git.

    `generated` are the objects that the graph or a component of it owned. Those of an interrupted run are known by their label.
    """
    rendered = {object_name(resource) for resource in graph.rendered}
    for live in graph.cluster.of(*moved_graphs.GENERATED):
        is_of_graph = object_name(live) in generated or labels.of(live).get(labels.GRAPH) == graph.name
        is_free = is_of_graph and not live["metadata"].get("ownerReferences")
        if is_free and labels.LAST_APPLIED_HASH in labels.annotations(live) and object_name(live) not in rendered:
            yield object_name(live)
