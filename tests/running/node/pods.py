"""Builders of small pods for the tests of the node, whose containers are programs of this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed.node import image
from tests.testbed.place import Place

if TYPE_CHECKING:
    from tests.running.bed import Running
    from tests.testbed.node import Node

Object = dict[str, Any]

IMAGE = "example.com/programs:1"


class Here(NamedTuple):
    """A namespace of the running control plane, and the node."""

    place: Place
    node: Node

    @property
    def namespace(self) -> str:
        """The name of the namespace."""
        return self.place.namespace

    def apply(self, *objects: Object) -> None:
        """Apply objects in the namespace. Raises AssertionError with the message of the server."""
        self.place.apply(objects)

    def kubectl(self, *arguments: str) -> str:
        """See `Place.kubectl`."""
        return self.place.kubectl(*arguments)

    def pod(self, name: str) -> Object:
        """A pod as the API server has it. Raises LookupError."""
        return self.place.get("Pod", name)

    def container(self, name: str, container: str = "main") -> Object:
        """The status of a container; empty if it has none yet."""
        status = self.pod(name).get("status", {})
        found = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
        return next((each for each in found if each["name"] == container), {})


def here(running: Running, namespace: str) -> Here:
    """A namespace for one test, and the image of `server`, `sleeper` and `shell`."""
    running.node.images[IMAGE] = image.of_environment(Path(sys.prefix))
    return Here(Place(running.plane, running.plane.namespace(namespace)), running.node)


def server(**fields: Any) -> Object:
    """A container that serves its working directory by HTTP at port 8000, which is named `http`."""
    ports = [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]
    command = [sys.executable, "-u", "-m", "http.server", "8000"]
    return {"name": "main", "image": IMAGE, "command": command, "ports": ports, **fields}


def shell(script: str, **fields: Any) -> Object:
    """A container that runs a shell script."""
    return {"name": "main", "image": IMAGE, "command": ["sh", "-c", script], **fields}


def sleeper(**fields: Any) -> Object:
    """A container that does nothing."""
    return shell("trap exit TERM; while :; do sleep 0.1; done", **fields)


def pod(name: str, *containers: Object, **spec: Any) -> Object:
    """A pod that gets a second to end."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": _spec(containers, spec)}


def deployment(name: str, *containers: Object, replicas: int = 1, **spec: Any) -> Object:
    """A Deployment of such pods."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": _spec(containers, spec)}
    whole = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": whole}


def service(name: str, port: int, target: int | str, **spec: Any) -> Object:
    """A Service of the pods of a Deployment."""
    ports = [{"name": "http", "port": port, "targetPort": target, "protocol": "TCP"}]
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"selector": {"app": name}, "ports": ports, **spec}}


def _spec(containers: tuple[Object, ...], more: Object) -> Object:
    return {"terminationGracePeriodSeconds": 1, "containers": list(containers), **more}
