"""`krm-fn status` without PATH: reads a real API server, waits, and watches."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import re
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from krm_fn.render import labels
from tests.cli import console
from tests.cli.test_status import GRAPH, deployment
from tests.cli.test_status_summary import WORKLOADS
from tests.platform import installation
from tests.testbed import programs, server, syncer
from tests.testbed.api import MERGE
from tests.testbed.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.testbed.control_plane import ControlPlane


_PROGRAM = """
import signal
from krm_fn.__main__ import start
signal.signal(signal.SIGINT, signal.default_int_handler)
start()
"""
"""The command. A script that runs the tests in the background ignores SIGINT, and its processes inherit that."""


class Cluster:
    """A namespace of a control plane. Tests write the statuses of Deployments, as their controller would."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane, self.namespace = plane, namespace

    def create(self, resource: dict[str, Any]) -> None:
        """Creates a resource in the namespace, and writes its status."""
        created = copy.deepcopy(resource)
        created["metadata"]["namespace"] = self.namespace
        if resource["kind"] == "Deployment":
            template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
            created["metadata"]["labels"] = {labels.NAMESPACE: f"{self.namespace}-chat"}
            created["spec"] |= {"selector": {"matchLabels": {"app": "a"}}, "template": template}
        answer = self.plane.client.create(created, dry_run=False)
        assert answer.ok, answer
        if "status" in resource:
            self.write(resource)

    def write(self, resource: dict[str, Any]) -> None:
        """Writes the status of a Deployment."""
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{resource['metadata']['name']}/status"
        answer = self.plane.client.request("PATCH", path, {"status": resource["status"]}, MERGE)
        assert answer.ok, answer

    @property
    def arguments(self) -> list[str | Path]:
        return ["status", "-n", self.namespace, "--kubeconfig", self.plane.kubeconfig]


@pytest.fixture
def cluster(dynamo: ControlPlane, request: pytest.FixtureRequest) -> Cluster:
    return Cluster(dynamo, dynamo.namespace(request.node.name.removeprefix("test_").replace("_", "-")))


def test_the_table_of_a_namespace(cluster):
    """Without PATH, the objects come from the cluster. Nothing has to be installed in it, and kubectl is not needed."""
    for resource in (GRAPH, deployment("chat-frontend", 1, 1), deployment(ready=1)):
        cluster.create(resource)
    done = console.run(*cluster.arguments, "--exit-code")
    assert (done.code, done.err) == (3, "")
    head, frontend, worker, _, summary, *_ = done.out.splitlines()
    assert summary == "graphs 0/1 ready"
    assert frontend.split()[:4] == [f"{cluster.namespace}/chat", "Frontend", "Deployment/chat-frontend", "1/1"]
    assert worker.split()[:4] == [f"{cluster.namespace}/chat", "Worker", "Deployment/chat-worker", "1/2"]
    assert head.split()[4] == "SINCE"


def test_all_namespaces(cluster):
    cluster.create(GRAPH)
    done = console.run("status", "-A", "--kubeconfig", cluster.plane.kubeconfig)
    assert done.code == 0, done.err
    assert f"{cluster.namespace}/chat" in done.out


