"""Builders of inputs in `nvidia.com/v1beta1`. Each takes the fields that a test is about and fills in the others."""

from __future__ import annotations

from typing import Any

from krm_fn.kubernetes.types import Resource
from krm_fn.render import dynamo_api
from tests.support import given

IMAGE = "registry.example/dynamo:1.5.0"


def graph(*components: Resource, name: str = "chat", namespace: str = given.NAMESPACE, annotations: Any = None, **spec: Any) -> Resource:
    """A DynamoGraphDeployment; one worker if no component is given."""
    listed = list(components or [component("Worker")])
    item = given.item("DynamoGraphDeployment", name, api=dynamo_api.V1BETA1, namespace=namespace, annotations=annotations)
    return {**item, "spec": {"components": listed, **spec}}


def component(
    name: str, kind: str = "worker", *, main: Any = None, pod: Any = None, metadata: Any = None, beside: Any = (), **fields: Any
) -> Resource:
    """A component with an image. `main` adds to its main container, `pod` to its pod, and `beside` are other containers."""
    spec = {"containers": [{"name": "main", "image": IMAGE, **(main or {})}, *beside], **(pod or {})}
    template = {"spec": spec, **({"metadata": metadata} if metadata else {})}
    return {"name": name, **({"type": kind} if kind else {}), "podTemplate": template, **fields}


def named(item: Resource, name: str) -> Resource:
    """Returns the component of a graph with this name. Raises StopIteration."""
    components: list[Resource] = item["spec"]["components"]
    return next(entry for entry in components if entry["name"] == name)


def main(item: Resource, name: str) -> Resource:
    """Returns the main container of a component of a graph. Raises StopIteration."""
    containers: list[Resource] = named(item, name)["podTemplate"]["spec"]["containers"]
    return next(entry for entry in containers if entry["name"] == "main")


def service(kind: str = "worker", *, main: Any = None, **fields: Any) -> Resource:
    """A service of v1alpha1 with an image of a known version."""
    return given.service(kind, main={"image": IMAGE, **(main or {})}, **fields)
