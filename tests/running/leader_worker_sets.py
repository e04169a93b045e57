"""The real controller of LeaderWorkerSets, with its definitions and its webhooks, for a control plane of the test bed."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from programs import DEFINITIONS

from tests.gitops import cluster
from tests.testbed import programs, server
from tests.testbed.certificate_authority import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.testbed.control_plane import ControlPlane
    from tests.testbed.server import Server

Object = dict[str, Any]

_PATCHES = {"MutatingWebhookConfiguration": "mutating-patch.yaml", "ValidatingWebhookConfiguration": "validating-patch.yaml"}


@contextlib.contextmanager
def running(plane: ControlPlane, folder: Path) -> Iterator[Server]:
    """Start the controller with its files in an empty `folder`, and wait until the API server calls its webhooks."""
    program = _program()
    shipped = program.parent / DEFINITIONS
    for definition in sorted(shipped.glob("*.x-k8s.io_*.yaml")):
        cluster.put(plane, *cluster.read(definition))
    authority = Authority(folder, programs.path("openssl"))
    pair = authority.serve()
    for name, text in (("tls.crt", pair.certificate), ("tls.key", pair.key)):
        (folder / name).write_text(text)
    port, health = server.free_ports(2)
    config = folder / "config.yaml"
    config.write_text(json.dumps(_configuration(folder, port, health)))
    command = [str(program), f"--kubeconfig={plane.kubeconfig}", f"--config={config}"]
    configurations = list(_webhooks(shipped, port, authority.certificate.read_bytes()))
    paths = [webhook["clientConfig"]["url"] for each in configurations for webhook in each["webhooks"]]
    with server.running(command, folder / "lws.log") as controller:
        controller.wait(lambda: all(_is_served(port, path) for path in paths))
        cluster.put(plane, *configurations)
        server.eventually(lambda: _completed(plane))
        yield controller


def _program() -> Path:
    """The pinned controller; or a build of another version, in the folder of KRM_FN_LWS with its CRDs and webhooks in `crds`."""
    folder = os.environ.get("KRM_FN_LWS")
    return Path(folder) / "lws" if folder else programs.path("lws")


def _configuration(folder: Path, port: int, health: int) -> Object:
    return {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder)},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }


def _webhooks(shipped: Path, port: int, authority: bytes) -> Iterator[Object]:
    """The webhook configurations that the project ships, with the patches of its default installation, at the address of the controller."""
    for configuration in cluster.read(shipped / "manifests.yaml"):
        for patch in yaml.safe_load((shipped / _PATCHES[configuration["kind"]]).read_text()):
            configuration["webhooks"][int(patch["path"].rpartition("/")[2])] = patch["value"]
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            bundle = base64.b64encode(authority).decode()
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
        yield configuration


def _completed(plane: ControlPlane) -> bool:
    """True if the API server calls the webhook that writes defaults. Without it, the one that checks them breaks."""
    template = {"spec": {"containers": [{"name": "main", "image": "example.com/none:1"}]}}
    groups = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "asked"}}
    answer = plane.apply({**groups, "spec": {"leaderWorkerTemplate": {"workerTemplate": template}}})
    return answer.ok and "networkConfig" in answer.body["spec"]


def _is_served(port: int, url: str) -> bool:
    """True if the controller knows the path of a webhook: it registers them one after the other."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=ssl._create_unverified_context())  # noqa: S323 - its own
    with contextlib.closing(connection):
        try:
            connection.request("POST", url.partition(str(port))[2], b"{}", {"Content-Type": "application/json"})
            return connection.getresponse().status != http.HTTPStatus.NOT_FOUND
        except OSError:
            return False
