"""A Kustomization of Flux with the folder that CI renders and publishes for it, from examples/flux."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.gitops import cluster, flux
from tests.support import builds, golden
from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLE = golden.EXAMPLES / "flux"


class App(NamedTuple):
    """The example's graph with its own namespace and folder. Its Kustomization has the name of the namespace."""

    controller: flux.Flux
    namespace: str
    folder: Path

    @property
    def rendered(self) -> Path:
        """The folder with the rendered objects."""
        return self.folder.with_name("rendered")

    def render(self) -> None:
        """Render as CI does."""
        command = [str(EXAMPLE / "render.sh"), str(self.folder), str(self.rendered)]
        subprocess.run(command, env=golden.environment("kustomize"), check=True, capture_output=True, text=True, timeout=300)

    def publish(self) -> str:
        """Publish what is rendered; returns the revision."""
        return self.controller.publish(self.namespace, self.rendered)

    def release(self) -> str:
        """Render and publish as CI does; returns the revision."""
        self.render()
        return self.publish()

    def deploy(self, **settings: object) -> None:
        """Create the example's Kustomization; its source is the artifact of this app."""
        (deploy,) = cluster.read(EXAMPLE / "cluster" / "deploy.yaml")
        deploy["metadata"]["name"] = self.namespace
        deploy["spec"] |= {"sourceRef": {"kind": "ExternalArtifact", "name": self.namespace}, **settings}
        cluster.put(self.controller.plane, deploy)

    def change(self, change: Callable[[Any], object]) -> None:
        """Edit the spec of the graph."""
        builds.edit(self.folder / "graph.yaml", lambda graph: change(graph["spec"]))

    def objects(self) -> dict[str, cluster.Object]:
        """See `cluster.objects`."""
        return cluster.objects(self.controller.plane, self.namespace)

    def versions(self) -> dict[str, tuple[str, str]]:
        """See `cluster.versions`."""
        return cluster.versions(self.controller.plane, self.namespace)

    def serve(self) -> None:
        """Make all pods run, and write that into the status of the graph."""
        cluster.run_pods(self.controller.plane, self.namespace)
        cluster.say(self.controller.plane, self.namespace, "successful")

    def succeed(self) -> None:
        """Release, serve, and wait until Flux reports success."""
        revision = self.release()

        def done() -> bool:
            self.serve()
            return self.controller.says(self.namespace, "True", revision)

        try:
            server.eventually(done)
        except TimeoutError:
            raise TimeoutError(f"Flux does not succeed with {revision}: {self.controller.ready(self.namespace)}") from None


@contextlib.contextmanager
def made(controller: flux.Flux, namespace: str, folder: Path, *, older: bool = True) -> Iterator[App]:
    """The example's graph in a new namespace. The Kustomization, if the test deploys it, is deleted at the end.

    With `older`, it has the older form of its graph: see `cluster.make_older`.
    """
    app = App(controller, controller.plane.namespace(namespace), folder / "llm-agg")
    shutil.copytree(EXAMPLE / "llm-agg", app.folder)
    if older:
        cluster.make_older(app.folder)
    builds.edit(app.folder / "kustomization.yaml", lambda file: file.update(namespace=namespace))
    yield app
    kind = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization"}
    path = controller.plane.client.path({**kind, "metadata": {"name": namespace, "namespace": flux.NAMESPACE}})
    controller.plane.client.request("DELETE", path)
