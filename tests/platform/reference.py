"""Imitates how the operator writes the objects of a graph: finalizers, owners, hashes, statuses, and which objects it updates.

Pod templates come from our own render; other tests compare them with the reference's. Follows the reference's
`internal/controller_common/resource.go` SyncResource and `internal/rbac/manager.go`.
"""

from __future__ import annotations

import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any

from krm_fn.render import expand, labels
from krm_fn.render.config import Config
from krm_fn.render.convert import versions
from tests.platform import forms

if TYPE_CHECKING:
    from tests.testbed.api import Answer, Client

Resource = dict[str, Any]

MANAGER = "manager"  # the field manager of a program called /manager
FINALIZER = "nvidia.com/finalizer"
HASH, GENERATION = "nvidia.com/last-applied-hash", "nvidia.com/last-applied-generation"
GRAPH, COMPONENT, ADAPTER = "DynamoGraphDeployment", "DynamoComponentDeployment", "DynamoGraphDeploymentScalingAdapter"
ACCOUNTS = ("planner-serviceaccount", "epp-serviceaccount")
OF_THE_GRAPH = (
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "PersistentVolumeClaim",
    "ConfigMap",
    "InferencePool",
    "PodCliqueSet",
    ADAPTER,
)


class RefusedError(Exception):
    """The operator stops with an error, and tries again for ever."""


def reconcile(client: Client, graph: Resource, config: Config) -> None:
    """Reconcile a graph that is in the cluster, and its components, once. Raises RefusedError."""
    live = _held(client, _live(client, graph))
    bare = {"apiVersion": live["apiVersion"], "kind": GRAPH, "metadata": _named(live), "spec": live["spec"]}
    expanded = expand.expand([bare], config._replace(components=True))
    wanted = [forms.written(each, bare) for each in expanded.resources if each["kind"] != GRAPH]
    for each in (*forms.for_planners(live["metadata"]["namespace"], config.rbac.planner_role), *wanted):
        if each["metadata"]["name"].removesuffix("-binding") in ACCOUNTS:
            _account(client, each)
        elif each["kind"] in OF_THE_GRAPH:
            made = sync(client, live, versions.to("v1alpha1", _numbered(each, live)))  # all releases write v1alpha1
            if each["kind"] == ADAPTER:
                _report(client, made, {"replicas": made["spec"]["replicas"], "selector": f"{labels.GRAPH}={live['metadata']['name']}"})
    components = [_held(client, sync(client, live, forms.typed(each))) for each in wanted if each["kind"] == COMPONENT]
    for each in wanted:
        if each["kind"] not in {*OF_THE_GRAPH, COMPONENT}:
            debugging = forms.twins(each) if each["kind"] == "Service" and components and not forms.is_newer(live) else ()
            for one in (each, *debugging):
                sync(client, _owner(each, components) or live, one)
    _report(client, _live(client, live), {"state": "successful"})


def _numbered(wanted: Resource, graph: Resource) -> Resource:
    """An adapter with the replicas of its graph, which our render leaves out; any other object unchanged."""
    if wanted["kind"] != ADAPTER:
        return wanted
    spec, target = graph["spec"], wanted["spec"]["dgdRef"]
    components = spec.get("services") or {each["name"]: each for each in spec["components"]}
    component = components[target.get("componentName") or target["serviceName"]]
    return {**wanted, "spec": {"replicas": component.get("replicas", 1), **wanted["spec"]}}


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
    sent = forms.typed(resource | {"metadata": resource["metadata"] | {"finalizers": [*held, FINALIZER]}})
    return resource if FINALIZER in held else _put(client, sent)


def _report(client: Client, resource: Resource, status: Resource) -> None:
    _written(client.request("PUT", f"{client.path(resource)}/status?fieldManager={MANAGER}", {**resource, "status": status}))


def _reference(owner: Resource) -> Resource:
    named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    return named | {"controller": True, "blockOwnerDeletion": True}


def _named(resource: Resource) -> Resource:
    found = {key: resource["metadata"][key] for key in ("name", "namespace")}
    notes = {key: value for key, value in labels.annotations(resource).items() if key.startswith("nvidia.com/")}
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
