"""A fleet in one repository: Flux deploys 50 graphs into five namespaces, one Kustomization for each, as each cluster of a fleet has one.

One control plane stands for all clusters: each namespace has the objects, the settings and the Kustomization of one cluster.
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
    from pathlib import Path

CLUSTERS = tuple(f"fleet-{name}" for name in ("canary", "eu", "us", "asia", "lab"))
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


class Fleet(NamedTuple):
    """The repository, and the Flux that applies the folder of each cluster."""

    controller: flux.Flux
    sources: Path
    rendered: Path

    def set(self, name: str, **settings: str) -> None:
        """Write the settings of one cluster."""
        (self.sources / name / "render.yaml").write_text(yaml.safe_dump({**SETTINGS, "spec": {"namespace": name, **settings}}))

    def release(self) -> str:
        """Render all clusters and publish them, as CI does; returns the revision."""
        for name in CLUSTERS:
            done = console.run("render", "--output-dir", self.rendered / name, self.sources / name)
            assert done.code == 0, done
        return self.controller.publish("fleet", self.rendered)

    def deploy(self, name: str) -> None:
        """Create the Kustomization of one cluster: that of examples/fleet, with the checks of examples/flux."""
        _, kustomization = cluster.read(golden.EXAMPLES / "fleet" / "flux" / "eu.yaml")
        (waiting,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
        kustomization["metadata"]["name"] = name
        kustomization["spec"] |= {
            "sourceRef": {"kind": "ExternalArtifact", "name": "fleet"},
            "path": f"./{name}",
            "healthCheckExprs": waiting["spec"]["healthCheckExprs"],
        }
        cluster.put(self.controller.plane, kustomization)

    def remove(self, name: str) -> None:
        """Delete the Kustomization of one cluster."""
        kind = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}
        path = self.controller.plane.client.path({**kind, "metadata": {"name": name, "namespace": flux.NAMESPACE}})
        self.controller.plane.client.request("DELETE", path)

    def wait(self, revision: str) -> None:
        """Serve all pods until Flux reports that every cluster has the revision, and that all its graphs are ready."""
        waiting = [*CLUSTERS]

        def done() -> bool:
            for name in waiting:
                cluster.run_pods(self.controller.plane, name)
                cluster.say(self.controller.plane, name, "successful")
            waiting[:] = [name for name in waiting if not self.controller.says(name, "True", revision)]
            return not waiting

        try:
            server.eventually(done, 180)
        except TimeoutError:
            raise TimeoutError(f"{waiting[0]} is not ready: {self.controller.ready(waiting[0])}") from None

    def versions(self) -> dict[str, dict[str, tuple[str, str]]]:
        """The versions of the objects of each cluster."""
        return {name: cluster.versions(self.controller.plane, name) for name in CLUSTERS}


@pytest.fixture
def fleet(controller, tmp_path):
    """A fleet that Flux has not applied yet."""
    made = Fleet(controller, tmp_path / "clusters", tmp_path / "rendered")
    for name in CLUSTERS:
        controller.plane.namespace(name)
        (made.sources / name).mkdir(parents=True)
        made.set(name)
        for number in range(GRAPHS):
            (made.sources / name / f"chat-{number}.yaml").write_text(GRAPH.format(number))
    yield made
    for name in CLUSTERS:
        made.remove(name)


def test_one_repository_deploys_all_clusters(fleet):
    """All graphs become ready. A setting of one cluster changes only this cluster, and removing one deletes only its objects."""
    revision = fleet.release()
    for name in CLUSTERS:
        fleet.deploy(name)
    fleet.wait(revision)
    before = fleet.versions()
    graphs = [name for objects in before.values() for name in objects if name.startswith("DynamoGraphDeployment/")]
    assert len(graphs) == len(CLUSTERS) * GRAPHS

    first, second, *_ = CLUSTERS
    fleet.set(first, natsAddress="nats://nats.first:4222")
    fleet.wait(fleet.release())
    after = fleet.versions()
    moved = {name: cluster.changed(before[name], after[name]) for name in CLUSTERS}
    changed = {f"Deployment/chat-{number}-frontend" for number in range(GRAPHS)}
    assert moved == {name: changed if name == first else set() for name in CLUSTERS}

    fleet.remove(second)
    server.eventually(lambda: not cluster.objects(fleet.controller.plane, second))
    assert fleet.versions() == {**after, second: {}}
