"""The script by which followers wait for their leader: with real sockets, and with a rendered account on a real API server."""

from __future__ import annotations

import ast
import contextlib
import itertools
import json
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import pytest

from krm_fn.render import dynamo_api, labels
from krm_fn.render.manifests import wait_for_leader
from tests.platform import installation
from tests.support import given, nodes
from tests.support.cases import cases
from tests.testbed import server, syncer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane

NAMESPACE = "wait-for-leader"
ACCOUNT = "chat-k8s-service-discovery"
WORKER = nodes.worker(command=["python3", "-m", "dynamo.vllm"], args=["--tensor-parallel-size", "16"])
_ADDRESSES = (f"127.0.71.{last}" for last in itertools.count(1))
"""Addresses of the loopback interface, one for each leader."""


def rendered(**services: Any) -> dict[str, Any]:
    return given.rendered(given.graph(services, namespace=NAMESPACE), **nodes.settings(nodes.NEWER[0]))


GRAPHS = [
    ("one node", given.service("worker"), False),
    ("several nodes of vLLM", WORKER, True),
    ("several nodes of another engine", nodes.worker(command=["python3", "-m", "dynamo.sglang"], args=["x"]), True),
]


@cases(("worker", "expected"), GRAPHS)
def test_a_graph_with_a_multinode_component_has_the_script(worker, expected):
    found = rendered(Front=given.service("frontend"), Worker=worker).get("ConfigMap/chat-wait-leader-script")
    assert (found is not None) is expected
    if found:
        assert found["metadata"]["labels"][labels.GRAPH] == "chat"
        assert found["data"] == {"wait-for-leader.py": wait_for_leader.SCRIPT}


def test_release_0_9_has_no_script():
    assert "ConfigMap/chat-wait-leader-script" not in given.rendered(given.graph({"Worker": WORKER}))


def test_a_component_alone_has_the_script_that_its_pods_mount():
    """The reference makes none, so that the followers of such a component never start."""
    asked = {"extraPodMetadata": {"annotations": {labels.EXECUTOR_BACKEND: "mp"}}}
    alone = given.item("DynamoComponentDeployment", "lone", api=dynamo_api.V1ALPHA1, spec={**WORKER, **asked, "backendFramework": "vllm"})
    found = given.rendered(alone, **nodes.settings(nodes.NEWER[0]))
    follower = found["LeaderWorkerSet/lone-0"]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    (script,) = [volume["configMap"]["name"] for volume in follower["volumes"] if volume["name"] == "wait-leader-script"]
    assert f"ConfigMap/{script}" in found


def test_the_script_needs_the_standard_library_only_and_an_old_python():
    parsed = ast.parse(wait_for_leader.SCRIPT, feature_version=(3, 8))
    imported = {alias.name.partition(".")[0] for node in ast.walk(parsed) if isinstance(node, ast.Import) for alias in node.names}
    assert not [node for node in ast.walk(parsed) if isinstance(node, ast.ImportFrom)]
    assert imported <= sys.stdlib_module_names
    assert "${" not in wait_for_leader.SCRIPT  # Flux would replace it


@contextlib.contextmanager
def waiting(folder: Path, host: str, port: int, apiserver: int = 1) -> Iterator[server.Server]:
    """The running script. It makes no pauses and reports each attempt. `folder` has the files of the service account."""
    text = wait_for_leader.SCRIPT.replace("PAUSE = 5 ", "PAUSE = 0.05 ").replace("REPORT = 30 ", "REPORT = 0 ")
    script = folder / "wait-for-leader.py"
    script.write_text(text.replace("/var/run/secrets/kubernetes.io/serviceaccount", str(folder)))
    variables = {
        "LEADER_HOST": host,
        "LEADER_PORT": str(port),
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(apiserver),
        "HTTPS_PROXY": "http://127.0.0.1:1",  # a proxy knows no pods
    }
    command: list[str | Path] = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items()), sys.executable, script]
    with server.running(command, folder / "log") as running:
        yield running


@contextlib.contextmanager
def listening(address: str) -> Iterator[int]:
    """A socket that accepts connections; its port."""
    with socket.create_server((address, 0)) as listener:
        yield listener.getsockname()[1]


def ends(running: server.Server) -> int:
    """The exit code, when the script ends by itself: the signal changes nothing."""
    return running.end(signal.SIGCONT, 180)


def says(running: server.Server, text: str) -> None:
    """Waits until the script says so."""
    running.wait(lambda: text in running.log.read_text())


def test_without_an_account_only_the_port_counts(tmp_path):
    address = next(_ADDRESSES)
    (port,) = server.free_ports(1)
    with waiting(tmp_path, address, port) as running:
        says(running, f"port {port} does not accept connections")
        with socket.create_server((address, port)):
            assert ends(running) == 0
    assert running.log.read_text().count("Pods cannot be listed") == 1


