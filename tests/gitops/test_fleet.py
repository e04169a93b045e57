"""A fleet in one repository: Flux deploys 50 graphs into five namespaces, with the Kustomization of examples/fleet for each.

One control plane stands for all clusters: each namespace has the objects and the settings of one cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from tests.cli import console
from tests.gitops import cluster, flux
from tests.support import golden
from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

NAMES = ("canary", "eu", "us", "asia", "lab")
GRAPHS = 10
GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: chat-{0}}}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {{mainContainer: {{image: "registry.example/front:0.9.0"}}}}
"""
SETTINGS = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}}
CHANGED = {f"Deployment/chat-{number}-frontend" for number in range(GRAPHS)}
"""What a setting of all pods of a cluster changes."""


def write(folder: Path, namespace: str, **settings: str) -> None:
    """Write the settings of one cluster, and its graphs if they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "render.yaml").write_text(yaml.safe_dump({**SETTINGS, "spec": {"namespace": namespace, **settings}}))
    for number in range(GRAPHS):
        (folder / f"chat-{number}.yaml").write_text(GRAPH.format(number))


def versions(plane: ControlPlane, namespaces: Sequence[str]) -> dict[str, dict[str, tuple[str, str]]]:
    """The versions of the objects of each cluster."""
    return {name: cluster.versions(plane, name) for name in namespaces}


def graphs(objects: dict[str, dict[str, tuple[str, str]]]) -> list[str]:
    """The graphs of all clusters."""
    return [name for found in objects.values() for name in found if name.startswith("DynamoGraphDeployment/")]


def moved(before: dict[str, dict[str, tuple[str, str]]], after: dict[str, dict[str, tuple[str, str]]]) -> dict[str, set[str]]:
    """The objects of each cluster that changed."""
    return {name: cluster.changed(before[name], after[name]) for name in before}


def serve(plane: ControlPlane, namespaces: Sequence[str], ready: Callable[[str], bool]) -> None:
    """Make all pods run, and write that into the graphs, until all clusters are ready. Raises TimeoutError."""
    waiting = [*namespaces]

    def done() -> bool:
        for name in waiting:
            cluster.run_pods(plane, name)
            cluster.say(plane, name, "successful")
        waiting[:] = [name for name in waiting if not ready(name)]
        return not waiting

    server.eventually(done, 240)


class Kustomizations(NamedTuple):
    """The Kustomizations of a Flux that applies the folder of each cluster. They have the names of the namespaces."""

    controller: flux.Flux
    folder: Path
    namespaces: tuple[str, ...]

    def release(self) -> None:
        """Render all clusters and publish them, as CI does, and wait until Flux reports that all graphs are ready."""
        for name in self.namespaces:
            done = console.run("render", "--output-dir", self.folder / "rendered" / name, self.folder / "clusters" / name)
            assert done.code == 0, done
        revision = self.controller.publish("fleet", self.folder / "rendered")
        serve(self.controller.plane, self.namespaces, lambda name: self.controller.says(name, "True", revision))

    def deploy(self, name: str) -> None:
        """Create the Kustomization of one cluster: that of examples/fleet, with the checks of examples/flux."""
        _, kustomization = cluster.read(golden.EXAMPLES / "fleet" / "flux" / "eu.yaml")
        (waiting,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
        kustomization["metadata"]["name"] = name
        source = {"kind": "ExternalArtifact", "name": "fleet"}
        checks = waiting["spec"]["healthCheckExprs"]
        kustomization["spec"] |= {"sourceRef": source, "path": f"./{name}", "healthCheckExprs": checks}
        cluster.put(self.controller.plane, kustomization)

    def remove(self, name: str) -> None:
        """Delete the Kustomization of one cluster."""
        kind = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}
        path = self.controller.plane.client.path({**kind, "metadata": {"name": name, "namespace": flux.NAMESPACE}})
        self.controller.plane.client.request("DELETE", path)


@pytest.fixture
def kustomizations(controller, tmp_path):
    """A fleet that Flux has not applied yet."""
    kustomizations = Kustomizations(controller, tmp_path, tuple(controller.plane.namespace(f"flux-fleet-{name}") for name in NAMES))
    for name in kustomizations.namespaces:
        write(kustomizations.folder / "clusters" / name, name)
    yield kustomizations
    for name in kustomizations.namespaces:
        kustomizations.remove(name)


def test_flux_deploys_all_clusters(kustomizations):
    """All graphs become ready. A setting of one cluster changes only this cluster, and removing one deletes only its objects."""
    fleet, plane = kustomizations, kustomizations.controller.plane
    for name in fleet.namespaces:
        fleet.deploy(name)
    fleet.release()
    before = versions(plane, fleet.namespaces)
    assert len(graphs(before)) == len(NAMES) * GRAPHS

    first, second, *_ = fleet.namespaces
    write(fleet.folder / "clusters" / first, first, natsAddress="nats://nats.first:4222")
    fleet.release()
    after = versions(plane, fleet.namespaces)
    assert moved(before, after) == {name: CHANGED if name == first else set() for name in fleet.namespaces}

    fleet.remove(second)
    server.eventually(lambda: not cluster.objects(plane, second), 120)
    assert versions(plane, fleet.namespaces) == {**after, second: {}}
