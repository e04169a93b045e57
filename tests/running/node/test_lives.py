"""Init containers, sidecars, restarts and ends on the node that runs pods."""

from __future__ import annotations

import re
from pathlib import Path

from tests.running.node import pods


def condition(pod, name):
    """A condition of a pod as (status, reason)."""
    (found,) = [each for each in pod["status"]["conditions"] if each["type"] == name]
    return found["status"], found.get("reason")


def test_init_containers_run_in_order_and_before_the_others(running):
    """Each init container starts when the one before has succeeded; a sidecar when its startup probe has."""
    here = pods.here(running, "init")
    volumes, mounts = [{"name": "order", "emptyDir": {}}], [{"name": "order", "mountPath": "/order"}]
    note = "echo $NOTE >> /order/lines"

    def noting(name, then="", **more):
        return {**pods.shell(f"{note}; {then}", volumeMounts=mounts, env=[{"name": "NOTE", "value": name}], **more), "name": name}

    waits = "sleep 1; touch /order/up; trap exit TERM; while :; do sleep 0.1; done"
    started = {"exec": {"command": ["test", "-e", "/order/up"]}, "periodSeconds": 1, "failureThreshold": 60}
    inits = [
        noting("first", "sleep 0.5"),
        noting("sidecar", waits, restartPolicy="Always", startupProbe=started),
        noting("second", "test -e /order/up"),
    ]
    here.apply(pods.pod("pod", noting("main", "cat /order/lines"), restartPolicy="Never", initContainers=inits, volumes=volumes))
    here.node.eventually(lambda: here.pod("pod")["status"].get("phase") == "Succeeded", "init", 60)
    assert here.node.log("init", "pod", "main").split() == ["first", "sidecar", "second", "main"]
    found = here.pod("pod")
    assert condition(found, "Initialized") == ("True", "PodCompleted")
    assert [each["state"]["terminated"]["exitCode"] for each in found["status"]["initContainerStatuses"]] == [0, 0, 0]


def test_a_failing_init_container_holds_the_pod_back(running):
    """It is started again; the other containers wait with PodInitializing."""
    here = pods.here(running, "init-fails")
    here.apply(pods.pod("pod", pods.sleeper(), initContainers=[{**pods.shell("echo no; exit 3"), "name": "setup"}]))
    here.node.eventually(lambda: here.container("pod", "setup").get("restartCount", 0) >= 2, "init-fails", 60)
    found = here.pod("pod")
    assert found["status"]["phase"] == "Pending"
    assert condition(found, "Initialized") == ("False", "ContainersNotInitialized")
    assert here.container("pod")["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert here.container("pod", "setup")["lastState"]["terminated"]["exitCode"] == 3


def test_a_failing_init_container_ends_a_pod_that_never_restarts(running):
    """restartPolicy Never: the pod has failed."""
    here = pods.here(running, "init-never")
    here.apply(pods.pod("pod", pods.sleeper(), restartPolicy="Never", initContainers=[{**pods.shell("exit 3"), "name": "setup"}]))
    here.node.eventually(lambda: here.pod("pod")["status"].get("phase") == "Failed", "init-never", 60)
    assert here.node.pids("init-never", "pod") == {}


def test_a_container_that_ends_again_and_again_backs_off(running):
    """CrashLoopBackOff with the doubled wait, the exit code and the end of the log; the first restart comes at once."""
    here = pods.here(running, "crash")
    here.apply(pods.pod("pod", pods.shell("echo starting; echo no such model; exit 7", terminationMessagePolicy="FallbackToLogsOnError")))

    waits: dict[int, pods.Object] = {}

    def doubled():
        status = here.container("pod")
        said = status.get("state", {}).get("waiting", {}).get("message", "")
        if found := re.match(r"back-off (\d+)s restarting failed container=main ", said):
            waits.setdefault(int(found[1]), status)
        return [each for each in waits if 2 * each in waits]  # a short wait can be over before it is seen

    here.node.eventually(lambda: doubled() != [], "crash", 120)
    assert waits.keys() <= {2**power for power in range(9)}, "each wait is double the one before, from 1 s"
    second = max(waits)
    status = waits[second]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    last = status["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"], last["message"]) == (7, "Error", "starting\nno such model\n")
    assert status["restartCount"] == second.bit_length(), "after waits of 0, 1, 2 … seconds"
    assert (status["ready"], status["started"]) == (False, False)
    assert here.pod("pod")["status"]["phase"] == "Running"
    assert here.node.log("crash", "pod", previous=True) == "starting\nno such model\n"


