"""Argo CD's real application controller, ApplicationSet controller, repo server and plugin server on the test bed's control plane.

Argo CD's API server and user interface do not run: tests create Applications in the cluster and read their status there.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.gitops import cluster
from tests.support import golden
from tests.testbed import programs, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.testbed.control_plane import ControlPlane

EXAMPLE = golden.EXAMPLES / "argocd"
NAMESPACE = "argocd"
API = "argoproj.io/v1alpha1"
_REFRESH = "argocd.argoproj.io/refresh"
_MOUNTED = "/home/argocd/cmp-server/config"  # where the example mounts the plugin


class Argo(NamedTuple):
    """A running Argo CD. `repo_server` is the address of its repo server, and `environment` has the variables of its servers."""

    plane: ControlPlane
    folder: Path
    repo_server: str
    environment: dict[str, str]

    def application(self, name: str) -> cluster.Object:
        """An Application with its status. Raises AssertionError if it does not exist."""
        found = cluster.get(self.plane, API, "Application", name, NAMESPACE)
        assert found is not None
        return {"apiVersion": API, "kind": "Application", **found}

    def add_cluster(self, name: str) -> None:
        """Register the namespace `name` of the control plane as a cluster of the same name.

        Argo CD identifies clusters by their URLs, and sends requests without the query of the URL.
        """
        config = json.loads(self.plane.kubeconfig.read_text())
        connection, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        authority = base64.b64encode(Path(connection["certificate-authority"]).read_bytes()).decode()
        access = {"bearerToken": user["token"], "tlsClientConfig": {"caData": authority}}
        url = f"{connection['server']}?cluster={name}"
        data = {"name": name, "server": url, "namespaces": name, "config": json.dumps(access)}
        cluster.put(self.plane, {**_cluster_secret(name), "stringData": data})

    def remove_cluster(self, name: str) -> None:
        """Remove a cluster that `add_cluster` registered."""
        self.plane.client.request("DELETE", self.plane.client.path(_cluster_secret(name)))

    def refresh(self, name: str) -> None:
        """Make Argo CD compare an Application with Git now, as a webhook does.

        Argo CD removes the annotation after the comparison. A comparison that has begun may have read Git too early, so it must end first.
        """
        server.eventually(lambda: _REFRESH not in self.application(name)["metadata"].get("annotations", {}))
        cluster.patch(self.plane, self.application(name), {"metadata": {"annotations": {_REFRESH: "normal"}}})

    def renders(self) -> list[float]:
        """How long each successful render of the plugin took, in seconds, by the log of its server."""
        lines = (self.folder / "cmp-server.log").read_text().splitlines()
        calls = [json.loads(line) for line in lines if '"grpc.code":"OK"' in line and '"grpc.method":"GenerateManifest"' in line]
        return [float(call["grpc.time_ms"]) / 1000 for call in calls]

    def wait(self, name: str, holds: Callable[[cluster.Object], bool], seconds: float = 180) -> cluster.Object:
        """The status of an Application as soon as `holds` is true for it. Raises TimeoutError with the last status."""
        seen: dict[str, cluster.Object] = {}

        def asked() -> bool:
            seen["status"] = self.application(name).get("status", {})
            return holds(seen["status"])

        try:
            server.eventually(asked, seconds)
        except TimeoutError:
            raise TimeoutError(f"{name}: {json.dumps(_short(seen['status']), indent=1)}") from None
        return seen["status"]


def _cluster_secret(name: str) -> cluster.Object:
    labels = {"argocd.argoproj.io/secret-type": "cluster"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"cluster-{name}", "namespace": NAMESPACE, "labels": labels}}


def _short(status: cluster.Object) -> cluster.Object:
    operation = status.get("operationState", {})
    resources = [(each["kind"], each["name"], each.get("status"), each.get("health")) for each in status.get("resources", [])]
    conditions = status.get("conditions")
    return {
        "sync": status.get("sync", {}).get("status"),
        "said": operation.get("message"),
        "conditions": conditions,
        "resources": resources,
    }


@contextlib.contextmanager
def running(plane: ControlPlane, folder: Path) -> Iterator[Argo]:
    """Argo CD with the plugin, the build options and the health rules of the examples. Its files are in an empty `folder`."""
    program = programs.path("argocd")  # it contains all servers, and runs the one whose name it is called by
    for definition in sorted((program.parent / "crds").glob("*-crd.yaml")):
        cluster.put(plane, *cluster.read(definition))
    plane.namespace(NAMESPACE)
    cluster.put(plane, *_settings())
    redis, metrics, repo, repo_metrics = server.free_ports(4)
    options = [f"--redis=127.0.0.1:{redis}", "--loglevel=info"]
    controller = ["--repo-server", f"127.0.0.1:{repo}", f"--metrics-port={metrics}", "--self-heal-timeout-seconds=1"]
    controller.append("--persist-resource-health")  # writes what the user interface shows of a resource into the Application
    with contextlib.ExitStack() as stack:
        environment = _environment(plane, folder)
        store = server.running(
            [programs.path("redis-server"), "--port", str(redis), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
            folder / "redis.log",
        )
        stack.enter_context(store).wait(lambda: _listens(redis))
        start = _Starter(program, folder, environment, stack)
        plugins = start("cmp-server", "--config-dir-path", str(_plugin(folder)))
        plugins.wait((folder / "plugins" / "krm-fn.sock").exists)
        stack.callback(plugins.kill)  # after SIGTERM it removes its socket and goes on
        repo_server = start("repo-server", *options, "--address=127.0.0.1", f"--port={repo}", f"--metrics-port={repo_metrics}")
        repo_server.wait(lambda: _listens(repo))
        start("application-controller", *options, *controller)
        yield Argo(plane, folder, f"127.0.0.1:{repo}", environment)


@contextlib.contextmanager
def application_sets(argo: Argo) -> Iterator[None]:
    """Run the ApplicationSet controller too."""
    metrics, probe, webhook = server.free_ports(3)
    addresses = [f"--metrics-addr=127.0.0.1:{metrics}", f"--probe-addr=127.0.0.1:{probe}", f"--webhook-addr=127.0.0.1:{webhook}"]
    with contextlib.ExitStack() as stack:
        start = _Starter(programs.path("argocd"), argo.folder, argo.environment, stack)
        start("applicationset-controller", f"--argocd-repo-server={argo.repo_server}", *addresses).wait(lambda: _listens(probe))
        yield


class _Starter(NamedTuple):
    program: Path
    folder: Path
    environment: dict[str, str]
    stack: contextlib.ExitStack

    def __call__(self, role: str, *arguments: str) -> server.Server:
        environment = {**self.environment, "ARGOCD_BINARY_NAME": f"argocd-{role}"}
        return self.stack.enter_context(server.running([self.program, *arguments], self.folder / f"{role}.log", environment))


def _settings() -> Iterator[cluster.Object]:
    """The objects that Argo CD's manifests would install, with the examples' settings in argocd-cm."""
    metadata = {"namespace": NAMESPACE, "labels": {"app.kubernetes.io/part-of": "argocd"}}
    secret = {"server.secretkey": "dGVzdHM=", "admin.password": "dGVzdHM="}
    yield {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret", **metadata}, "data": secret}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-rbac-cm", **metadata}}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", **metadata}, "data": customizations()}
    everything = [{"group": "*", "kind": "*"}]
    where = [{"namespace": "*", "server": "*"}]
    spec = {"sourceRepos": ["*"], "destinations": where, "clusterResourceWhitelist": everything}
    yield {"apiVersion": API, "kind": "AppProject", "metadata": {"name": "default", "namespace": NAMESPACE}, "spec": spec}


def customizations() -> dict[str, str]:
    """The keys of argocd-cm that the examples set."""
    files = [EXAMPLE / "build-options" / "argocd-cm.yaml", *sorted((EXAMPLE / "health").glob("*.yaml"))]
    patches = [each for file in files for each in cluster.read(file) if each["kind"] == "ConfigMap"]
    return {key: value for patch in patches for key, value in patch["data"].items()}


def _plugin(folder: Path) -> Path:
    """A folder with the example's plugin, as the sidecar mounts it."""
    (mounted := folder / "plugin").mkdir()
    for file in ("plugin.yaml", "discover.sh", "generate.sh"):
        (mounted / file).write_text((EXAMPLE / "plugin" / file).read_text().replace(_MOUNTED, str(mounted)))
    return mounted


