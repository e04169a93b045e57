"""The script by which a follower waits for the leader of its group, and the ConfigMap that holds it.

The operator has a ConfigMap of the same name and key (`internal/dynamo/backend_vllm.go` GenerateWaitLeaderConfigMap). The script is our
own. It gets the leader's address from the same variables, and needs the right to list pods, which the account for discovery has.
"""

from __future__ import annotations

from krm_fn.render import labels, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource
    from krm_fn.render.plan import ComponentPlan

SCRIPT = '''\
"""Waits until the pod at LEADER_HOST runs, is not being deleted, and accepts connections on LEADER_PORT.

If the API server does not tell about pods, only the port counts. Needs nothing but the standard library of Python 3.8 or later.
"""

import http.client
import json
import os
import signal
import socket
import ssl
import sys
import time
import urllib.parse

UNSUBSTITUTED = "kustomize.toolkit.fluxcd.io/substitute: disabled"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PAUSE = 5  # seconds between two attempts
REPORT = 30  # seconds between two lines of the log
TIMEOUT = 5  # seconds for one request or connection


def read(name):
    """The text of a file of the service account."""
    with open(os.path.join(ACCOUNT, name)) as file:
        return file.read().strip()


def pods(address):
    """The pods with an IP address in the namespace of this pod. Raises OSError if the API server refuses to tell."""
    host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
    port = int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
    context = ssl.create_default_context(cafile=os.path.join(ACCOUNT, "ca.crt"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # authorities of many clusters lack a field that Python 3.13 asks for
    connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=context)
    try:
        selector = urllib.parse.urlencode({"fieldSelector": "status.podIP=" + address})
        headers = {"Authorization": "Bearer " + read("token"), "Accept": "application/json"}
        connection.request("GET", "/api/v1/namespaces/" + read("namespace") + "/pods?" + selector, headers=headers)
        response = connection.getresponse()
        text = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise OSError("the API server answers " + str(response.status) + " " + response.reason)
    return json.loads(text)["items"]


def pod_problem(address, told):
    """Why no pod with this address can be the leader; empty if one can, or if the API server does not tell.

    Several pods can have the address: an ended pod keeps it in its status, and pods in the network of their node share it.
    """
    try:
        found = pods(address)
    except (OSError, ValueError, LookupError, TypeError, http.client.HTTPException) as problem:
        if not told:
            told.append(problem)
            print("Pods cannot be listed (" + str(problem) + "), so only the port of the leader counts.", flush=True)
        return ""
    states = []
    for pod in found:
        deleted = bool(pod["metadata"].get("deletionTimestamp"))
        phase = (pod.get("status") or {}).get("phase")
        if phase == "Running" and not deleted:
            return ""
        states.append("pod " + pod["metadata"]["name"] + " is " + ("being deleted" if deleted else str(phase)))
    return ", ".join(states) or "no pod has this address"


def port_problem(address, port):
    """Why the port accepts no connection; empty if it does."""
    try:
        socket.create_connection((address, port), timeout=TIMEOUT).close()
    except OSError as problem:
        return "port " + str(port) + " does not accept connections: " + str(problem)
    return ""


def leader_problem(host, port, told):
    """Why the leader is not ready; empty if it is."""
    try:
        addresses = sorted({found[4][0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})
    except OSError as problem:
        return host + " has no address: " + str(problem)
    problems = []
    for address in addresses:
        problem = pod_problem(address, told) or port_problem(address, port)
        if not problem:
            return ""
        problems.append(address + ": " + problem)
    return "; ".join(problems)


def main():
    """Waits. Ends at once when the pod is deleted: without a handler, the first process of a container ignores SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    host, port = os.environ["LEADER_HOST"], int(os.environ["LEADER_PORT"])
    if not host:
        sys.exit("LEADER_HOST is empty. If Flux substitutes variables, annotate the workload: " + UNSUBSTITUTED)
    print("Waiting for the leader at " + host + ":" + str(port) + ".", flush=True)
    start = reported = time.monotonic()
    told = []
    while True:
        problem = leader_problem(host, port, told)
        now = time.monotonic()
        if not problem:
            print("The leader is ready after " + str(round(now - start)) + " seconds.", flush=True)
            return
        if now - reported >= REPORT:
            print("Still waiting after " + str(round(now - start)) + " seconds. " + problem, flush=True)
            reported = now
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
'''
"""The script, a program in Python.

Rule wait-for-leader.script: The script waits until the pod of the leader runs and accepts connections; it is krm-fn's own. (krm-fn)
"""


def config_map(plan: ComponentPlan) -> Resource:
    """Makes the ConfigMap with the script.

    Pods refer to it by its name only, so a changed script restarts none.

    Rule wait-for-leader.config-map: A graph with a component on several nodes has a ConfigMap with a script that waits for a leader.
    (operator: internal/dynamo/backend_vllm.go GenerateWaitLeaderConfigMap)
    """
    graph = plan.identity.graph
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": names.wait_for_leader(graph), "namespace": plan.identity.namespace, "labels": {labels.GRAPH: graph}},
        "data": {names.WAIT_FOR_LEADER: SCRIPT},
    }
