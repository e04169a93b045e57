"""A fleet in one repository with a folder for each cluster, and the objects of examples/fleet by which Flux and Argo CD deploy it.

One control plane replaces all clusters: each namespace has the objects and the settings of one cluster, and the cluster has its name.
"""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, NamedTuple

import yaml

from tests.cli import console
from tests.gitops import application, argocd, cluster, flux
from tests.support import golden
from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

EXAMPLE = golden.EXAMPLES / "fleet"
GRAPHS = 10  # of each cluster
_GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: chat-{0}}}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {{mainContainer: {{image: "registry.example/front:0.9.0"}}}}
"""
_SETTINGS = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}}


def write(folder: Path, namespace: str, graphs: int = GRAPHS, **settings: str) -> None:
    """Write the graphs and the settings of one cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "render.yaml").write_text(yaml.safe_dump({**_SETTINGS, "spec": {"namespace": namespace, **settings}}))
    for number in range(graphs):
        (folder / f"chat-{number}.yaml").write_text(_GRAPH.format(number))


def serve(plane: ControlPlane, namespaces: Sequence[str], ready: Callable[[str], bool]) -> None:
    """Make all pods run, and write that into the graphs, until all clusters are ready. Raises TimeoutError."""
    waiting = [*namespaces]

    def done() -> bool:
        for name in waiting:
            cluster.run_pods(plane, name)
            cluster.say(plane, name, "successful")
        waiting[:] = [name for name in waiting if not ready(name)]
        return not waiting

    try:
        server.eventually(done, 240)
    except TimeoutError:
        raise TimeoutError(f"not ready: {', '.join(waiting)}") from None


class Kustomizations(NamedTuple):
    """The Kustomizations of a Flux that applies the folder of each cluster. They have the names of the namespaces."""

    controller: flux.Flux
    folder: Path
    namespaces: tuple[str, ...]

    @property
    def plane(self) -> ControlPlane:
        """The control plane of all clusters."""
        return self.controller.plane

    def deploy(self) -> None:
        """Create the Kustomization of each cluster: that of examples/fleet, with the checks of examples/flux. Then release."""
        _, kustomization = cluster.read(EXAMPLE / "flux" / "eu.yaml")
        (waiting,) = cluster.read(golden.EXAMPLES / "flux" / "cluster" / "deploy.yaml")
        source = {"kind": "ExternalArtifact", "name": "fleet"}
        for name in self.namespaces:
            own = {"sourceRef": source, "path": f"./{name}", "healthCheckExprs": waiting["spec"]["healthCheckExprs"]}
            metadata = {**kustomization["metadata"], "name": name}
            cluster.put(self.plane, {**kustomization, "metadata": metadata, "spec": {**kustomization["spec"], **own}})
        self.release()

    def release(self) -> None:
        """Render all clusters and publish them, as CI does, and wait until Flux reports that all graphs are ready."""
        for name in self.namespaces:
            done = console.run("render", "--output-dir", self.folder / "rendered" / name, self.folder / "clusters" / name)
            assert done.code == 0, done
        revision = self.controller.publish("fleet", self.folder / "rendered")
        serve(self.plane, self.namespaces, lambda name: self.controller.says(name, "True", revision))

    def remove(self, name: str) -> None:
        """Delete the Kustomization of one cluster."""
        kind = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}
        self.plane.client.request("DELETE", self.plane.client.path({**kind, "metadata": {"name": name, "namespace": flux.NAMESPACE}}))


class ApplicationSet(NamedTuple):
    """The ApplicationSet of examples/fleet, which makes an Application for the folder of each cluster. See `application_set`."""

    argo: argocd.Argo
    repository: application.Repository
    namespaces: tuple[str, ...]

    @property
    def plane(self) -> ControlPlane:
        """The control plane of all clusters."""
        return self.argo.plane

    @property
    def folder(self) -> Path:
        """The folder of the repository."""
        return self.repository.folder

    def deploy(self) -> None:
        """Create the ApplicationSet, wait until it has made an Application for each cluster, and release."""
        self.repository.commit()
        cluster.put(self.plane, self.resource())
        server.eventually(lambda: self.applications().keys() == {*self.namespaces})
        self.release()

    def release(self) -> None:
        """Push, and wait until Argo CD has synced all clusters and reports that all graphs are healthy."""
        commit = self.push()
        serve(self.plane, self.namespaces, lambda name: _healthy(self.argo.application(f"fleet-{name}"), commit))

    def push(self) -> str:
        """Commit, and make Argo CD read Git, as a webhook does; returns the commit.

        The ApplicationSet deletes the Application of a removed folder at any time from now on, so that one is not refreshed.
        """
        commit = self.repository.commit()
        annotations = {"argocd.argoproj.io/application-set-refresh": "true"}
        cluster.patch(self.plane, self.resource(), {"metadata": {"annotations": annotations}})
        for name, resource in self.applications().items():
            if (self.folder / "clusters" / name).exists():
                self.argo.refresh(resource["metadata"]["name"])
        return commit

    def remove(self, name: str) -> None:
        """Remove the folder of one cluster."""
        shutil.rmtree(self.folder / "clusters" / name)
        self.push()

    def applications(self) -> dict[str, cluster.Object]:
        """The Applications that the ApplicationSet made, by the name of their cluster."""
        resources = cluster.of_kind(self.plane, argocd.API, "Application", argocd.NAMESPACE)
        generated = [resource for resource in resources if _owner(resource) == ("ApplicationSet", "fleet")]
        return {resource["spec"]["destination"]["name"]: resource for resource in generated}

    def resource(self) -> cluster.Object:
        """The ApplicationSet of the example, with this repository. The namespace is that of the cluster."""
        (resource,) = cluster.read(EXAMPLE / "argocd" / "applicationset.yaml")
        (generator,), template = resource["spec"]["generators"], resource["spec"]["template"]["spec"]
        generator["git"]["repoURL"] = template["source"]["repoURL"] = self.repository.url
        template["destination"]["namespace"] = "{{.path.basename}}"
        return resource


@contextlib.contextmanager
def application_set(argo: argocd.Argo, folder: Path, namespaces: tuple[str, ...]) -> Iterator[ApplicationSet]:
    """An ApplicationSet with a new repository, for clusters that Argo CD knows.

    At the end, the objects stay: their deletion would take as long as the deployment.
    """
    fleet = ApplicationSet(argo, application.repository(folder), namespaces)
    for name in namespaces:
        argo.add_cluster(name)
    try:
        with argocd.application_sets(argo):
            yield fleet
    finally:
        for name in namespaces:
            argo.remove_cluster(name)
        argo.plane.client.request("DELETE", argo.plane.client.path(fleet.resource()))
        server.eventually(lambda: not fleet.applications())


def _owner(resource: cluster.Object) -> tuple[str, str]:
    (owner,) = resource["metadata"].get("ownerReferences", [{"kind": "", "name": ""}])
    return owner["kind"], owner["name"]


def _healthy(resource: cluster.Object, commit: str) -> bool:
    status = resource.get("status", {})
    graphs = [entry for entry in status.get("resources", []) if entry["kind"] == "DynamoGraphDeployment"]
    healthy = {entry.get("health", {}).get("status") for entry in [status, *graphs]} == {"Healthy"}
    return healthy and application.synced(status, commit)
