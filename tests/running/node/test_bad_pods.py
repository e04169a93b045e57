"""Pods that the node cannot run or bind, and test runs that are killed: the reason is said, and nothing is left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.node import pods
from tests.testbed import programs, server


def scheduled(here, name):
    """The message of a pod that is not bound."""
    conditions = here.pod(name)["status"].get("conditions", ())
    return next((each.get("message", "") for each in conditions if each["type"] == "PodScheduled" and each["status"] == "False"), "")


@pytest.mark.parametrize(
    ("name", "spec", "said"),
    [
        ("volume", {"volumes": [{"name": "models", "hostPath": {"path": "/models"}}]}, "the node has no volume 'models': hostPath"),
        ("network", {"hostNetwork": True}, "the node has no hostNetwork"),
        (
            "hook",
            {"containers": [pods.sleeper(lifecycle={"postStart": {"exec": {"command": ["true"]}}})]},
            "the node has no container 'main': postStart",
        ),
    ],
)
def test_a_pod_that_the_node_cannot_run_fails_its_test_at_once(name, spec, said, running):
    """`eventually` raises the reason and the story, not a time-out."""
    here = pods.here(running, f"bad-{name}")
    here.apply(pods.pod("pod", *spec.pop("containers", [pods.sleeper()]), **spec))
    with pytest.raises(AssertionError, match=f"^the node of the test bed cannot run this pod: {said}"):
        here.node.eventually(lambda: False, f"bad-{name}", 120)
    here.kubectl("delete", "pod", "pod", "--timeout=60s")
    here.node.eventually(lambda: here.node.story(f"bad-{name}") == f"no pods in bad-{name}", f"bad-{name}", 60)


def test_a_time_out_tells_the_story(running):
    """The states of the containers and the ends of their logs are in the message."""
    here = pods.here(running, "story")
    here.apply(pods.pod("pod", pods.shell("echo loading; sleep 60", readinessProbe={"tcpSocket": {"port": 1}, "periodSeconds": 1})))
    texts = ("Readiness probe failed", "| loading")
    here.node.eventually(lambda: all(text in here.node.story("story") for text in texts), "story", 60)
    with pytest.raises(AssertionError) as raised:
        here.node.eventually(lambda: False, "story", 0.1)
    for text in ("not so within", "pod story_pod", "container main: running", "not ready", "Readiness probe failed: dial tcp", "| loading"):
        assert text in str(raised.value)


def test_gpus_are_counted(running):
    """A pod that wants more GPUs than are free waits as Unschedulable, and is bound when others have gone."""
    here = pods.here(running, "gpus")
    wants = {"resources": {"limits": {"nvidia.com/gpu": "5"}}}
    here.apply(pods.pod("one", pods.sleeper(**wants)))
    here.node.eventually(lambda: here.container("one").get("ready", False), "gpus", 60)
    here.apply(pods.pod("two", pods.sleeper(**wants)))
    here.node.eventually(lambda: scheduled(here, "two") == "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", "gpus", 60)
    here.kubectl("delete", "pod", "one")
    here.node.eventually(lambda: here.container("two").get("ready", False), "gpus", 60)
    here.kubectl("delete", "pod", "two")


def test_a_missing_claim_or_label_keeps_a_pod_from_the_node(running):
    """The condition PodScheduled says what is missing; the claim's arrival binds the pod."""
    here = pods.here(running, "unbound")
    volumes = [{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}]
    here.apply(
        pods.pod("claim", pods.sleeper(), volumes=volumes),
        pods.pod("selector", pods.sleeper(), nodeSelector={"accelerator": "h100"}),
    )
    here.node.eventually(lambda: 'persistentvolumeclaim "models" not found' in scheduled(here, "claim"), "unbound", 60)
    here.node.eventually(lambda: "didn't match Pod's node affinity/selector" in scheduled(here, "selector"), "unbound", 60)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    here.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "models"}, "spec": spec})
    here.node.eventually(lambda: here.container("claim").get("ready", False), "unbound", 60)


def test_a_network_that_is_cut_loses_packets_until_it_is_back(running):
    """Nobody reaches the pod, its probe times out, and it is ready again afterwards."""
    here = pods.here(running, "cut")
    probe = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 1, "failureThreshold": 1}
    here.apply(pods.pod("pod", pods.server(readinessProbe=probe)))
    here.node.eventually(lambda: here.container("pod").get("ready", False), "cut", 60)
    address = here.pod("pod")["status"]["podIP"]
    with here.node.cut("cut", "pod"):
        with pytest.raises(OSError, match=r"timed out|No route"):
            here.node.connect(address, 8000, 0.5)
        here.node.eventually(lambda: not here.container("pod")["ready"], "cut", 60)
    here.node.eventually(lambda: here.container("pod")["ready"], "cut", 60)
    assert here.container("pod")["restartCount"] == 0


_VICTIM = """
import sys, time, pathlib, types
from tests.running.node import pods
from tests.testbed import control_plane, node, programs
folder = pathlib.Path(sys.argv[1])
with control_plane.running(folder, control_plane.Programs(*(programs.path(n) for n in ("etcd", "kube-apiserver", "kubectl")))) as plane:
    (folder / "node").mkdir()
    with node.running(plane, folder / "node", {}) as machine:
        here = pods.here(types.SimpleNamespace(plane=plane, node=machine), "victim")
        here.apply(pods.pod("left-behind", pods.sleeper()))
        machine.eventually(lambda: machine.pids("victim", "left-behind") != {}, "victim")
        print(machine.pids("victim", "left-behind")["main"], flush=True)
        time.sleep(600)
"""


def test_a_killed_test_run_leaves_nothing_behind(can_run, tmp_path):
    """SIGKILL of the tests: the control plane, and processes, namespaces and mounts of its pods are gone with it."""
    victim = subprocess.Popen([sys.executable, "-c", _VICTIM, str(tmp_path)], cwd=programs.ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert victim.stdout
        pid = int(victim.stdout.readline())
        namespace = Path(f"/proc/{pid}/ns/net").readlink()
        assert namespace != Path("/proc/self/ns/net").readlink()
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.communicate()

    def left():
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if str(tmp_path) in (process / "cmdline").read_text() or (process / "ns" / "net").readlink() == namespace:
                    found.append(process.name)
            except OSError:
                continue
        return found

    server.eventually(lambda: not left(), 60)
    assert str(tmp_path) not in Path("/proc/mounts").read_text()
