"""Builders of inputs for tests of the core: graphs and services, and shortcuts to their expansion.

Every builder takes the fields that a test is about and fills in the others, so that the input is valid.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from krm_fn.base import results
from krm_fn.base.results import Result, field
from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api, expand, resolve
from krm_fn.render.config import Config
from krm_fn.render.expand import Expansion
from krm_fn.render.plan import ComponentPlan, GraphPlan
from krm_fn.render.resolve import cluster, release_choice

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE = "team"
IMAGE = "registry.example/dynamo:1.5.0"
CONFIGURED_PICKER = "registry.example/epp:1.4.0"


def graph(services: Any = None, *, name: str = "chat", namespace: str = NAMESPACE, annotations: Any = None, **spec: Any) -> Resource:
    """A DynamoGraphDeployment; one worker if `services` is not given. An empty namespace is omitted."""
    metadata: Resource = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if annotations is not None:
        metadata["annotations"] = annotations
    services = {"Worker": service("worker")} if services is None else services
    return {
        "apiVersion": dynamo_api.V1ALPHA1,
        "kind": "DynamoGraphDeployment",
        "metadata": metadata,
        "spec": {"services": services, **spec},
    }


def service(kind: str = "", *, main: Resource | None = None, pod: Resource | None = None, **fields: Any) -> Resource:
    """A service of a component type, with an image. `main` adds to its `mainContainer`, `pod` to its `extraPodSpec`."""
    typed = {"componentType": kind} if kind else {}
    extra = {"mainContainer": {"image": IMAGE, **(main or {})}, **(pod or {})}
    return {**typed, "extraPodSpec": extra, **fields}


def before_1_0(resource: Resource) -> Resource:
    """The resource with images of a version before 1.0, so that it follows release 0.9."""
    text = json.dumps(resource).replace(IMAGE, "registry.example/dynamo:0.9.0").replace(CONFIGURED_PICKER, "registry.example/epp:0.9.0")
    found: Resource = json.loads(text)
    return found


def picker(**fields: Any) -> Resource:
    """A service of component type epp with an inline configuration, and the newest image that reads one."""
    config = {
        "plugins": [{"type": "queue-scorer"}],
        "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": "queue-scorer", "weight": 2}]}],
    }
    return service("epp", **{"eppConfig": {"config": config}, "main": {"image": CONFIGURED_PICKER}, **fields})


def item(kind: str, name: str, *, api: str = "v1", namespace: str = NAMESPACE, annotations: Any = None, **fields: Any) -> Resource:
    """A resource of any kind."""
    metadata: Resource = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def settings_of(*items: Resource, **settings: Any) -> Config:
    """The configuration with these settings. Resources of v1alpha1 follow 0.9 unless a test sets `behaviour` or uses newer ones, too."""
    dynamo = [item for item in items if str(item.get("apiVersion", "")).startswith(f"{dynamo_api.GROUP}/")]
    is_older = all(item["apiVersion"] == dynamo_api.V1ALPHA1 and not release_choice.is_from_newer(item) for item in dynamo)
    return Config(**{"behaviour": "v0.9" if is_older else "", **settings})


def expanded(*items: Resource, config: Config | None = None, **settings: Any) -> Expansion:
    """The expansion of items under a configuration."""
    return expand.expand(list(items), config or settings_of(*items, **settings))


def rendered(*items: Resource, **settings: Any) -> dict[str, Resource]:
    """The output items by `Kind/name`. Asserts that no finding is an error."""
    expansion = expanded(*items, **settings)
    assert not [found for found in expansion.results if found.severity == "error"]
    return by_address(expansion.resources)


def by_address(resources: list[Resource]) -> dict[str, Resource]:
    """Resources by `Kind/name`. Asserts that each is unique."""
    found = {f"{resource['kind']}/{resource['metadata']['name']}": resource for resource in resources}
    assert len(found) == len(resources)
    return found


def plan(resource: Resource, *around: Resource, **settings: Any) -> tuple[GraphPlan, list[Result]]:
    """The plan of a graph among other items, and the findings of resolve."""
    config = settings_of(resource, **settings)
    return resolve.graph(resource, config, cluster.read(around, config)[0])


def component(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> ComponentPlan:
    """The plan of a graph's only service, `Worker`."""
    found, unreadable = plan(graph({"Worker": written}, **spec), *around, **(config or {}))
    assert not results.has_errors(unreadable)
    return found.components[0]


def deployment(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> Resource:
    """The Deployment of a graph's only service, `Worker`."""
    return rendered(graph({"Worker": written}, **spec), *around, **(config or {}))["Deployment/chat-worker"]


def pod(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> Resource:
    """The pod spec of a graph's only service, `Worker`."""
    found: Resource = deployment(written, *around, config=config, **spec)["spec"]["template"]["spec"]
    return found


def main(written: Resource, *around: Resource, config: Resource | None = None, **spec: Any) -> Resource:
    """The main container of a graph's only service, `Worker`: the last container of its pod."""
    found: Resource = pod(written, *around, config=config, **spec)["containers"][-1]
    return found


def variables(container: Mapping[str, Any]) -> dict[str, Any]:
    """The environment variables of a container by name. Asserts that each name is unique."""
    found = {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container["env"]}
    assert len(found) == len(container["env"])
    return found


def findings(every: list[Result]) -> list[tuple[str, str]]:
    """Code and field of each finding, in order."""
    return [(found.code, field(found.path)) for found in every]