def test_restart_policies(running):
    """OnFailure starts a failed container again and leaves one that succeeded; the pod has then succeeded."""
    here = pods.here(running, "policies")
    volumes, mounts = [{"name": "v", "emptyDir": {}}], [{"name": "v", "mountPath": "/v"}]
    flaky = {**pods.shell("test -e /v/been || { touch /v/been; exit 1; }", volumeMounts=mounts), "name": "flaky"}
    here.apply(pods.pod("pod", pods.shell("exit 0"), flaky, restartPolicy="OnFailure", volumes=volumes))
    here.node.eventually(lambda: here.pod("pod")["status"].get("phase") == "Succeeded", "policies", 60)
    assert [here.container("pod", name)["restartCount"] for name in ("main", "flaky")] == [0, 1]
    assert condition(here.pod("pod"), "Ready") == ("False", "PodCompleted")


def test_the_end_of_a_pod_is_graceful(running):
    """preStop first, then SIGTERM; the object goes when the containers have ended."""
    here = pods.here(running, "graceful")
    claim = here.node.claim("graceful", "notes")
    volumes = [{"name": "notes", "persistentVolumeClaim": {"claimName": "notes"}}]
    script = "trap 'echo term >> /notes/lines; exit 0' TERM; touch /notes/up; while :; do sleep 0.1; done"
    main = pods.shell(
        script,
        volumeMounts=[{"name": "notes", "mountPath": "/notes"}],
        readinessProbe={"exec": {"command": ["test", "-e", "/notes/up"]}, "periodSeconds": 1},
        lifecycle={"preStop": {"exec": {"command": ["sh", "-c", "sleep 0.5; echo stop >> /notes/lines"]}}},
    )
    here.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "notes"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
        pods.pod("pod", main, volumes=volumes, terminationGracePeriodSeconds=30),
    )
    here.node.eventually(lambda: here.container("pod").get("ready", False), "graceful", 60)
    here.kubectl("delete", "pod", "pod")
    assert (claim / "lines").read_text().split() == ["stop", "term"]


def test_a_container_that_ignores_the_end_is_killed(running):
    """SIGKILL after the grace period: exit code 137 in the last status."""
    here = pods.here(running, "killed")
    here.apply(pods.pod("pod", pods.shell("trap '' TERM; while :; do sleep 0.1; done"), terminationGracePeriodSeconds=2))
    here.node.eventually(lambda: here.container("pod").get("ready", False), "killed", 60)
    pid = here.node.pids("killed", "pod")["main"]
    here.kubectl("delete", "pod", "pod", "--wait=false")
    codes = []

    def gone():
        try:
            codes.append(here.container("pod")["state"].get("terminated", {}).get("exitCode"))
        except LookupError:
            return True
        return False

    here.node.eventually(gone, "killed", 60)
    assert set(codes) <= {None, 137}
    assert not Path(f"/proc/{pid}").exists()


def test_a_container_that_is_killed_starts_again(running):
    """A signal ends a container with 128 and its number; it starts again in the same pod, with the same address."""
    here = pods.here(running, "signal")
    here.apply(pods.pod("pod", pods.sleeper()))
    here.node.eventually(lambda: here.container("pod").get("ready", False), "signal", 60)
    address = here.pod("pod")["status"]["podIP"]
    here.node.kill("signal", "pod")
    here.node.eventually(lambda: here.container("pod")["restartCount"] == 1 and here.container("pod")["ready"], "signal", 60)
    assert here.container("pod")["lastState"]["terminated"]["exitCode"] == 137
    assert here.pod("pod")["status"]["podIP"] == address
