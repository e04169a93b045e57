"""An Application of Argo CD with its Git repository, from examples/argocd."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.gitops import argocd, cluster
from tests.support import builds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Repository(NamedTuple):
    """A folder with a branch main, and the Git repository to which it is pushed."""

    folder: Path
    url: str

    def commit(self) -> str:
        """Commit all changes and push them; returns the name of the commit."""
        self._git("add", "--all")
        self._git("-c", "user.name=tests", "-c", "user.email=tests@localhost", "commit", "--quiet", "--allow-empty", "--message", "change")
        self._git("push", "--quiet", self.url, "main")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str) -> str:
        return subprocess.run(["git", "-C", self.folder, *arguments], check=True, capture_output=True, text=True, timeout=300).stdout


def repository(folder: Path) -> Repository:
    """A new repository beside a new folder."""
    remote = folder.with_suffix(".git")
    for where in ([folder], ["--bare", remote]):
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", *where], check=True, capture_output=True, timeout=300)
    return Repository(folder, f"file://{remote}")


class App(NamedTuple):
    """An Application of the examples with its own repository and namespace. It has the name of the namespace."""

    argo: argocd.Argo
    namespace: str
    route: str
    repository: Repository

    @property
    def folder(self) -> Path:
        """The folder of the graph."""
        return self.repository.folder / self.route

    def deploy(self, **settings: str) -> None:
        """Create the example's Application. With `settings`, they are the settings of the plugin."""
        (application,) = cluster.read(argocd.EXAMPLE / "apps" / f"{self.route}.yaml")
        application["metadata"]["name"] = self.namespace
        application["spec"]["source"]["repoURL"] = self.repository.url
        application["spec"]["destination"]["namespace"] = self.namespace
        if settings:
            application["spec"]["source"]["plugin"]["parameters"] = [{"name": "settings", "map": settings}]
        cluster.put(self.argo.plane, application)

    def change(self, change: Callable[[Any], object]) -> None:
        """Edit the spec of the graph."""
        builds.edit(self.folder / "graph.yaml", lambda graph: change(graph["spec"]))

    def push(self) -> str:
        """Commit, and make Argo CD compare; returns the commit."""
        commit = self.repository.commit()
        self.argo.refresh(self.namespace)
        return commit

    def sync(self) -> cluster.Object:
        """Push, and wait until the cluster is in sync; returns the status."""
        commit = self.push()
        return self.wait(lambda status: synced(status, commit))

    def wait(self, holds: Callable[[cluster.Object], bool]) -> cluster.Object:
        """See `argocd.Argo.wait`."""
        return self.argo.wait(self.namespace, holds)

    def objects(self) -> dict[str, cluster.Object]:
        """See `cluster.objects`."""
        return cluster.objects(self.argo.plane, self.namespace)

    def versions(self) -> dict[str, tuple[str, str]]:
        """See `cluster.versions`."""
        return cluster.versions(self.argo.plane, self.namespace)


def synced(status: cluster.Object, commit: str) -> bool:
    """True if the cluster is in sync with that commit."""
    sync = status.get("sync", {})
    return status.get("operationState", {}).get("phase") == "Succeeded" and (sync.get("status"), sync.get("revision")) == ("Synced", commit)


def healthy(status: cluster.Object) -> bool:
    """True if the Application is Healthy and Synced: a new one can be Healthy before its first sync."""
    return (status.get("health", {}).get("status"), status.get("sync", {}).get("status")) == ("Healthy", "Synced")


@contextlib.contextmanager
def made(argo: argocd.Argo, namespace: str, route: str, folder: Path, *, older: bool = True) -> Iterator[App]:
    """The example `route` in a new repository and a new namespace. The Application, if the test deploys it, is deleted at the end.

    With `older`, it has the older form of its graph: see `cluster.make_older`.
    """
    argo.plane.namespace(namespace)
    app = App(argo, namespace, route, repository(folder / "repository"))
    shutil.copytree(argocd.EXAMPLE / route, app.folder)
    if older:
        cluster.make_older(app.folder)
    if (app.folder / "kustomization.yaml").exists():
        builds.edit(app.folder / "kustomization.yaml", lambda file: file.update(namespace=namespace))
    yield app
    argo.plane.client.request("DELETE", argo.plane.client.path(argo.application(namespace)))
