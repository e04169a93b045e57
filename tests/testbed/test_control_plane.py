"""The test bed's control plane refuses and accepts the same objects as a cluster."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.support.cases import cases
from tests.testbed import programs, server

DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "worker", "namespace": "testbed"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "worker"}},
        "template": {
            "metadata": {"labels": {"app": "worker"}},
            "spec": {"containers": [{"name": "main", "image": "worker:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
        },
    },
}
VIRTUAL_SERVICE = {
    "apiVersion": "networking.istio.io/v1beta1",
    "kind": "VirtualService",
    "metadata": {"name": "front", "namespace": "testbed"},
    "spec": {
        "gateways": ["istio-system/gateway"],
        "hosts": ["chat.example.com"],
        "http": [
            {"match": [{"uri": {"prefix": "/"}}], "route": [{"destination": {"host": "front", "port": {"number": 8000}}}]},
        ],
    },
}
POOL = {
    "apiVersion": "inference.networking.k8s.io/v1",
    "kind": "InferencePool",
    "metadata": {"name": "pool", "namespace": "testbed"},
    "spec": {
        "selector": {"matchLabels": {"app": "front"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {"kind": "Service", "name": "picker", "port": {"number": 9002}},
    },
}

Change = tuple[tuple[str | int, ...], Any]
POD = ("spec", "template", "spec")
ROUTE = ("spec", "http", 0, "route", 0, "destination")
PICKER = ("spec", "endpointPickerRef")

REFUSED = [
    ("a field unknown to Deployments", DEPLOYMENT, (("spec", "replica"), 1), "spec.replica:"),
    ("a field unknown to containers", DEPLOYMENT, ((*POD, "containers", 0, "imag"), "x"), '[name="main"].imag:'),
    ("a word where a number belongs", DEPLOYMENT, (("spec", "replicas"), "two"), "replicas"),
    ("a selector that selects other pods", DEPLOYMENT, (("spec", "selector", "matchLabels"), {"app": "other"}), "does not match template"),
    (
        "a mount without its volume",
        DEPLOYMENT,
        ((*POD, "containers", 0, "volumeMounts"), [{"name": "v", "mountPath": "/v"}]),
        "volumeMounts[0]",
    ),
    ("a field unknown to VirtualServices", VIRTUAL_SERVICE, (("spec", "gateway"), "g"), "spec.gateway"),
    ("a field unknown to destinations", VIRTUAL_SERVICE, ((*ROUTE, "hosts"), ["front"]), "destination.hosts"),
    ("a port by name", VIRTUAL_SERVICE, ((*ROUTE, "port", "number"), "http"), "port.number"),
    ("no host", VIRTUAL_SERVICE, (("spec", "hosts"), []), "spec.hosts"),
    ("a field unknown to pools", POOL, (("spec", "targetPortNumber"), 8000), "spec.targetPortNumber"),
    ("a picker Service without a port", POOL, (PICKER, {"kind": "Service", "name": "picker"}), "a Service needs a port"),
    ("the default kind without a port", POOL, (PICKER, {"name": "picker"}), "a Service needs a port"),
    ("a port twice", POOL, (("spec", "targetPorts"), [{"number": 1}, {"number": 1}]), "each port number"),
    ("a port out of range", POOL, (("spec", "targetPorts"), [{"number": 65536}]), "targetPorts[0].number"),
    ("a label value with a space", POOL, (("spec", "selector", "matchLabels"), {"app": "a b"}), "matchLabels.app"),
]
ACCEPTED = [
    ("a Deployment", DEPLOYMENT, (("spec", "replicas"), 2)),
    ("a VirtualService with two hosts", VIRTUAL_SERVICE, (("spec", "hosts"), ["a", "b"])),
    ("a pool whose picker is no Service", POOL, (PICKER, {"kind": "Picker", "name": "picker"})),
    ("a pool with two ports", POOL, (("spec", "targetPorts"), [{"number": 1}, {"number": 2}])),
]


def changed(resource: dict[str, Any], change: Change) -> dict[str, Any]:
    (*way, last), value = change
    copied = copy.deepcopy(resource)
    inner: Any = copied
    for step in way:
        inner = inner[step]
    inner[last] = value
    return copied


@cases(("reason", "resource", "change", "said"), REFUSED)
def test_strict_dry_run_refuses(reason, resource, change, said, control_plane, crds):
    control_plane.namespace("testbed")
    answer = control_plane.apply(changed(resource, change))
    assert not answer.ok
    assert said in answer.message


@cases(("reason", "resource", "change"), ACCEPTED)
def test_strict_dry_run_accepts_and_keeps_nothing(reason, resource, change, control_plane, crds):
    control_plane.namespace("testbed")
    answer = control_plane.apply(changed(resource, change))
    assert answer.ok, answer.message
    assert control_plane.client.request("GET", control_plane.client.path(resource)).status == 404


def test_definitions_are_accepted_without_complaint(crds, control_plane):
    """The API server stores a non-structural definition and one with conflicting names, and reports the problem in a condition."""
    for definition in crds:
        conditions = control_plane.client.get(control_plane.client.path(definition))["status"]["conditions"]
        states = {each["type"]: each["status"] for each in conditions}
        assert states["Established"] == "True"
        assert states["NamesAccepted"] == "True"
        assert "NonStructuralSchema" not in states


def test_kubectl_speaks_to_the_control_plane(control_plane):
    assert "kube-system" in control_plane.kubectl("get", "namespaces", "-o", "name")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        control_plane.kubectl("create", "-f", "-", input='{"apiVersion": "v1", "kind": "Nonsense", "metadata": {"name": "a"}}')
    assert "Nonsense" in refused.value.stderr
    assert refused.value.__notes__ == [refused.value.stderr]


def test_kubectl_caches_nothing(control_plane, tmp_path, monkeypatch):
    """Kinds that appear later are known at once: see `ControlPlane.environment`."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "deployments" in control_plane.kubectl("api-resources")
    assert not list(tmp_path.iterdir())


