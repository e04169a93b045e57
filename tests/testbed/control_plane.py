"""A real Kubernetes control plane on the loopback interface: etcd, kube-apiserver and, on request, kube-controller-manager; no kubelet."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.testbed import api, programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# The controllers that create pods of workloads, and that clean up. None of them needs a cloud, a node or a certificate.
CONTROLLERS = (
    "deployment",
    "replicaset",
    "statefulset",
    "daemonset",
    "job",
    "endpoints",
    "endpointslice",
    "namespace",
    "garbage-collector",
)


EXISTS = 409
GO_VARIABLES = {"GOGC": "400", "GOMAXPROCS": "1"}
"""Go's garbage collector runs less often: an API server takes a third less CPU time and twice the memory.

On one core at a time, an idle server takes a third less, because its threads wake each other less often.
"""


class Programs(NamedTuple):
    """The programs of a control plane."""

    etcd: Path
    apiserver: Path
    kubectl: Path


class ControlPlane(NamedTuple):
    """A running control plane. `folder` holds its logs; `client` is in system:masters.

    After `apiserver.kill()`, `etcd.pause()` and the like, call `start` or `resume`, and `wait`.
    """

    folder: Path
    kubeconfig: Path
    kubectl_program: Path
    client: api.Client
    etcd: server.Server
    apiserver: server.Server

    def wait(self) -> None:
        """Wait until the API server is ready."""
        self.apiserver.wait(lambda: _answers(self.client))

    @property
    def environment(self) -> dict[str, str]:
        """The variables of this process, with kubectl on PATH and this cluster as its cluster.

        kubectl would cache the kinds of a cluster by address, for hours. But tests add kinds, and a later control plane can have the same
        port and other kinds. In a folder that cannot exist kubectl caches nothing.
        """
        own = {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": os.devnull}
        return {**os.environ, "PATH": programs.search_path(self.kubectl_program.parent), **own}

    def kubectl(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002 - as subprocess calls it
        """Run kubectl; returns its stdout. Raises CalledProcessError with the reason in `stderr` and in a note."""
        command = [str(self.kubectl_program), *arguments]
        try:
            return subprocess.run(
                command, input=input, env=self.environment, capture_output=True, text=True, check=True, timeout=300
            ).stdout
        except subprocess.CalledProcessError as failed:
            failed.add_note(failed.stderr)
            raise

    def apply(self, resource: dict[str, Any], *, dry_run: bool = True) -> api.Answer:
        """See `api.Client.apply`."""
        return self.client.apply(resource, dry_run=dry_run)

    def judge(self, resource: dict[str, Any]) -> api.Answer:
        """Validate a resource with two dry runs: server-side apply, then create.

        Returns the first refusal, or the answer of the second request.
        """
        applied = self.client.apply(resource)
        if not applied.ok:
            return applied
        created = self.client.create(resource)
        return applied if created.status == EXISTS else created

    def namespace(self, name: str) -> str:
        """See `api.Client.namespace`."""
        return self.client.namespace(name)


@contextlib.contextmanager
def running(folder: Path, programs: Programs, *flags: str, environment: Mapping[str, str] = GO_VARIABLES) -> Iterator[ControlPlane]:
    """Start a control plane with its files in an empty `folder`, and wait until it is ready. Its data is deleted when it stops.

    `flags` are further flags of kube-apiserver, and `environment` has variables of its programs.
    """
    etcd_port, peer_port, port = server.free_ports(3)
    token = secrets.token_hex(16)
    (folder / "tokens.csv").write_text(f'{token},tests,tests,"system:masters"\n')
    kubeconfig = _kubeconfig(folder, port, token)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder / "etcd", ignore_errors=True)
        etcd = stack.enter_context(server.running(_etcd(folder, programs.etcd, etcd_port, peer_port), folder / "etcd.log", environment))
        command = _apiserver(folder, programs.apiserver, etcd_port, port)
        apiserver = stack.enter_context(server.running([*command, *flags], folder / "kube-apiserver.log", environment))
        apiserver.wait((folder / "certs" / "apiserver.key").exists)  # written after the certificate
        connection = stack.enter_context(contextlib.closing(api.Client(port, folder / "certs" / "apiserver.crt", token)))
        plane = ControlPlane(folder, kubeconfig, programs.kubectl, connection, etcd, apiserver)
        plane.wait()
        yield plane


@contextlib.contextmanager
def controllers(plane: ControlPlane, program: Path, *flags: str) -> Iterator[server.Server]:
    """Start the controllers of a control plane. They begin to work after a second or two, so tests must wait for their effects.

    `flags` are further flags of kube-controller-manager.
    """
    command: list[str | Path] = [
        program,
        f"--kubeconfig={plane.kubeconfig}",
        f"--controllers={','.join(f'{name}-controller' for name in CONTROLLERS)}",
        f"--service-account-private-key-file={plane.folder / 'certs' / 'apiserver.key'}",
        "--secure-port=0",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
        "--kube-api-qps=300",
        "--kube-api-burst=400",
        "--concurrent-deployment-syncs=10",
        *flags,
    ]
    with server.running(command, plane.folder / "kube-controller-manager.log", GO_VARIABLES) as running_controllers:
        yield running_controllers


def _etcd(folder: Path, program: Path, port: int, peer_port: int) -> list[str | Path]:
    url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        program,
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peer_url}",
        f"--initial-advertise-peer-urls={peer_url}",
        f"--initial-cluster=default={peer_url}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def _apiserver(folder: Path, program: Path, etcd_port: int, port: int) -> list[str | Path]:
    """The command of kube-apiserver. It makes its own certificate for 127.0.0.1, whose key also signs service account tokens."""
    key = folder / "certs" / "apiserver.key"
    return [
        program,
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={key.parent}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/16",
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        # With this plugin every pod would need the default ServiceAccount, which a controller creates, and its token.
        "--disable-admission-plugins=ServiceAccount",
    ]


def _kubeconfig(folder: Path, port: int, token: str) -> Path:
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(folder / "certs" / "apiserver.crt")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tests", "cluster": cluster}],
        "users": [{"name": "tests", "user": {"token": token}}],
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        "current-context": "tests",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


def _answers(connection: api.Client) -> bool:
    try:
        return connection.request("GET", "/readyz").ok
    except (OSError, http.client.HTTPException):
        connection.close()
        return False
