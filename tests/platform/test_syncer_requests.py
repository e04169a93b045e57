"""Requests with the rights of platform/syncer, and with the policies of platform/admission: every right is needed, and none is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from krm_fn.render import labels, names
from tests.platform import runs
from tests.support import given
from tests.support.cases import cases
from tests.testbed import server
from tests.testbed.place import Place, conditions
from tests.testbed.profiling_requests import ask, generated, request

pytestmark = pytest.mark.xdist_group("syncer")

HOME = "runs-requests"
ROLES = ("krm-fn-sync-requests", "krm-fn-sync-auto-apply")
AUTO = "krm-fn-sync-auto-apply"
SETTINGS = {"orchestrator": "grove", "components": True, "ingress": {"istioGateway": "istio/apps"}, "serviceMesh": {"enabled": True}}
MULTINODE = given.service(
    "worker", main={"args": ["python3 -m dynamo.vllm"]}, multinode={"nodeCount": 2}, resources={"limits": {"gpu": "1"}}
)
HELD = {
    ("bind", "rbac.authorization.k8s.io", "clusterroles"),
    ("get", "", "pods"),
    *((verb, "", "endpoints") for verb in ("get", "list", "watch")),
    *((verb, "discovery.k8s.io", "endpointslices") for verb in ("get", "list", "watch")),
    *((verb, "nvidia.com", "dynamoworkermetadatas") for verb in ("get", "list", "watch", "create", "update", "patch", "delete")),
}
"""The rights that the syncer only gives away. RBAC refuses to give away others."""

OTHERS = {(verb, "disaggregatedset.x-k8s.io", "disaggregatedsets") for verb in ("get", "create", "patch")}
"""The rights for the objects of an orchestrator that the settings of this syncer do not name."""


def everything():
    """A graph that expands to objects of all kinds, except the one of Grove and the one of Istio."""
    claim = {"name": "cache", "create": True, "storageClass": "x", "size": "1Gi", "volumeAccessMode": "ReadWriteMany"}
    services = {
        "Frontend": given.service("frontend", ingress={"enabled": True, "host": "a.example.org", "ingressControllerClassName": "nginx"}),
        "Worker": given.service("worker", scalingAdapter={"enabled": True}, replicas=1, modelRef={"name": "Qwen/Qwen3-0.6B"}),
        "Group": MULTINODE,
        "Planner": given.service("planner"),
        "Picker": given.picker(),
    }
    graph = given.graph(services, name="all", namespace="", annotations={"nvidia.com/enable-grove": "false"}, pvcs=[claim])
    return yaml.safe_dump(given.before_1_0(graph))


def newer():
    """A graph of release 1.5 with objects that only this release makes: connections of a mesh, and claims of shared GPUs."""
    services = {
        "Picker": given.picker(),
        "Worker": given.service(
            "worker", main={"args": ["python3 -m dynamo.vllm"]}, resources={"limits": {"gpu": "1"}}, gpuMemoryService={"enabled": True}
        ),
    }
    return yaml.safe_dump(given.graph(services, name="newer", namespace="", annotations={labels.ORIGIN_VERSION: "1.5.0"}))


@pytest.fixture(scope="module")
def run(audited, tmp_path_factory):
    """A syncer for one namespace, with a configuration of its own."""
    config = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}, "spec": SETTINGS}
    patch = [{"op": "replace", "path": "/data/render.yaml", "value": json.dumps(config)}]
    settings = {"target": {"kind": "ConfigMap", "name": "krm-fn-sync-settings"}, "patch": json.dumps(patch)}
    place = runs.guarded(audited, HOME)
    components = ("requests", "auto-apply", "pods", "namespaced", "hold-namespaces")
    folder = tmp_path_factory.mktemp("requests")
    with runs.running(audited, folder, *components, home=place.namespace, patches=[settings]) as found:
        yield found


@pytest.fixture(scope="module")
def deployed(run):
    """Requests whose graphs have objects of all kinds."""
    place = Place(run.plane, HOME)
    ask(place, request("all", autoApply=True), job=False).state("Pending")
    ask(place, request("all", autoApply=True)).profiled(everything())
    services: dict[str, Any] = {"Frontend": given.service("frontend"), "Worker": MULTINODE}
    ask(place, request("swarm", autoApply=True, deploymentOverrides={"name": "swarm"})).profiled(generated(**services))
    ask(place, request("newer", autoApply=True, deploymentOverrides={"name": "newer"})).profiled(newer())
    for name in ("all", "swarm", "newer"):
        created(place, name)
    return place


def created(place, name):
    """Wait until the graph of a request is complete."""
    place.wait(name, lambda status: status.get("deployment", {}).get("created") is True, "DynamoGraphDeploymentRequest")


def test_the_rights_are_exactly_enough(run, deployed):
    """The server refused no request of the syncer. Every right was used, is given to the pods of a graph, or is of another orchestrator."""
    assert run.refused() == []
    granted = run.granted(*ROLES)
    assert granted - run.used() == HELD | OTHERS
    assert run.used() <= run.granted()


RULES = [
    # the resource whose rule is missing, the object that needs it, and what the server says
    ("endpoints", "Role", "attempting to grant RBAC permissions not currently held"),
    ("clusterroles", "RoleBinding", "attempting to grant RBAC permissions not currently held"),
]


@cases(("resource", "kind", "said"), RULES)
def test_the_rights_that_are_only_given_away_are_needed(resource, kind, said, run, deployed):
    """Without one, the request says which object cannot be created. With it again, the graph is completed."""
    (role,) = [each for each in run.objects if (each["kind"], each["metadata"]["name"]) == ("Role", AUTO)]
    rules = [each for each in role["rules"] if resource not in each["resources"]]
    assert len(rules) == len(role["rules"]) - 1
    assert run.plane.apply({**role, "rules": rules}, dry_run=False).ok
    name = f"without-{resource}"
    deployed.kubectl("delete", "rolebinding", names.binding(names.PLANNER_ACCOUNT))  # the graphs of the namespace share it
    asked = ask(deployed, request(name, autoApply=True, deploymentOverrides={"name": name}))
    asked.profiled(yaml.safe_dump(given.graph({"Planner": given.service("planner")}, namespace="")))
    asked.told("DeploymentReady", f"{kind} ", "cannot be created: ", said, reason="DeploymentCreationFailed")
    assert run.plane.apply(role, dry_run=False).ok
    created(deployed, name)


def test_policies_let_the_status_be_written(deployed):
    """The syncer is the principal that writes statuses, in its own namespace too."""
    for name in ("all", "swarm"):
        assert conditions(deployed.status(name, "DynamoGraphDeploymentRequest"))["SpecGenerated"]["status"] == "True"


def test_a_request_is_reported_by_the_metrics(run, deployed):
    server.eventually(lambda: run.syncer.metric("resources", kind="DynamoGraphDeploymentRequest", namespace=HOME) >= 2)
