# ruff: noqa: INP001 - see __main__.py
"""Makes the graph and its components the owners of their objects after the operator has started again."""

from __future__ import annotations

import json
import sys

import cluster
from cluster import Move, Resource, key, name
from to_operator import SHARED

OF_COMPONENTS = {"Deployment", cluster.GROUP, "PodGroup", "Service", "Ingress", "VirtualService"}


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