def _environment(plane: ControlPlane, folder: Path) -> dict[str, str]:
    """Environment variables by which the servers find the cluster, their files and other programs."""
    config = json.loads(plane.kubeconfig.read_text())
    config["contexts"][0]["context"]["namespace"] = NAMESPACE
    (folder / "kubeconfig").write_text(json.dumps(config))
    places = {"GNUPGHOME": "keys", "GPG_DATA_PATH": "gpg", "TLS_DATA_PATH": "tls", "SSH_DATA_PATH": "ssh"}
    places |= {"PLUGINSOCKFILEPATH": "plugins", "CMP_WORKDIR": "work"}
    for place in places.values():
        (folder / place).mkdir(mode=0o700)
    return {
        "KUBECONFIG": str(folder / "kubeconfig"),
        "PATH": f"{_verifier(folder)}{os.pathsep}{golden.environment('kustomize')['PATH']}",
        "HOME": os.fspath(folder),
        "TMPDIR": os.fspath(folder / "work"),
        "ARGOCD_FAKE_IN_CLUSTER": "true",
        "ARGOCD_GPG_ENABLED": "false",
        **{f"ARGOCD_{name}": str(folder / place) for name, place in places.items()},
    }


def _verifier(folder: Path) -> Path:
    """A folder with the program by which the repo server asks git who signed a commit. Argo CD's image has it beside the servers."""
    (programs_folder := folder / "bin").mkdir()
    program = programs_folder / "git-verify-wrapper.sh"
    program.write_text('#!/bin/sh\ngit verify-commit "$1" 2>&1 || true\n')
    program.chmod(0o755)
    return programs_folder


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0