@contextlib.contextmanager
def started(cluster: Cluster, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own, with its output in pipes. It ends with the block."""
    command = [sys.executable, "-c", _PROGRAM, *map(str, cluster.arguments), *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, cwd=programs.ROOT, env=environment) as process:  # type: ignore[call-overload]
        timer = threading.Timer(120, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def test_wait_ends_when_everything_is_ready(cluster):
    """A job of CI applies the graph and waits. It may begin to wait before the objects exist."""
    with started(cluster, "--wait", "110s") as process:
        for resource in (GRAPH, deployment("chat-frontend", 1, 1), deployment()):
            cluster.create(resource)
        out, err = process.communicate()
    assert process.returncode == 0
    assert re.fullmatch(r"(waiting: \d+ s, .*\n)*", err)
    assert re.search(r"Deployment/chat-worker +2/2", out)


def test_wait_ends_with_3_when_the_time_is_over(cluster):
    cluster.create(GRAPH)
    done = console.run(*cluster.arguments, "--wait", "0s")
    assert done.code == 3
    assert "Deployment/chat-worker" in done.out


def test_wait_does_not_wait_for_what_failed(cluster):
    """Waiting does not help a Deployment whose rollout has exceeded its deadline, so a job of CI must not pay for it."""
    failure = {"reason": "ProgressDeadlineExceeded", "message": "timed out", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    stuck = deployment(ready=1)
    stuck["status"]["conditions"].append({"type": "Progressing", "status": "False", **failure})
    for resource in (GRAPH, deployment("chat-frontend", 1, 1), stuck):
        cluster.create(resource)
    with started(cluster, "--wait", "10h") as process:
        out, _ = process.communicate()
    assert process.returncode == 3
    assert "timed out" in out


def test_watch_prints_each_change(cluster):
    """The table comes again only after a change, and Ctrl-C ends the command without a traceback."""
    for resource in (GRAPH, deployment("chat-frontend", 1, 1), deployment(ready=1)):
        cluster.create(resource)
    with started(cluster, "--watch") as process:
        output = process.stdout
        assert output is not None
        for expected in ("1/2", "2/2"):
            while not re.search(rf"chat-worker +{expected}", line := output.readline()):
                assert line, "the command ended"
            cluster.write(deployment())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert "Traceback" not in err


def test_an_account_without_rights_gets_notes(cluster, tmp_path):
    """Each kind that the account may not list is named, because the table is incomplete without it."""
    cluster.create(GRAPH)
    rbac = "rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": ["nvidia.com"], "resources": ["*"], "verbs": ["list"]}]
    for resource in (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}},
        {"apiVersion": rbac, "kind": "Role", "metadata": {"name": "reader"}, "rules": rules},
        {
            "apiVersion": rbac,
            "kind": "RoleBinding",
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": cluster.namespace}],
        },
    ):
        cluster.create(resource)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = cluster.plane.client.request("POST", f"/api/v1/namespaces/{cluster.namespace}/serviceaccounts/reader/token", request)
    config = json.loads(cluster.plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": answer.body["status"]["token"]}
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    reader = f"system:serviceaccount:{cluster.namespace}:reader"
    graphs = ("list", "nvidia.com", "dynamographdeployments")
    server.eventually(lambda: installation.may(cluster.plane, reader, cluster.namespace, *graphs))  # a new Role takes a moment
    done = console.run("status", "-n", cluster.namespace, "--kubeconfig", tmp_path / "kubeconfig")
    assert done.code == 0
    assert "note: cannot list deployments: " in done.err
    assert "dynamographdeployments" not in done.err
    assert f"{cluster.namespace}/chat" in done.out


def test_an_empty_namespace_is_named(cluster):
    """The namespace of a typing mistake looks like a cluster without graphs."""
    done = console.run(*cluster.arguments)
    assert re.fullmatch(rf"no Dynamo resource in namespace {cluster.namespace} of https://\S+; apply the output .*\n", done.err)


def test_a_deleted_service_and_an_absent_syncer_are_named(cluster):
    """Services are read, so that a missing one is named. No syncer has written a status, and none has a Lease."""
    rendered = copy.deepcopy(GRAPH)
    rendered["metadata"]["annotations"] = {labels.WORKLOADS: WORKLOADS}
    for resource in (rendered, deployment("chat-frontend", 1, 1), deployment()):
        cluster.create(resource)
    lines = console.run(*cluster.arguments).out.splitlines()[4:]
    assert lines[0] == "graphs 1/1 ready"
    assert lines[1].startswith(f"changed in the cluster: {cluster.namespace}/chat: Service chat-frontend not found; ")
    assert lines[2] == f"the stored status is old: {cluster.namespace}/chat says nothing, and its objects say Ready=True"
    assert lines[3] == f"syncer: unknown, no Lease krm-fn-sync in dynamo-system and {cluster.namespace}"
    assert lines[4].startswith("next: kubectl get pods -n dynamo-system ")


def test_a_syncer_that_runs_is_named_by_its_lease(cluster, tmp_path):
    """It has written the status, so the stored one is right."""
    rendered = copy.deepcopy(GRAPH)
    rendered["metadata"]["annotations"] = {labels.WORKLOADS: WORKLOADS}
    leases = ["--leader-election", "--lease-namespace", cluster.namespace]
    with syncer.running(cluster.plane.kubeconfig, tmp_path, "--namespace", cluster.namespace, *leases):
        for resource in (rendered, deployment("chat-frontend", 1, 1), deployment()):
            cluster.create(resource)
        place = Place(cluster.plane, cluster.namespace)
        place.wait("chat", lambda status: status.get("state") == "successful")
        lines = console.run(*cluster.arguments, "--syncer-namespace", cluster.namespace).out.splitlines()
    assert "the stored status is old" not in "".join(lines)
    (line,) = [line for line in lines if line.startswith("syncer: ")]
    written = rf"last status written \d+s ago, of {cluster.namespace}/chat"
    assert re.fullmatch(rf"syncer: runs, krm-fn \S+ \S+ \({cluster.namespace}/krm-fn-sync\); {written}", line)
