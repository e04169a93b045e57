"""Access to the cluster for the GitOps tests: writes objects, and acts as kubelet, volume controller and status syncer."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.support import builds
from tests.testbed import api, programs, server

if TYPE_CHECKING:
    from tests.testbed.control_plane import ControlPlane

Object = dict[str, Any]

DYNAMO = "nvidia.com/v1alpha1"
_OLDER_GRAPH = programs.ROOT / "tests" / "support" / "v1alpha1" / "llm-agg.yaml"
_NOT_OURS = {"ConfigMap/kube-root-ca.crt", "ServiceAccount/default"}
_KINDS = (
    ("apps/v1", "Deployment"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolumeClaim"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("batch/v1", "Job"),
    (DYNAMO, "DynamoGraphDeployment"),
    (DYNAMO, "DynamoGraphDeploymentRequest"),
    (DYNAMO, "DynamoGraphDeploymentScalingAdapter"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("grove.io/v1alpha1", "PodCliqueSet"),
)


def read(file: Path) -> list[Object]:
    """The objects of a YAML file."""
    return [each for each in yaml.safe_load_all(file.read_text()) if each]


def make_older(folder: Path) -> None:
    """Give a copied example the older form of its graph, which has its claim in it, for a cluster that serves v1alpha1.

    Its images are from before 1.0: one service can have any image, and no other service changes.
    """
    shutil.copy(_OLDER_GRAPH, folder / "graph.yaml")
    (folder / "claim.yaml").unlink()
    if (folder / "kustomization.yaml").exists():
        builds.edit(folder / "kustomization.yaml", lambda file: file.update(resources=["graph.yaml"]))


def put(plane: ControlPlane, *objects: Object) -> None:
    """Apply objects. Raises AssertionError with the message of the server."""
    for each in objects:
        answer = plane.apply(each, dry_run=False)
        assert answer.ok, f"{each['kind']} {each['metadata']['name']}: {answer.message}"
        if each["kind"] == "CustomResourceDefinition":
            _serve(plane, each)


def _serve(plane: ControlPlane, definition: Object) -> None:
    """Return as soon as the API server finds and lists the kind; the two can happen at different times."""
    spec = definition["spec"]
    for version in [f"{spec['group']}/{each['name']}" for each in spec["versions"] if each["served"]]:
        server.eventually(lambda: plane.client.knows(version, spec["names"]["kind"]))  # noqa: B023 - called before the next turn
        server.eventually(lambda: plane.client.request("GET", f"/apis/{version}/{spec['names']['plural']}").ok)  # noqa: B023 - as above


def get(plane: ControlPlane, api_version: str, kind: str, name: str, namespace: str) -> Object | None:
    """An object, or None."""
    path = plane.client.path({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}})
    answer = plane.client.request("GET", path)
    return answer.body if answer.ok else None


def patch(plane: ControlPlane, resource: Object, change: Object, part: str = "") -> None:
    """Merge-patch an object or a subresource. Raises AssertionError with the message of the server."""
    answer = _patch(plane, resource, change, part)
    assert answer.ok, answer.message


def _patch(plane: ControlPlane, resource: Object, change: Object, part: str) -> api.Answer:
    return plane.client.request("PATCH", plane.client.path(resource) + part, change, api.MERGE)


def report(plane: ControlPlane, resource: Object, status: Object) -> None:
    """Write a status."""
    patch(plane, resource, {"status": status}, "/status")


def of_kind(plane: ControlPlane, api_version: str, kind: str, namespace: str) -> list[Object]:
    """The objects of one kind in a namespace."""
    path = plane.client.path({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": namespace}})
    return [{"apiVersion": api_version, "kind": kind, **item} for item in plane.client.get(path.rpartition("/")[0])["items"]]


def objects(plane: ControlPlane, namespace: str) -> dict[str, Object]:
    """The objects of a namespace by `Kind/name`: those of kinds that we render, without those that every namespace has."""
    resources = {
        f"{kind}/{resource['metadata']['name']}": resource
        for api_version, kind in _KINDS
        for resource in of_kind(plane, api_version, kind, namespace)
    }
    return {name: resource for name, resource in resources.items() if name not in _NOT_OURS}


def versions(plane: ControlPlane, namespace: str) -> dict[str, tuple[str, str]]:
    """The uid of each object in a namespace with its generation, or with its content if it has no generation."""
    return {
        name: (each["metadata"]["uid"], str(each["metadata"].get("generation") or _content(each)))
        for name, each in objects(plane, namespace).items()
    }


def _content(each: Object) -> Object:
    metadata = {key: value for key, value in each["metadata"].items() if key not in ("managedFields", "resourceVersion")}
    return {key: value for key, value in each.items() if key != "status"} | {"metadata": metadata}


def changed(before: dict[str, tuple[str, str]], after: dict[str, tuple[str, str]]) -> set[str]:
    """The names of objects created, changed or deleted between two calls of `versions`."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def run_pods(plane: ControlPlane, namespace: str) -> None:
    """Act as kubelet and volume controller: every pod runs and is ready, every claim is bound.

    A controller may delete a pod between the list and the write, as it does with one that an older template still waits to start.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ready = [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in ("Ready", "ContainersReady")]
    for pod in plane.client.get(f"/api/v1/namespaces/{namespace}/pods")["items"]:
        if pod["status"].get("phase") != "Running":
            status = {"phase": "Running", "conditions": ready}
            answer = _patch(plane, {"apiVersion": "v1", "kind": "Pod", **pod}, {"status": status}, "/status")
            assert answer.ok or answer.status == 404, answer.message
    for claim in plane.client.get(f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")["items"]:
        if claim["status"].get("phase") != "Bound":
            report(plane, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim}, {"phase": "Bound"})


def say(plane: ControlPlane, namespace: str, state: str, message: str = "") -> None:
    """Act as syncer: write the state of every graph, the first number of every adapter, and its observed replicas.

    Like the syncer, it writes only what changes: each write makes GitOps controllers assess the resource again.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ready = {"type": "Ready", "status": str(state == "successful"), "reason": "told_by_the_test", "message": message or state}
    for graph in of_kind(plane, DYNAMO, "DynamoGraphDeployment", namespace):
        status = {"state": state, "observedGeneration": graph["metadata"]["generation"]}
        messages = [condition["message"] for condition in graph.get("status", {}).get("conditions", [])]
        if not _has(graph, status) or messages != [ready["message"]]:
            report(plane, graph, {**status, "conditions": [{**ready, "lastTransitionTime": now}]})
    for adapter in [_with_number(plane, each) for each in of_kind(plane, DYNAMO, "DynamoGraphDeploymentScalingAdapter", namespace)]:
        status = {"replicas": adapter["spec"]["replicas"], "observedGeneration": adapter["metadata"]["generation"]}
        if not _has(adapter, status):
            report(plane, adapter, status)


def _with_number(plane: ControlPlane, adapter: Object) -> Object:
    """The adapter with its number. A new adapter gets that of its graph, which is 1 if Git does not say it."""
    if "replicas" in adapter["spec"]:
        return adapter
    target, where = adapter["spec"]["dgdRef"], adapter["metadata"]
    graph = get(plane, DYNAMO, "DynamoGraphDeployment", target["name"], where["namespace"]) or {"spec": {"services": {}}}
    replicas = graph["spec"]["services"].get(target["serviceName"], {}).get("replicas", 1)
    patch(plane, adapter, {"spec": {"replicas": replicas}})
    return {**adapter, **(get(plane, DYNAMO, adapter["kind"], where["name"], where["namespace"]) or {})}


def _has(resource: Object, status: Object) -> bool:
    current = resource.get("status", {})
    return all(current.get(key) == value for key, value in status.items())