def test_a_name_without_an_address_is_asked_again(tmp_path):
    with waiting(tmp_path, "leader.invalid", 29500) as running:
        says(running, "leader.invalid has no address")


def test_an_empty_name_is_a_mistake_of_another_tool(tmp_path):
    """Flux replaces variables in braces, such as the one in the command of the init container, by nothing."""
    with waiting(tmp_path, "", 29500) as running:
        assert ends(running) == 1
    assert "annotate the workload: kustomize.toolkit.fluxcd.io/substitute: disabled" in running.log.read_text()


def test_a_deleted_pod_ends_at_once(tmp_path):
    with waiting(tmp_path, "leader.invalid", 29500) as running:
        says(running, "Still waiting")
        assert running.end() == 143


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> ControlPlane:
    """A namespace with the objects of a graph's account, and an account without rights."""
    control_plane.namespace(NAMESPACE)
    objects = rendered(Worker=WORKER)
    wanted = [objects[name] for name in objects if name.startswith(("ServiceAccount/", "Role/", "RoleBinding/", "ConfigMap/"))]
    for each in [*wanted, given.item("ServiceAccount", "poor", namespace=NAMESPACE)]:
        answer = control_plane.apply(each, dry_run=False)
        assert answer.ok, answer.message
    user = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
    server.eventually(lambda: installation.may(control_plane, user, NAMESPACE, "list", "", "pods"))  # a new Role takes a moment
    return control_plane


def account(folder: Path, cluster: ControlPlane, name: str) -> int:
    """Writes the files of a service account; returns the port of the API server."""
    (folder / "token").write_text(syncer.token(cluster, NAMESPACE, name))
    (folder / "namespace").write_text(NAMESPACE)
    (folder / "ca.crt").write_bytes((cluster.folder / "certs" / "apiserver.crt").read_bytes())
    return int(json.loads(cluster.kubeconfig.read_text())["clusters"][0]["cluster"]["server"].rpartition(":")[2])


def pod(cluster: ControlPlane, address: str, name: str, phase: str, *, deleted: bool = False, namespace: str = NAMESPACE) -> str:
    """Creates a pod with an address, or gives it another phase. Returns its path."""
    spec = {"containers": [{"name": "main", "image": given.IMAGE}]}
    item = given.item("Pod", name, namespace=namespace, spec=spec)
    item["metadata"]["finalizers"] = ["example.org/wait"] if deleted else []
    path = cluster.client.path(item)
    cluster.client.create(item, dry_run=False)
    status = {"phase": phase, "podIP": address, "podIPs": [{"ip": address}]}
    answer = cluster.client.request("PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json")
    assert answer.ok, answer.message
    if deleted:
        assert cluster.client.request("DELETE", path, {"gracePeriodSeconds": 0}).ok
    return path


NOT_READY: list[tuple[str, list[dict[str, Any]], str]] = [
    ("no pod", [], "no pod has this address"),
    ("a pod that has not started", [{"phase": "Pending"}], "is Pending"),
    ("a pod that has ended", [{"phase": "Succeeded"}], "is Succeeded"),
    ("a pod that is being deleted", [{"phase": "Running", "deleted": True}], "is being deleted"),
    ("a pod of another namespace", [{"phase": "Running", "namespace": "default"}], "no pod has this address"),
]


@cases(("pods", "reason"), NOT_READY)
def test_a_port_alone_is_not_the_leader(pods, reason, cluster, tmp_path):
    """An older leader may still listen at an address that its successor takes over."""
    address = next(_ADDRESSES)
    for index, fields in enumerate(pods):
        pod(cluster, address, f"leader-{address.replace('.', '-')}-{index}", **fields)
    apiserver = account(tmp_path, cluster, ACCOUNT)
    with listening(address) as port, waiting(tmp_path, address, port, apiserver) as running:
        says(running, f"{address}: ")
        says(running, reason)
        pod(cluster, address, f"leader-{address.replace('.', '-')}-new", "Running")
        assert ends(running) == 0
    assert "cannot be listed" not in running.log.read_text()


def test_a_running_pod_is_the_leader_when_its_port_accepts(cluster, tmp_path):
    address = next(_ADDRESSES)
    pod(cluster, address, "leader-slow", "Running")
    (port,) = server.free_ports(1)
    with waiting(tmp_path, address, port, account(tmp_path, cluster, ACCOUNT)) as running:
        says(running, f"port {port} does not accept connections")
        with socket.create_server((address, port)):
            assert ends(running) == 0


def test_an_account_without_the_right_falls_back_to_the_port(cluster, tmp_path):
    address = next(_ADDRESSES)
    with listening(address) as port, waiting(tmp_path, address, port, account(tmp_path, cluster, "poor")) as running:
        assert ends(running) == 0
    assert "Pods cannot be listed (the API server answers 403 Forbidden)" in running.log.read_text()
