"""A control plane that the tests of the syncer may break, and ways to reach it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest

from krm_fn.cluster.access import Cluster, Content, StaticCredentials, Trust
from krm_fn.schemas.generate import crds as generated
from tests.support import definitions
from tests.testbed import control_plane as planes
from tests.testbed import programs, proxy
from tests.testbed.certificate_authority import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Fragile(NamedTuple):
    """A control plane that tests may kill and restart. It accepts client certificates of `authority`."""

    plane: planes.ControlPlane
    authority: Authority

    @property
    def certificate(self) -> Path:
        """The certificate of the server, in PEM."""
        return self.plane.folder / "certs" / "apiserver.crt"

    @property
    def port(self) -> int:
        """The port of the server."""
        address = json.loads(self.plane.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        return urlsplit(address).port or 0

    @property
    def token(self) -> str:
        """A token in system:masters."""
        token: str = json.loads(self.plane.kubeconfig.read_text())["users"][0]["user"]["token"]
        return token

    def cluster(self, port: int = 0, token: str = "") -> Cluster:
        """The way to the server, or through the proxy at `port`."""
        written = StaticCredentials(Content((token or self.token).encode()))
        return Cluster(f"https://127.0.0.1:{port or self.port}", Trust(Content(path=self.certificate)), written)

    def account(self, namespace: str, name: str) -> str:
        """A token of a new service account without rights."""
        path = f"/api/v1/namespaces/{self.plane.namespace(namespace)}/serviceaccounts"
        self.plane.client.request("POST", path, {"metadata": {"name": name}})
        token: str = self.plane.client.request("POST", f"{path}/{name}/token", {"spec": {}}).body["status"]["token"]
        return token


@pytest.fixture(scope="session")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fragile]:
    """A real etcd and kube-apiserver that tests may break. Each test leaves it running, and uses a namespace of its own."""
    needed = planes.Programs(programs.path("etcd"), programs.path("kube-apiserver"), programs.path("kubectl"))
    authority = Authority(tmp_path_factory.mktemp("authority"), programs.path("openssl"))
    folder = tmp_path_factory.mktemp("fragile")
    with planes.running(folder, needed, f"--client-ca-file={authority.certificate}") as plane:
        yield Fragile(plane, authority)


@pytest.fixture(scope="module")
def plane(fragile: Fragile) -> planes.ControlPlane:
    """The fragile control plane with Dynamo's kinds only. No controller runs: the tests write the statuses of the Deployments."""
    definitions.serve(fragile.plane, generated.definitions())
    return fragile.plane


@pytest.fixture
def between(fragile: Fragile) -> Iterator[proxy.Proxy]:
    """A proxy to the fragile control plane."""
    with proxy.to(fragile.port) as made:
        yield made
