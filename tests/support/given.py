"""Makers of inputs for tests of the core: graphs, their services, and what becomes of them.

Not its business: what is expected. Every maker takes what the test is about and fills in the rest, so that the input alone is sound.
"""

from __future__ import annotations

from typing import Any

from krm_fn import expand, resolve, results
from krm_fn.config import Config
from krm_fn.expand import Expansion
from krm_fn.kube.types import Resource
from krm_fn.plan import ComponentPlan, GraphPlan
from krm_fn.resolve import cluster
from krm_fn.results import Result, field

NAMESPACE = "team"
IMAGE = "registry.example/dynamo:1"


def graph(services: Any = None, *, name: str = "chat", namespace: str = NAMESPACE, annotations: Any = None, **spec: Any) -> Resource:
    """A DynamoGraphDeployment; without services it has one worker. An empty namespace is left out."""
    metadata: Resource = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if annotations is not None:
        metadata["annotations"] = annotations
    services = {"Worker": service("worker")} if services is None else services
    return {"apiVersion": expand.API_VERSION, "kind": "DynamoGraphDeployment", "metadata": metadata, "spec": {"services": services, **spec}}


def service(kind: str = "", *, main: Resource | None = None, pod: Resource | None = None, **fields: Any) -> Resource:
    """A service of a type, with an image; `main` adds to its `mainContainer` and `pod` to its `extraPodSpec`."""
    typed = {"componentType": kind} if kind else {}
    extra = {"mainContainer": {"image": IMAGE, **(main or {})}, **(pod or {})}
    return {**typed, "extraPodSpec": extra, **fields}


def picker(**fields: Any) -> Resource:
    """A service of the type epp with a configuration of its own."""
    config = {
        "plugins": [{"type": "queue-scorer"}],
        "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": "queue-scorer", "weight": 2}]}],
    }
    return service("epp", **{"eppConfig": {"config": config}, **fields})


def item(kind: str, name: str, *, api: str = "v1", namespace: str = NAMESPACE, annotations: Any = None, **fields: Any) -> Resource:
    """Any other resource."""
    metadata: Resource = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def expanded(*items: Resource, config: Config | None = None, **settings: Any) -> Expansion:
    """What becomes of items under a configuration."""
    return expand.expand(list(items), config or Config(**settings))


def rendered(*items: Resource, **settings: Any) -> dict[str, Resource]:
    """The items that leave, by `Kind/name`; there must be no error."""
    expansion = expanded(*items, **settings)
    assert not [found for found in expansion.results if found.severity == "error"]
    return by_address(expansion.resources)


def by_address(resources: list[Resource]) -> dict[str, Resource]:
    """Resources by `Kind/name`, of which no two may be the same."""
    found = {f"{resource['kind']}/{resource['metadata']['name']}": resource for resource in resources}
    assert len(found) == len(resources)
    return found


def plan(resource: Resource, *around: Resource, **settings: Any) -> tuple[GraphPlan, list[Result]]:
    """The plan of a graph amid other items, with what could not be read."""
    config = Config(**settings)
    return resolve.graph(resource, config, cluster.read(around, config)[0])


def component(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> ComponentPlan:
    """The plan of one service, called `Worker`, of a graph."""
    found, unreadable = plan(graph({"Worker": written}, **spec), *around, **(config or {}))
    assert not results.failed(unreadable)
    return found.components[0]


def deployment(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> Resource:
    """The Deployment of one service, called `Worker`, of a graph."""
    return rendered(graph({"Worker": written}, **spec), *around, **(config or {}))["Deployment/chat-worker"]


def pod(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> Resource:
    """The pod spec of one service, called `Worker`, of a graph."""
    found: Resource = deployment(written, *around, config=config, **spec)["spec"]["template"]["spec"]
    return found


def main(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> Resource:
    """The main container of one service, called `Worker`, of a graph: the last of its pod."""
    found: Resource = pod(written, *around, config=config, **spec)["containers"][-1]
    return found


def variables(container: Resource) -> dict[str, Any]:
    """The environment of a container by name, of which no two may be the same."""
    found = {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container["env"]}
    assert len(found) == len(container["env"])
    return found


def findings(every: list[Result]) -> list[tuple[str, str]]:
    """Codes and fields of findings, in their order."""
    return [(found.code, field(found.path)) for found in every]
