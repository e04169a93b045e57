"""The page "From the operator to Git" with an operator of 1.5: its file, definitions with a webhook, and names with a worker hash."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml

from krm_fn import config, expand
from krm_fn.generate import crds
from krm_fn.kube import labels
from tests.platform import admission, installation, journey, pages, reference
from tests.testbed import server

ADOPT, READ, COMPARE, OFF, NEWER, TAKE, LOOK, *_ = journey.STEPS
SPACE, BETA = "inference", "nvidia.com/v1beta1"
NATS = "nats://dynamo-platform-nats.dynamo-system.svc.cluster.local:4222"
FILE = f"""
apiVersion: operator.config.dynamo.nvidia.com/v1alpha1
kind: OperatorConfiguration
infrastructure: {{natsAddress: "{NATS}"}}
orchestrators: {{grove: {{enabled: false}}, lws: {{enabled: true}}, kaiScheduler: {{enabled: false}}}}
dra: {{enabled: false}}
rbac: {{plannerClusterRoleName: dynamo-platform-dynamo-operator-planner}}
"""
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "ngc", "namespace": SPACE},
    "type": "kubernetes.io/dockerconfigjson",
    "stringData": {".dockerconfigjson": '{"auths": {"nvcr.io": {"auth": "c2VjcmV0"}}}'},
}
RENDERED = config.Config(
    behaviour="v1.5", worker_hash="names", nats_address=NATS, image_pull_secrets=(config.PullSecret(registry="nvcr.io", name="ngc"),)
)


def component(name, kind, **fields):
    main = {"name": "main", "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.0", **fields}
    return {"name": name, "type": kind, "replicas": 2, "podTemplate": {"spec": {"containers": [main]}}}


SPEC = {"components": [component("Frontend", "frontend"), component("Worker", "worker", command=["python3", "-m", "dynamo.vllm"])]}
GRAPH: dict[str, Any] = {
    "apiVersion": BETA,
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "chat", "namespace": SPACE},
    "spec": SPEC,
}


def definitions():
    """The definitions of the operator: both versions are served, and a webhook converts, which here never answers."""
    for each in crds.definitions("v1beta1"):
        if len(each["spec"]["versions"]) > 1:
            service = {"name": "dynamo-platform-webhook", "namespace": "dynamo-system", "path": "/convert"}
            webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}
            each["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            for version in each["spec"]["versions"]:
                version["served"] = True
        yield each


def operator():
    """The Deployment of the operator with its configuration file."""
    found = copy.deepcopy(journey.DEPLOYMENT)
    pod = found["spec"]["template"]["spec"]
    (manager,) = [each for each in pod["containers"] if each["name"] == "manager"]
    manager["args"] = ["--config=/etc/dynamo/config.yaml", "--operator-version=1.5.0"]
    manager["volumeMounts"] = [{"name": "config", "mountPath": "/etc/dynamo"}]
    pod["volumes"] = [{"name": "config", "configMap": {"name": "dynamo-platform-dynamo-operator-config"}}]
    metadata = {"name": "dynamo-platform-dynamo-operator-config", "namespace": "dynamo-system"}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config.yaml": FILE}}
    yield found


def as_the_operator(plane):
    """Create the graph and its objects as the operator leaves them; returns the worker hash."""
    first = expand.expand([GRAPH], RENDERED)
    digits = {each["metadata"]["labels"].get(labels.WORKER_HASH) for each in first.resources if each["kind"] == "Deployment"} - {None}
    (digest,) = digits
    metadata = {**GRAPH["metadata"], "annotations": {labels.ORIGIN_VERSION: "1.5.0", labels.WORKER_HASH_V2: digest}}
    applied(plane, {**GRAPH, "metadata": {**metadata, "finalizers": [reference.FINALIZER]}})
    owner = plane.client.get(plane.client.path(GRAPH))["metadata"]["uid"]
    for each in first.resources:
        if each["kind"] != GRAPH["kind"]:
            applied(plane, owned(each, owner))
    return digest


def owned(made, uid):
    found = copy.deepcopy(made)
    found["metadata"]["labels"].pop(labels.MANAGED_BY)
    found["metadata"]["annotations"] = {reference.HASH: reference.digest(made), reference.GENERATION: "1"}
    found["metadata"]["ownerReferences"] = [{"apiVersion": BETA, "kind": GRAPH["kind"], "name": "chat", "uid": uid, "controller": True}]
    return found


def applied(plane, resource):
    path = f"{plane.client.path(resource)}?fieldManager={reference.MANAGER}&force=true"
    answer = plane.client.request("PATCH", path, resource, "application/apply-patch+yaml")
    assert answer.ok, answer.message


@pytest.fixture
def reader(tmp_path_factory):
    """A reader of the page, in a cluster with the operator and a graph."""
    with installation.cluster(tmp_path_factory.mktemp("newer")) as plane:
        for each in definitions():
            installation.apply(plane, json.dumps(each))
        for part in ("namespace", "roles"):
            installation.apply(plane, installation.build(admission.PLATFORM / part))
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
        admission.namespace(plane, SPACE, {})
        for each in (*operator(), SECRET):
            admission.keep(plane.client, each)
        folder = pages.clone(tmp_path_factory.mktemp("page"), journey.PAGE)
        yield journey.Journey(plane, folder, SPACE, GRAPH, RENDERED)


def test_a_graph_of_the_operator_keeps_its_pods_and_names(reader):
    digest = as_the_operator(reader.plane)
    reader.wait_for_pods()
    start = reader.identities()
    assert f"Deployment/chat-worker-{digest}" in start

    assert "2 of 2 pod templates the same, no restart" in reader.take(ADOPT)
    adopted = yaml.safe_load((reader.folder / "adopted" / "dynamographdeployment_chat.yaml").read_text())
    reader.take(READ)
    written = yaml.safe_load((reader.folder / "graph.yaml").read_text())
    assert written["apiVersion"] == BETA
    assert adopted == written
    assert written["metadata"]["annotations"] == {labels.ORIGIN_VERSION: "1.5.0", labels.WORKER_HASH_V2: digest}
    read, found = config.read(yaml.safe_load((reader.folder / "config.yaml").read_text()))
    assert [result for result in found if result.severity != "info"] == []
    assert (read.nats_address, read.image_pull_secrets, read.rbac) == (NATS, RENDERED.image_pull_secrets, config.Rbac())
    assert "2 workloads keep their pods" in reader.take(COMPARE)

    reader.take(OFF, NEWER)
    for each in crds.definitions("v1beta1"):
        live = reader.plane.client.get(reader.plane.client.path(each))["spec"]
        assert live["conversion"] == {"strategy": "None"}
    server.eventually(lambda: not reader.plane.client.knows("nvidia.com/v1alpha1", "DynamoGraphDeployment"))
    reader.take(TAKE)
    assert "the same pods" in reader.take(LOOK)
    reader.collected()
    assert reader.identities() == start
    assert journey.owned(reader.objects("deployments", "services", "serviceaccounts", "roles", "rolebindings", "dgd")) == []
