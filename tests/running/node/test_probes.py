"""Probes on the node that runs pods: they really ask, and the status says what they answer."""

from __future__ import annotations

from tests.running.node import pods
from tests.testbed import programs
from tests.testbed.node import Image


def file(name, **more):
    """A probe that succeeds while a file exists."""
    return {"exec": {"command": ["test", "-e", f"/tmp/{name}"]}, "periodSeconds": 1, **more}  # noqa: S108 - in a container


def test_readiness_follows_the_answers(running):
    """Ready after successThreshold good answers, not ready after failureThreshold bad ones; an endpoint comes and goes with it."""
    here = pods.here(running, "readiness")
    probe = file("ready", successThreshold=2, failureThreshold=2)
    here.apply(pods.deployment("web", pods.server(readinessProbe=probe)), pods.service("web", 80, "http"))
    here.node.eventually(lambda: "Readiness probe failed" in here.node.story("readiness"), "readiness", 60)
    assert here.node.endpoints("readiness", "web") == []
    (pod,) = [each["metadata"]["name"] for each in running.plane.client.get("/api/v1/namespaces/readiness/pods")["items"]]
    here.node.eventually(lambda: here.container(pod).get("started", False), "readiness", 60)
    assert here.container(pod)["ready"] is False
    here.node.execute("readiness", pod, ["touch", "/tmp/ready"])  # noqa: S108 - in a container
    here.node.eventually(lambda: len(here.node.endpoints("readiness", "web")) == 1, "readiness", 60)
    here.node.execute("readiness", pod, ["rm", "/tmp/ready"])  # noqa: S108 - in a container
    here.node.eventually(lambda: here.node.endpoints("readiness", "web") == [], "readiness", 60)
    assert here.container(pod)["restartCount"] == 0


def test_startup_comes_first(running):
    """Neither readiness nor liveness asks before the startup probe has succeeded."""
    here = pods.here(running, "startup")
    probes = {
        "startupProbe": file("started", failureThreshold=60),
        "readinessProbe": file("started", failureThreshold=1),
        "livenessProbe": file("started", failureThreshold=1, timeoutSeconds=30),
    }
    here.apply(pods.pod("pod", pods.sleeper(**probes)))
    here.node.eventually(lambda: "Startup probe failed" in here.node.story("startup"), "startup", 60)
    here.node.execute("startup", "pod", ["touch", "/tmp/started"])  # noqa: S108 - in a container
    here.node.eventually(lambda: here.container("pod").get("ready", False), "startup", 60)
    assert here.container("pod")["restartCount"] == 0
    assert "Liveness probe failed" not in here.node.story("startup")


def test_a_failed_startup_probe_restarts_the_container(running):
    """After failureThreshold answers the container is killed and starts again."""
    here = pods.here(running, "never-starts")
    here.apply(pods.pod("pod", pods.sleeper(startupProbe=file("never", failureThreshold=2))))
    here.node.eventually(lambda: here.container("pod").get("restartCount", 0) >= 1, "never-starts", 60)
    assert "failed startup probe, will be restarted" in here.node.story("never-starts")


def test_a_failed_liveness_probe_restarts_the_container(running):
    """A server that hangs: the probe times out, the container is killed with its grace period."""
    here = pods.here(running, "liveness")
    probe = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 1, "failureThreshold": 4, "timeoutSeconds": 1}
    here.apply(pods.pod("pod", pods.server(livenessProbe=probe, startupProbe=probe | {"failureThreshold": 60})))
    here.node.eventually(lambda: here.container("pod").get("ready", False), "liveness", 60)
    here.node.eventually(lambda: "GET / " in here.node.log("liveness", "pod"), "liveness", 60)
    here.node.kill("liveness", "pod", signal="STOP")
    here.node.eventually(lambda: here.container("pod")["restartCount"] == 1, "liveness", 60)
    assert "Liveness probe failed" in here.node.story("liveness")
    assert here.container("pod")["lastState"]["terminated"]["exitCode"] == 137


