# ruff: noqa: INP001 - see __main__.py
"""Takes the objects of a graph away from the operator."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import cluster
import comparison
import definitions
from cluster import Move, Resource, key

GRACE = 20
"""Seconds that the garbage collector has before this command removes finalizers in its place."""
LONGEST = 600
"""Seconds after which an owner that still exists is an error."""


def take_over(move: Move) -> None:
    """Let go of the old owners and apply. Raises StopError before anything is changed if the operator runs or the comparison fails."""
    cluster.stopped(move)
    comparison.compare(move)
    objects, again, kept = comparison.adopted(move), comparison.rebound(move), list(kept_numbers(move))
    owners = [*move.components(), *move.graphs()]
    made = {key(each) for each in move.live(*cluster.MADE) if any(cluster.owned_by(each, owner) for owner in owners)}
    release(move, owners)
    # Finalizers first: an owner that is deleted waits for them, and only the operator would take them off.
    for owner in owners:
        move.kubectl("patch", key(owner), "--type=merge", '--patch={"metadata": {"finalizers": null}}')
    for owner in owners:
        move.kubectl("delete", key(owner), "--cascade=orphan", "--wait=false")
    end(move, owners)
    for each in kept:
        move.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=autoscaler", "--validate=false", "-f=-", given=each)
    for one in again:
        move.kubectl("delete", one)
    forget(move)
    inherit(move)
    sys.stdout.write(move.kubectl(*comparison.applying(move), given=cluster.listed(objects)))
    if left := sorted(leftovers(move, made)):
        sys.stdout.write(
            f"Only the operator needed the following. To delete it:\nkubectl --namespace {move.namespace} delete {' '.join(left)}\n"
        )


def release(move: Move, owners: list[Resource]) -> None:
    """Remove the owners from the adapters.

    The garbage collector reads Dynamo's kinds anew after their definitions were exchanged. If it sees a deleted graph before the adapters
    of the graph, it removes no owner reference from them, and deletes them after the graph.
    """
    for adapter in move.live(cluster.ADAPTERS):
        if any(cluster.owned_by(adapter, owner) for owner in owners):
            move.kubectl("patch", key(adapter), "--type=merge", '--patch={"metadata": {"ownerReferences": null}}')


def end(move: Move, owners: list[Resource]) -> None:
    """Wait until the API server has removed deleted owners. Raises StopError if one still exists after ten minutes.

    The garbage collector removes the owner reference from each object, and then its own finalizer from the owner. It uses the API version
    in which it first saw them. If the cluster no longer serves this version, such as v1beta1 of an operator that stores v1alpha1, the
    requests for the owner and for objects of these kinds fail for ever. The other objects have no owner then, and this function does the
    rest.
    """
    keys, started = {key(owner) for owner in owners}, time.monotonic()
    while left := [owner for owner in (*move.components(), *move.graphs()) if key(owner) in keys]:
        if time.monotonic() > started + LONGEST:
            held = ", ".join(f"{key(owner)} (finalizers: {', '.join(owner['metadata'].get('finalizers', []))})" for owner in left)
            raise cluster.StopError(f"{held} still exist; remove the finalizers whose controllers do not run, and run the command again")
        owned = [item for item in move.live(*cluster.READ) if any(cluster.owned_by(item, owner) for owner in left)]
        has_released = all(item["apiVersion"].startswith("nvidia.com/") for item in owned)
        if has_released and time.monotonic() > started + GRACE and definitions.unserved():
            for item in owned:
                move.kubectl("patch", key(item), "--type=merge", '--patch={"metadata": {"ownerReferences": null}}')
            for owner in left:
                move.kubectl("patch", key(owner), "--type=merge", '--patch={"metadata": {"finalizers": null}}')
        time.sleep(0.5)
        move.snapshot.forget()


def kept_numbers(move: Move) -> Iterator[Resource]:
    """The number of replicas of each adapter, and of each Deployment that Git leaves to an autoscaler.

    Without an owner, a Deployment would fall back to 1, and an adapter to the number in Git.
    """
    running = {**move.running(), **move.adapters()}
    for each in move.objects:
        if each["kind"] in ("Deployment", cluster.ADAPTER) and "replicas" not in each["spec"] and key(each) in running:
            metadata = {field: each["metadata"][field] for field in ("name", "namespace")}
            live = running[key(each)]
            replicas = cluster.desired(live) if each["kind"] == cluster.ADAPTER else live["spec"]["replicas"]
            if replicas is not None:
                yield {"apiVersion": each["apiVersion"], "kind": each["kind"], "metadata": metadata, "spec": {"replicas": replicas}}


def forget(move: Move) -> None:
    """Take the operator's marks and fields off what it wrote in an older version: kubectl takes over only fields of the applied version."""
    for each in move.ours():
        entries, operator = each["metadata"].get("managedFields", []), writer(each)
        kept = [one for one in entries if one["manager"] != operator or one["apiVersion"] == each["apiVersion"] or one.get("subresource")]
        if len(kept) < len(entries):
            # An API server ignores an empty list. A list of one empty entry clears the fields of all managers.
            left = {"managedFields": kept or [{}], "annotations": {cluster.HASH: None, cluster.GENERATION: None}}
            move.kubectl("patch", key(each), "--type=merge", f"--patch={json.dumps({'metadata': left})}")


def inherit(move: Move) -> None:
    """Mark the operator's fields as kubectl's own: its next apply takes over the fields of whoever owns this annotation."""
    by_manager: dict[str, list[Resource]] = {}
    live = move.ours()
    usual = next((found for each in live if (found := writer(each))), "manager")
    for each in live:
        by_manager.setdefault(writer(each) or usual, []).append(each)
    for manager, resources in by_manager.items():
        mark = "kubectl.kubernetes.io/last-applied-configuration={}"
        move.kubectl("annotate", "--overwrite", f"--field-manager={manager}", "-f=-", mark, given=cluster.listed(map(bare, resources)))


def writer(resource: Resource) -> str:
    """The name under which the operator wrote an object: that of whoever owns the operator's hash. Empty if nobody does."""
    for entry in resource["metadata"].get("managedFields", ()):
        if f"f:{cluster.HASH}" in entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:annotations", {}):
            return str(entry["manager"])
    return ""


def bare(resource: Resource) -> Resource:
    """An object as far as it has to be named."""
    metadata = {field: resource["metadata"][field] for field in ("name", "namespace")}
    return {"apiVersion": resource["apiVersion"], "kind": resource["kind"], "metadata": metadata}


def leftovers(move: Move, made: set[str]) -> Iterator[str]:
    """Objects of this graph with the operator's mark that nobody owns any more and that Git does not have.

    `made` are the objects that the graph or a component of it owned. Those of an interrupted run are known by their label.
    """
    ours = {key(each) for each in move.objects}
    for each in move.live(*cluster.MADE):
        of_graph = key(each) in made or cluster.labels(each).get(cluster.GRAPH) == move.graph
        free = of_graph and not each["metadata"].get("ownerReferences")
        if free and cluster.HASH in cluster.annotated(each) and key(each) not in ours:
            yield key(each)
