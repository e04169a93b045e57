"""Imitates how the operator writes the objects of a graph: finalizers, owners, hashes, and which objects it updates.

Pod templates come from our own render; other tests compare them with the reference's. Follows the reference's
`internal/controller_common/resource.go` SyncResource and `internal/rbac/manager.go`.
"""

from __future__ import annotations

import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any

from krm_fn import expand
from krm_fn.config import Config
from krm_fn.kube import labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.api import Answer, Client

Resource = dict[str, Any]

MANAGER = "manager"  # the field manager of a program called /manager
FINALIZER = "nvidia.com/finalizer"
HASH, GENERATION = "nvidia.com/last-applied-hash", "nvidia.com/last-applied-generation"
GRAPH, COMPONENT = "DynamoGraphDeployment", "DynamoComponentDeployment"
ACCOUNTS = ("planner-serviceaccount", "epp-serviceaccount")
OF_THE_GRAPH = (
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "PersistentVolumeClaim",
    "ConfigMap",
    "InferencePool",
    "PodCliqueSet",
    "DynamoGraphDeploymentScalingAdapter",
)


class RefusedError(Exception):
    """The operator stops with an error, and tries again for ever."""


def reconcile(client: Client, graph: Resource, config: Config) -> None:
    """Reconcile a graph that is in the cluster, and its components, once. Raises RefusedError."""
    live = _held(client, _live(client, graph))
    bare = {"apiVersion": live["apiVersion"], "kind": GRAPH, "metadata": _named(live), "spec": live["spec"]}
    expanded = expand.expand([bare], config._replace(components=True))
    wanted = [_as_the_operator(each, bare) for each in expanded.resources if each["kind"] != GRAPH]
    for each in wanted:
        if each["metadata"]["name"].removesuffix("-binding") in ACCOUNTS:
            _account(client, each)
        elif each["kind"] in OF_THE_GRAPH:
            sync(client, live, each)
    components = [_held(client, sync(client, live, each)) for each in wanted if each["kind"] == COMPONENT]
    for each in wanted:
        if each["kind"] not in {*OF_THE_GRAPH, COMPONENT}:
            for one in (each, *_twins(each)):
                sync(client, _owner(each, components) or live, one)


def sync(client: Client, parent: Resource, wanted: Resource) -> Resource:
    """Create a missing object; of an existing one update only the spec, if the hash or the generation has changed."""
    wanted = copy.deepcopy(wanted)
    answer = client.request("GET", client.path(wanted))
    if answer.status == 404:
        wanted["metadata"]["ownerReferences"] = [_reference(parent)]
        if wanted["kind"] != "PersistentVolumeClaim":
            wanted["metadata"].setdefault("annotations", {}).update({HASH: digest(wanted), GENERATION: "1"})
        return _create(client, wanted)
    live: Resource = answer.body
    noted, generation = live["metadata"].setdefault("annotations", {}), live["metadata"].get("generation", 0)
    same = noted.get(HASH) == digest(wanted) and noted.get(GENERATION, "").isdigit() and generation <= int(noted[GENERATION])
    if same or wanted["kind"] == "PersistentVolumeClaim":
        return live
    if "spec" not in wanted:
        raise RefusedError("spec not found in source object")
    noted.update({HASH: digest(wanted), GENERATION: str(generation + 1)})
    return _put(client, live | {"spec": wanted["spec"]})


def digest(resource: Resource) -> str:
    """The hash of a spec: lists of objects sorted by name, keys sorted."""
    return hashlib.sha256(json.dumps(_sorted(resource.get("spec", {})), sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        named = all(isinstance(each, dict) and "name" in each for each in value)
        return [_sorted(each) for each in (sorted(value, key=lambda each: str(each["name"])) if named else value)]
    return value


def _as_the_operator(resource: Resource, graph: Resource) -> Resource:
    """A rendered object without our additions, and with the fields that only the operator writes."""
    bare = copy.deepcopy(resource)
    metadata = bare["metadata"]
    metadata["annotations"] = {key: value for key, value in labels.notes(resource).items() if key not in {labels.OWNER, *labels.RETAIN}}
    metadata["labels"] = {key: value for key, value in labels.of(resource).items() if key != labels.MANAGED_BY}
    if resource["kind"] in {"ServiceAccount", "Role", "RoleBinding"}:
        metadata["labels"][labels.MANAGED_BY] = "dynamo-operator"
    if resource["kind"] == "Deployment":
        service = labels.of(resource["spec"]["template"])[labels.COMPONENT]
        bare["spec"].pop("progressDeadlineSeconds")
        bare["spec"]["replicas"] = graph["spec"]["services"][service].get("replicas", 1)
    return bare


def _twins(resource: Resource) -> Iterator[Resource]:
    """The two Services for debugging that the operator makes for every component."""
    if resource["kind"] == "Service" and not resource["metadata"]["name"].startswith("dynamo-model-"):
        for suffix, more in (("-p", {}), ("-d", {"nvidia.com/dynamo-deployment-target-type": "debug"})):
            twin = copy.deepcopy(resource)
            twin["metadata"]["name"] += suffix
            twin["spec"]["selector"] |= more
            yield twin


def _owner(resource: Resource, components: list[Resource]) -> Resource | None:
    """The component whose name an object begins with; for the Service of a model, the first component with a model."""
    name = resource["metadata"]["name"]
    called = [each for each in components if f"{name}-".startswith(f"{each['metadata']['name']}-")]
    return next(iter(called or [each for each in components if "modelRef" in each["spec"]]), None)


def _account(client: Client, wanted: Resource) -> None:
    """Accounts with a ClusterRole have no owner; a binding to another role is deleted and created again."""
    answer = client.request("GET", client.path(wanted))
    if answer.ok and answer.body.get("roleRef") == wanted.get("roleRef"):
        return
    if answer.ok:
        client.request("DELETE", client.path(wanted))
    _create(client, wanted)


def _held(client: Client, resource: Resource) -> Resource:
    """A resource with the operator's finalizer."""
    held = resource["metadata"].setdefault("finalizers", [])
    return (
        resource if FINALIZER in held else _put(client, resource | {"metadata": resource["metadata"] | {"finalizers": [*held, FINALIZER]}})
    )


def _reference(owner: Resource) -> Resource:
    named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    return named | {"controller": True, "blockOwnerDeletion": True}


def _named(resource: Resource) -> Resource:
    found = {key: resource["metadata"][key] for key in ("name", "namespace")}
    notes = {key: value for key, value in labels.notes(resource).items() if key.startswith("nvidia.com/")}
    return found | ({"annotations": notes} if notes else {})


def _live(client: Client, resource: Resource) -> Resource:
    found: Resource = client.get(client.path(resource))
    return found


def _create(client: Client, resource: Resource) -> Resource:
    where = client.path(resource).rpartition("/")[0]
    return _written(client.request("POST", f"{where}?fieldManager={MANAGER}", resource))


def _put(client: Client, resource: Resource) -> Resource:
    return _written(client.request("PUT", f"{client.path(resource)}?fieldManager={MANAGER}", resource))


def _written(answer: Answer) -> Resource:
    assert answer.ok, answer.message
    found: Resource = answer.body
    return found