def test_a_hung_process_is_not_ready_in_its_grace_period(running):
    """The liveness probe fails first, and the process ignores SIGTERM; the readiness probe goes on, so the endpoint goes."""
    here = pods.here(running, "hung")
    probe = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 1, "timeoutSeconds": 1}
    before = {"startupProbe": probe | {"failureThreshold": 60}}  # the server may not listen yet when it is asked first
    container = pods.server(**before, livenessProbe=probe | {"failureThreshold": 2}, readinessProbe=probe | {"timeoutSeconds": 3})
    here.apply(pods.deployment("web", container, terminationGracePeriodSeconds=600), pods.service("web", 80, "http"))
    here.node.eventually(lambda: len(here.node.endpoints("hung", "web")) == 1, "hung", 60)
    (endpoint,) = here.node.endpoints("hung", "web")
    pids = here.node.pids("hung", endpoint.pod)
    here.node.kill("hung", endpoint.pod, signal="STOP")
    here.node.eventually(lambda: "failed liveness probe, will be restarted" in here.node.story("hung"), "hung", 60)
    assert here.container(endpoint.pod)["ready"] is True
    here.node.eventually(lambda: here.node.endpoints("hung", "web") == [], "hung", 60)
    assert here.node.pids("hung", endpoint.pod) == pids
    here.node.kill("hung", endpoint.pod)
    here.node.eventually(lambda: len(here.node.endpoints("hung", "web")) == 1, "hung", 60)
    assert here.container(endpoint.pod)["restartCount"] == 1


def test_only_readiness_is_asked_while_a_pod_ends(running):
    """During the preStop hook of a deleted pod, a failing readiness probe counts, and the liveness probe is not asked."""
    here = pods.here(running, "ending")
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "rm /tmp/up; while ! test -e /tmp/over; do sleep 0.1; done"]}}}
    counts = {"startupProbe": 60, "livenessProbe": 1, "readinessProbe": 3}
    probes = {name: file("up", failureThreshold=count, timeoutSeconds=30) for name, count in counts.items()}
    script = "touch /tmp/up; trap exit TERM; while :; do sleep 0.1; done"
    here.apply(pods.pod("pod", pods.shell(script, lifecycle=hook, **probes), terminationGracePeriodSeconds=600))
    here.node.eventually(lambda: here.container("pod").get("ready", False), "ending", 60)
    here.kubectl("delete", "pod", "pod", "--wait=false")
    here.node.eventually(lambda: not here.container("pod")["ready"], "ending", 60)
    assert "running" in here.container("pod")["state"]
    assert "Liveness probe failed" not in here.node.story("ending")
    here.node.execute("ending", "pod", ["touch", "/tmp/over"])  # noqa: S108 - in a container
    here.node.eventually(lambda: not here.place.listed("Pod"), "ending", 60)


def test_probes_ask_by_tcp_and_by_command(running):
    """tcpSocket succeeds when the port is open; exec runs in the container, with its environment."""
    here = pods.here(running, "handlers")
    tcp = {"tcpSocket": {"port": "http"}, "periodSeconds": 1}
    command = {"exec": {"command": ["sh", "-c", 'test "$MINE" = yes']}, "periodSeconds": 1}
    here.apply(pods.pod("pod", pods.server(readinessProbe=tcp, startupProbe=command, env=[{"name": "MINE", "value": "yes"}])))
    here.node.eventually(lambda: here.container("pod").get("ready", False), "handlers", 60)
    closed = {"tcpSocket": {"port": 9999}, "periodSeconds": 1}
    here.apply(pods.pod("closed", pods.server(readinessProbe=closed)))
    here.node.eventually(lambda: ":9999: connect: connection refused" in here.node.story("handlers"), "handlers", 60)
    here.node.eventually(lambda: here.container("closed").get("started", False), "handlers", 60)
    assert here.container("closed")["ready"] is False


def test_probes_ask_by_grpc(running):
    """The health protocol of a real etcd: its own service serves, another one is unknown; a server of HTTP/1 is no gRPC server."""
    here = pods.here(running, "grpc")
    etcd = programs.path("etcd")
    here.node.images["example.com/etcd:1"] = Image(folders=(etcd.parent,))
    listen = ["--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://localhost:2379", "--data-dir=/tmp/etcd"]
    command = {"image": "example.com/etcd:1", "command": [str(etcd), *listen]}

    def asking(name, port, **more):
        return pods.pod(name, pods.server(**more, readinessProbe={"grpc": {"port": port, "service": ""}, "periodSeconds": 1}))

    unknown = pods.server(**command, readinessProbe={"grpc": {"port": 2379, "service": "other"}, "periodSeconds": 1})
    here.apply(asking("serving", 2379, **command), pods.pod("unknown", unknown), asking("plain", 8000))
    here.node.eventually(lambda: here.container("serving").get("ready", False), "grpc", 60)
    messages = ('service unhealthy (responded with "SERVICE_UNKNOWN")', ":8000 does not speak gRPC")
    here.node.eventually(lambda: all(message in here.node.story("grpc") for message in messages), "grpc", 60)
    here.node.eventually(lambda: all(here.container(name).get("started") for name in ("unknown", "plain")), "grpc", 60)
    assert [here.container(name)["ready"] for name in ("unknown", "plain")] == [False, False]
