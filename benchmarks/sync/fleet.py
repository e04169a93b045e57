"""A fleet of many graphs with their Deployments and pods. One graph is created by the API server; etcd gets the copies of its objects.

Copies in etcd need seconds for 50,000 objects, and the API server would need half an hour. The API server reads JSON from etcd, too.
"""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from benchmarks.sync import objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.testbed.control_plane import ControlPlane

SAMPLE, SAMPLES = "fleet-sample", "fleet-samples"
"""The graph that is copied, and its namespace."""
_FOLDERS = {
    "Namespace": "namespaces",
    "DynamoGraphDeployment": "nvidia.com/dynamographdeployments",
    "Deployment": "deployments",
    "Pod": "pods",
}
"""Where the API server stores the objects of a kind."""
_BATCH = 100  # etcd refuses transactions with more than 128 operations
_SINCE = "2026-01-01T00:00:00Z"


class Fleet(NamedTuple):
    """The size of a fleet: `services` are those of a graph, `pods` those of a service."""

    graphs: int
    namespaces: int
    services: int = 3
    pods: int = 2

    @property
    def objects(self) -> dict[str, int]:
        """The numbers of objects, by kind."""
        deployments = self.graphs * self.services
        return {"DynamoGraphDeployment": self.graphs, "Deployment": deployments, "Pod": deployments * self.pods}

    @property
    def service_names(self) -> list[str]:
        """The services of a graph."""
        return ["Frontend", *(f"Worker{number}" for number in range(1, self.services))]

    @property
    def workloads(self) -> list[Workload]:
        """All workloads, ordered so that neighbours belong to different graphs."""
        return [
            Workload(self.namespace(number), graph(number), service, f"{graph(number)}-{service.lower()}")
            for service in self.service_names
            for number in range(self.graphs)
        ]

    def namespace(self, number: int) -> str:
        """The name of the namespace of a graph."""
        return namespace(number % self.namespaces)


class Workload(NamedTuple):
    """One service of a graph, and its Deployment."""

    namespace: str
    graph: str
    service: str
    deployment: str


def graph(number: int) -> str:
    """The name of a graph of a fleet."""
    return f"graph-{number:05}"


def namespace(number: int) -> str:
    """The name of a namespace of a fleet."""
    return f"team-{number:03}"


def create_sample(plane: ControlPlane, fleet: Fleet) -> None:
    """Creates the sample graph with its Deployments and pods, all ready. Raises OSError with the server's message."""
    plane.namespace(SAMPLES)
    for resource in objects.expanded(objects.graph(SAMPLE, fleet.service_names, SAMPLES)):
        _create(plane, resource)
        if resource["kind"] == "Deployment":
            _patch_status(plane, resource, objects.deployment_status(ready=True))
            for number in range(fleet.pods):
                pod = _pod(resource, number)
                _create(plane, pod)
                _patch_status(plane, pod, _pod_status(pod))


def store(plane: ControlPlane, fleet: Fleet) -> None:
    """Stores copies of the sample in etcd. Raises OSError if etcd does not accept them."""
    texts = [json.dumps(resource) for resource in _sample(plane)]
    address = urlsplit(_etcd(plane))
    connection = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=60)
    for batch in _batches(_copies(texts, fleet)):
        puts = [{"requestPut": {"key": _encoded(key), "value": _encoded(value)}} for key, value in batch]
        connection.request("POST", "/v3/kv/txn", json.dumps({"success": puts}))
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise OSError(text.decode())
    connection.close()


def _copies(texts: list[str], fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Keys and values in etcd."""
    for number in range(fleet.namespaces):
        metadata = {"name": namespace(number), "uid": str(uuid.uuid4()), "creationTimestamp": _SINCE}
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata, "spec": {"finalizers": ["kubernetes"]}}
        yield f"/registry/namespaces/{namespace(number)}", json.dumps({**body, "status": {"phase": "Active"}})
    for number in range(fleet.graphs):
        home = fleet.namespace(number)
        for text in texts:
            copy = json.loads(text.replace(SAMPLES, home).replace(SAMPLE, graph(number)))
            copy["metadata"]["uid"] = str(uuid.uuid4())
            del copy["metadata"]["resourceVersion"]
            yield f"/registry/{_FOLDERS[copy['kind']]}/{home}/{copy['metadata']['name']}", json.dumps(copy)


def _sample(plane: ControlPlane) -> list[dict[str, Any]]:
    kinds = {"nvidia.com/v1alpha1": ("dynamographdeployments",), "apps/v1": ("deployments",), "v1": ("pods",)}
    return [
        {"apiVersion": version, "kind": listed["kind"].removesuffix("List"), **item}
        for version, names in kinds.items()
        for name in names
        for listed in [plane.client.get(f"/{'apis/' if '/' in version else 'api/'}{version}/namespaces/{SAMPLES}/{name}")]
        for item in listed["items"]
    ]


def _create(plane: ControlPlane, resource: dict[str, Any]) -> None:
    answer = plane.client.create(resource, dry_run=False)
    if not answer.ok:
        raise OSError(answer.message)


def _patch_status(plane: ControlPlane, resource: dict[str, Any], status: dict[str, Any]) -> None:
    path = f"{plane.client.path(resource)}/status"
    answer = plane.client.request("PATCH", path, {"status": status}, "application/merge-patch+json")
    if not answer.ok:
        raise OSError(answer.message)


def _pod(deployment: dict[str, Any], number: int) -> dict[str, Any]:
    """A pod of a Deployment, with a name of the length that Kubernetes gives."""
    template, name = deployment["spec"]["template"], f"{deployment['metadata']['name']}-7d9f8b6c5d-x2k{number}z"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template["metadata"], "name": name, "namespace": SAMPLES},
        "spec": {**template["spec"], "nodeName": "node-0001", "serviceAccountName": "default"},
    }


def _pod_status(pod: dict[str, Any]) -> dict[str, Any]:
    conditions = [{"type": type_, "status": "True", "lastTransitionTime": _SINCE} for type_ in ("Initialized", "Ready", "PodScheduled")]
    statuses = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": _SINCE}},
        }
        for container in pod["spec"]["containers"]
    ]
    addresses = {"podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}], "hostIP": "10.0.0.1", "startTime": _SINCE}
    return {"phase": "Running", "conditions": conditions, "containerStatuses": statuses, **addresses}


def _batches(items: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, _BATCH)):
        yield batch


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _etcd(plane: ControlPlane) -> str:
    """The address of etcd, from its command."""
    arguments = Path(f"/proc/{plane.etcd.pid}/cmdline").read_text().split("\0")
    (address,) = [argument.partition("=")[2] for argument in arguments if argument.startswith("--advertise-client-urls=")]
    return address
