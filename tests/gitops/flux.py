"""Flux's real kustomize-controller on the test bed's control plane.

An ExternalArtifact and a local HTTP server replace source-controller, which needs a registry.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import os
import tarfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.gitops import cluster
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.testbed.control_plane import ControlPlane

NAMESPACE = "flux-system"
_SOURCE = "source.toolkit.fluxcd.io/v1"
_KUSTOMIZATION = "kustomize.toolkit.fluxcd.io/v1"


class Flux(NamedTuple):
    """A running kustomize-controller, and the folder whose files it can fetch from `url`."""

    plane: ControlPlane
    served: Path
    url: str
    log: Path

    def publish(self, name: str, folder: Path) -> str:
        """Publish a folder as the artifact of that name, as source-controller does after a fetch; returns the revision."""
        archive = self.served / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(folder, arcname=".")
        digest = f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        artifact = {"url": f"{self.url}/{archive.name}", "path": archive.name, "digest": digest, "revision": f"main@{digest}"}
        ready = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "", "lastTransitionTime": now}
        source = {"apiVersion": _SOURCE, "kind": "ExternalArtifact", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {}}
        cluster.put(self.plane, source)
        status = {"artifact": {**artifact, "lastUpdateTime": now, "size": archive.stat().st_size}, "conditions": [ready]}
        cluster.report(self.plane, source, status)
        return artifact["revision"]

    def ready(self, name: str) -> dict[str, Any]:
        """The Ready condition of a Kustomization with its last attempted revision; empty if it has none yet."""
        found = cluster.get(self.plane, _KUSTOMIZATION, "Kustomization", name, NAMESPACE)
        status = (found or {}).get("status", {})
        conditions = [each for each in status.get("conditions", []) if each["type"] == "Ready"]
        return {**conditions[0], "revision": status.get("lastAttemptedRevision")} if conditions else {}

    def wait(self, name: str, status: str, revision: str, seconds: float = 180) -> dict[str, Any]:
        """The Ready condition as soon as it has that status for that revision. Raises TimeoutError with the last condition."""
        return self.wait_for(name, lambda found: (found.get("status"), found.get("revision")) == (status, revision), seconds)

    def wait_for(self, name: str, holds: Callable[[dict[str, Any]], bool], seconds: float = 180) -> dict[str, Any]:
        """The Ready condition for which `holds` is true, as soon as it is. Raises TimeoutError with the last condition."""
        seen: list[dict[str, Any]] = [{}]

        def asked() -> bool:
            seen[0] = self.ready(name)
            return holds(seen[0])

        try:
            server.eventually(asked, seconds)
        except TimeoutError:
            raise TimeoutError(f"{name}: {seen[0]}") from None
        return seen[0]

    def reconcile(self, name: str, request: str) -> None:
        """Make Flux apply a Kustomization again, as after an interval, and wait until it has. Each request has another name."""
        kustomization = {"apiVersion": _KUSTOMIZATION, "kind": "Kustomization", "metadata": {"name": name, "namespace": NAMESPACE}}
        cluster.patch(self.plane, kustomization, {"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": request}}})

        def handled() -> bool:
            live = cluster.get(self.plane, _KUSTOMIZATION, "Kustomization", name, NAMESPACE) or {}
            ready = self.ready(name).get("status") == "True"
            return ready and live.get("status", {}).get("lastHandledReconcileAt") == request

        server.eventually(handled)

    def says(self, name: str, status: str, revision: str) -> bool:
        """True if the Ready condition has that status for that revision."""
        condition = self.ready(name)
        return (condition.get("status"), condition.get("revision")) == (status, revision)


@contextlib.contextmanager
def running(plane: ControlPlane, folder: Path) -> Iterator[Flux]:
    """The controller, ready to take Kustomizations of any namespace. Its files are in an empty `folder`."""
    program = programs.path("kustomize-controller")
    for definition in sorted((program.parent / "crds").glob("*.yaml")):
        cluster.put(plane, *cluster.read(definition))
    plane.namespace(NAMESPACE)
    metrics, health = server.free_ports(2)
    environment = {"RUNTIME_NAMESPACE": NAMESPACE, "KUBECONFIG": str(plane.kubeconfig)}
    command: list[str | Path] = [
        program,
        f"--metrics-addr=127.0.0.1:{metrics}",
        f"--health-addr=127.0.0.1:{health}",
        "--events-addr=",
        "--feature-gates=ExternalArtifact=true",
        "--enable-leader-election=false",
        "--watch-all-namespaces=true",
        "--concurrent=40",  # a Kustomization that waits occupies a worker
    ]
    (served := folder / "served").mkdir()
    log = folder / "kustomize-controller.log"
    with _files(served) as url, server.running(command, log, environment) as controller:
        controller.wait(lambda: "Starting workers" in log.read_text())
        yield Flux(plane, served, url, log)


@contextlib.contextmanager
def _files(folder: Path) -> Iterator[str]:
    """The URL of a folder's files."""
    handler = functools.partial(_Quiet, directory=os.fspath(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}"
        finally:
            listening.shutdown()
            thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class calls it
        """Say nothing."""
