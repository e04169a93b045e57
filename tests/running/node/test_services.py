"""Services on the node that runs pods: endpoints, cluster IPs, names, and the API server, asked by real programs."""

from __future__ import annotations

import gc
import json
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from tests.running.node import pods

HTTP = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 1}
FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


def test_pods_of_a_deployment_answer_through_their_service(running):
    """A Deployment's pods become ready by their own probes; a Service finds them by address, by name and from the host."""
    _, machine = running
    here = pods.here(running, "services")
    here.apply(pods.deployment("web", pods.server(readinessProbe=HTTP), replicas=2), pods.service("web", 80, "http"))
    machine.eventually(lambda: len(machine.endpoints("services", "web")) == 2, "services")
    assert machine.ask("services", "web", "/").status == 200
    (one, other) = [each.pod for each in machine.endpoints("services", "web")]
    address = running.plane.client.get("/api/v1/namespaces/services/services/web")["spec"]["clusterIP"]
    machine.eventually(lambda: machine.accepts(address, 80), "services")
    for name in ("web", "web.services", "web.services.svc.cluster.local"):
        asked = machine.execute("services", one, ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://{name}/"])
        assert asked.stdout == "200", asked
    assert machine.execute("services", one, ["getent", "hosts", "example.com"]).returncode == 2
    with machine.forward("services", "web") as port, urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
        assert answer.status == 200
    assert '"GET / HTTP/1.1" 200' in machine.log("services", other)


def test_the_gateway_keeps_its_address_when_pods_come_and_go(running):
    """Pods remember the hardware address of the gateway: another one would cut their connections to Services."""
    here = pods.here(running, "gateway")

    def address():
        shown = subprocess.run(here.node.command("ip", "-json", "link", "show", "type", "bridge"), capture_output=True, check=True)
        return [each["address"] for each in json.loads(shown.stdout)]

    seen = [address()]
    here.apply(*(pods.pod(name, pods.sleeper()) for name in ("one", "two", "three")))
    here.node.eventually(lambda: all(here.node.pids("gateway", name) for name in ("one", "two", "three")), "gateway")
    for name in ("one", "two", "three"):
        seen.append(address())
        here.kubectl("delete", "pod", name, "--now")
    seen.append(address())
    assert seen == seen[:1] * 5


def test_a_pod_reaches_the_api_server_with_its_token(running):
    """Token, certificate and environment are those that an in-cluster client uses."""
    _, machine = running
    here = pods.here(running, "api")
    here.apply(pods.pod("client", pods.sleeper()))
    machine.eventually(lambda: machine.pids("api", "client") != {}, "api")
    url = "https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/apis/authentication.k8s.io/v1/selfsubjectreviews"
    header = f'-H "Authorization: Bearer $(cat {FOLDER}/token)" -H "Content-Type: application/json"'
    review = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
    asked = machine.execute("api", "client", ["sh", "-c", f"curl -sS --cacert {FOLDER}/ca.crt {header} -d '{review}' \"{url}\""])
    assert json.loads(asked.stdout)["status"]["userInfo"]["username"] == "system:serviceaccount:api:default", asked
    assert machine.execute("api", "client", ["cat", f"{FOLDER}/namespace"]).stdout == "api"


def test_pods_find_each_other_by_the_names_of_a_headless_service(running):
    """A pod with a host name in a subdomain has a name of its own; the Service's name has all ready pods."""
    here = pods.here(running, "headless")
    labels = {"labels": {"app": "group"}}
    for name in ("one", "two"):
        found = pods.pod(name, pods.server(readinessProbe=HTTP), hostname=f"{name}-host", subdomain="group")
        here.apply({**found, "metadata": {**found["metadata"], **labels}})
    here.apply(pods.service("group", 8000, "http", clusterIP="None"))
    here.node.eventually(lambda: len(here.node.endpoints("headless", "group")) == 2, "headless")
    addresses = {each.pod: each.address for each in here.node.endpoints("headless", "group")}

    def hosts(name):
        return {line.split()[0] for line in here.node.execute("headless", "one", ["getent", "ahostsv4", name]).stdout.splitlines()}

    here.node.eventually(lambda: hosts("group") == set(addresses.values()), "headless", 60)
    assert hosts("two-host.group.headless.svc.cluster.local") == hosts("two-host.group") == {addresses["two"]}
    assert here.node.execute("headless", "two", ["cat", "/etc/hostname"]).stdout == "two-host\n"


def test_a_service_without_endpoints_refuses_connections(running):
    """A cluster IP answers only while a pod is ready; the last pod is reached until it has ended."""
    here = pods.here(running, "refuses")
    held = ["sh", "-c", "until test -e /opt/go; do sleep 0.1; done"]
    main = pods.server(readinessProbe=HTTP, lifecycle={"preStop": {"exec": {"command": held}}})
    here.apply(pods.service("web", 80, "http"), pods.deployment("web", main, replicas=0, terminationGracePeriodSeconds=600))
    address = running.plane.client.get("/api/v1/namespaces/refuses/services/web")["spec"]["clusterIP"]
    with pytest.raises(ConnectionRefusedError):
        here.node.connect(address, 80)
    here.kubectl("scale", "deployment", "web", "--replicas=1")

    def answers():
        try:
            return here.node.request(address, 80, "/").status == 200
        except OSError:
            return False

    here.node.eventually(answers, "refuses", 60)
    (pod,) = [each.pod for each in here.node.endpoints("refuses", "web")]
    here.kubectl("scale", "deployment", "web", "--replicas=0")
    here.node.eventually(lambda: here.node.endpoints("refuses", "web") == [], "refuses", 60)
    assert answers()
    here.node.execute("refuses", pod, ["touch", "/opt/go"])
    here.node.kill("refuses", pod)  # the server has no handler for SIGTERM
    here.node.eventually(lambda: not answers(), "refuses", 60)


_LATE = """
import contextlib, socket, time
listener = socket.create_server(("", 8000))
while True:
    connection, _ = listener.accept()
    with connection, contextlib.suppress(OSError):
        while connection.recv(1024):
            pass
        time.sleep(1)
        connection.sendall(b"late")
"""


def test_a_connection_that_is_half_closed_gets_its_answer(running):
    """A client that sends no more still receives, through a cluster IP, also when this process collects garbage meanwhile."""
    here = pods.here(running, "half-closed")
    here.apply(
        pods.deployment(
            "late", pods.server(command=[sys.executable, "-c", _LATE], readinessProbe={"tcpSocket": {"port": 8000}, "periodSeconds": 1})
        ),
        pods.service("late", 80, "http"),
    )
    here.node.eventually(lambda: len(here.node.endpoints("half-closed", "late")) == 1, "half-closed")
    address = running.plane.client.get("/api/v1/namespaces/half-closed/services/late")["spec"]["clusterIP"]
    here.node.eventually(lambda: here.node.accepts(address, 80), "half-closed", 60)
    assert _said(here.node.connect(address, 80)) == b"late"


def _said(connection):
    """What a server says after the end of all that it gets."""
    with connection:
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.2)
        gc.collect()
        return connection.recv(1024)