def test_controllers_make_pods_of_a_deployment(control_plane, controllers):
    namespace = control_plane.namespace("testbed-controllers")
    assert control_plane.apply(changed(DEPLOYMENT, (("metadata", "namespace"), namespace)), dry_run=False).ok
    pods = f"/api/v1/namespaces/{namespace}/pods"
    server.eventually(lambda: len(control_plane.client.get(pods)["items"]) == 1)


def test_a_killed_server_starts_again_and_a_paused_one_goes_on(tmp_path):
    """The log has the output of both lives."""
    script = tmp_path / "serve.sh"
    script.write_text("echo there\nwhile :; do echo alive >>" + str(tmp_path / "alive") + "; sleep 0.05; done\n")
    alive = tmp_path / "alive"
    with server.running(["/bin/sh", script], tmp_path / "log") as thing:
        thing.wait(alive.exists)
        thing.kill()
        stopped = alive.read_text()
        thing.start()
        thing.wait(lambda: thing.log.read_text().split() == ["there", "there"])
        thing.wait(lambda: alive.read_text() > stopped)
        thing.pause()
        time.sleep(0.1)
        paused = alive.read_text()
        time.sleep(0.3)
        assert alive.read_text() == paused
        thing.resume()
        thing.wait(lambda: alive.read_text() > paused)


def test_a_server_restarts_until_the_context_ends(tmp_path):
    """Its log has the output of all lives; afterwards it stays ended."""
    killed: set[int] = set()
    with server.running(["/bin/sh", "-c", "echo there; exec sleep 600"], tmp_path / "log") as thing:
        with server.restarting(thing):
            for lives in (1, 2, 3):
                server.eventually(lambda: thing.log.read_text().split() == ["there"] * lives)  # noqa: B023 - called at once
                server.eventually(lambda: thing.pid not in killed)  # the new process can write before its id is known
                killed.add(thing.pid)
                os.kill(thing.pid, signal.SIGKILL)
            server.eventually(lambda: thing.log.read_text().split() == ["there"] * 4)
        os.kill(thing.pid, signal.SIGKILL)
        with pytest.raises(server.StartError, match="exit code -9"):
            thing.wait(lambda: False)


def test_the_environment_of_a_server_is_its_own(tmp_path, monkeypatch):
    """In each of its lives a server has its variables beside those of the tests, which do not get them."""
    monkeypatch.setenv("OF_THE_TESTS", "theirs")
    command = ["/bin/sh", "-c", "echo $OF_THE_SERVER $OF_THE_TESTS; exec sleep 600"]
    with server.running(command, tmp_path / "log", {"OF_THE_SERVER": "own"}) as thing:
        for lives in (1, 2):
            thing.wait(lambda: thing.log.read_text() == "own theirs\n" * lives)  # noqa: B023 - called at once
            assert "OF_THE_SERVER" not in os.environ
            thing.kill()
            thing.start()


def test_a_server_that_cannot_start_tells_why(tmp_path):
    """The message is the end of the server's log. It comes at once, not after the timeout."""
    with (
        server.running(["/bin/sh", "-c", "echo no such flag >&2; exit 3"], tmp_path / "thing.log") as thing,
        pytest.raises(server.StartError, match=r"(?s)thing: exit code 3.*no such flag"),
    ):
        thing.wait(lambda: False)


def test_a_server_ends_with_whoever_started_it(tmp_path):
    """The server also ends if its starter is killed and cannot clean up."""
    (tmp_path / "serve.sh").write_text("trap 'echo gone; exit' TERM\necho there\nwhile :; do sleep 0.1; done\n")
    log = tmp_path / "log"
    program = f"""
import os, pathlib, signal
from tests.testbed import server
log = pathlib.Path({str(log)!r})
with server.running(["/bin/sh", log.with_name("serve.sh")], log) as thing:
    thing.wait(lambda: "there" in log.read_text())
    os.kill(os.getpid(), signal.SIGKILL)
"""
    starter = subprocess.run([sys.executable, "-c", program], cwd=programs.ROOT, check=False)
    assert starter.returncode == -signal.SIGKILL
    server.eventually(lambda: log.read_text().split() == ["there", "gone"], 10)


def test_one_worker_runs_all_tests_of_a_control_plane(control_plane, request):
    """Otherwise each worker starts a control plane of its own. pytest-xdist adds the group to the id of each test."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("the tests are not divided by groups")
    assert request.node.nodeid.endswith("@control_plane")
