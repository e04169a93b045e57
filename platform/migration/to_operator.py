# ruff: noqa: INP001 - see __main__.py
"""Gives the objects of a graph back to the operator."""

from __future__ import annotations

import json
import sys

import cluster
from cluster import Move, Resource, key, name

NO_SPEC = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"  # the operator's hash of an object without spec
WITHOUT_SPEC = {"ServiceAccount", "Role", "RoleBinding", "ConfigMap"}
OF_COMPONENTS = {"Deployment", cluster.GROUP, "PodGroup", "Service", "Ingress", "VirtualService"}
SHARED = {f"{account}{end}" for account in ("planner-serviceaccount", "epp-serviceaccount") for end in ("", "-binding")}


def give_back(move: Move) -> None:
    """Make the operator recognize the objects, and the graph say what runs. Raises StopError if the operator runs already."""
    cluster.stopped(move)
    if not move.graphs():
        raise cluster.StopError(f"the graph {move.graph} is not in the cluster; apply it")
    marked = [each for each in move.ours() if each["kind"] in WITHOUT_SPEC and name(each) not in SHARED]
    if marked:  # the operator gives up at an object without spec that lacks the mark
        move.kubectl(
            "annotate", "--overwrite", "-f=-", f"{cluster.HASH}={NO_SPEC}", f"{cluster.GENERATION}=1", given=cluster.listed(marked)
        )
    patch = json.dumps({"spec": {"services": services(move)}})
    move.kubectl("patch", key(move.graphs()[0]), "--type=merge", f"--patch={patch}")
    sys.stdout.write(f"the graph and {len(marked)} objects are ready; start the operator\n")


def services(move: Move) -> Resource:
    """What the graph has to say so that the operator keeps the pods: the replicas of adapters, and the pull secrets of pods.

    The operator finds pull secrets by itself, but not in its first seconds, and would write pod templates without them.
    """
    found: Resource = {}
    for adapter in move.adapters().values():
        found.setdefault(adapter["spec"]["dgdRef"]["serviceName"], {})["replicas"] = adapter["spec"]["replicas"]
    for workload in move.running().values():
        for service, pod in cluster.pods(workload):
            if pod.get("imagePullSecrets"):
                found.setdefault(service, {})["extraPodSpec"] = {"imagePullSecrets": pod["imagePullSecrets"]}
    return found


def set_owners(move: Move) -> None:
    """Make the graph and its components own what the operator would have made for them, except for volumes."""
    components, graphs = move.components(), move.graphs()
    grove = any(each["kind"] == cluster.SET for each in move.objects)
    chosen: list[tuple[Resource, Resource]] = []
    for each in move.ours():
        if cluster.OWNER in cluster.annotated(each) and each["kind"] != "PersistentVolumeClaim" and name(each) not in SHARED:
            owners = graphs if grove or each["kind"] not in OF_COMPONENTS else of_component(each, components)
            if not owners:
                raise cluster.StopError(f"the owner of {key(each)} does not exist yet; wait until the operator has made it")
            chosen.append((each, owners[0]))
    for each, owner in chosen:
        if not any(other.get("controller") for other in each["metadata"].get("ownerReferences", ())):
            reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name(owner), "uid": owner["metadata"]["uid"]}
            owned = {"metadata": {"ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}]}}
            move.kubectl("patch", key(each), "--type=merge", f"--patch={json.dumps(owned)}")
    sys.stdout.write(f"{len(chosen)} objects have their owners\n")


def of_component(resource: Resource, components: list[Resource]) -> list[Resource]:
    """The component that an object is called after, longest name first; of the Service of a model, one that serves it."""
    model = cluster.annotated(resource).get("nvidia.com/dynamo-base-model")
    if model:
        return [each for each in components if each["spec"].get("modelRef", {}).get("name") == model]
    called = [each for each in components if f"{name(resource)}-".startswith(f"{name(each)}-")]
    return sorted(called, key=lambda each: len(name(each)), reverse=True)
