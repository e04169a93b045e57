"""The page "From the operator to Git" with an operator of 1.5: its file, definitions with a webhook, and names with a worker hash."""

from __future__ import annotations

import json
import subprocess

import pytest
import yaml

from krm_fn.render import config, function_config, labels
from krm_fn.schemas.generate import crds
from tests.platform import admission, installation, journey, newer, pages, reference
from tests.testbed import conversion_webhook, server

pytestmark = pytest.mark.server

_, ADOPT, RECORD, COMPARE, OFF, NEWER, TAKE, LOOK, _, _, BACK, DEFINITIONS, START = journey.STEPS
SPACE, BETA = "inference", newer.BETA
NATS = "nats://dynamo-platform-nats.dynamo-system.svc.cluster.local:4222"
FILE = f'{newer.FILE}infrastructure: {{natsAddress: "{NATS}"}}\n'
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "ngc", "namespace": SPACE},
    "type": "kubernetes.io/dockerconfigjson",
    "stringData": {".dockerconfigjson": '{"auths": {"nvcr.io": {"auth": "c2VjcmV0"}}}'},
}
OPERATOR = newer.OPERATOR._replace(nats_address=NATS, image_pull_secrets=(config.PullSecret(registry="nvcr.io", name="ngc"),))


WORKER = newer.component("Worker", "worker", "1.5.0", command=["python3", "-m", "dynamo.vllm"]) | {"scalingAdapter": {}}
GRAPH = newer.graph(SPACE, newer.component("Frontend", "frontend", "1.5.0"), WORKER)


@pytest.fixture
def webhook(tmp_path):
    with conversion_webhook.running(tmp_path) as started:
        yield started


@pytest.fixture
def reader(webhook, tmp_path_factory):
    """A reader of the page, in a cluster with the operator."""
    with installation.cluster(tmp_path_factory.mktemp("newer")) as plane:
        newer.install(plane, webhook.conversion, FILE)
        admission.namespace(plane, SPACE, {})
        admission.keep(plane.client, SECRET)
        folder = pages.clone(tmp_path_factory.mktemp("page"), journey.PAGE)
        yield journey.Journey(plane, folder, SPACE, GRAPH, OPERATOR)


def test_a_graph_of_the_operator_keeps_its_pods_and_names(reader, webhook, tmp_path_factory):
    digest = newer.deploy(reader.plane, GRAPH, reader.operator)
    reader.wait_for_pods()
    check_waiting(reader)
    start = reader.identities()
    assert f"Deployment/chat-worker-{digest}" in start

    assert "2 of 2 pod templates the same, no restart" in reader.take(ADOPT)
    reader.take(RECORD)
    written = yaml.safe_load((reader.folder / "adopted" / "dynamographdeployment_chat.yaml").read_text())
    assert written["apiVersion"] == BETA
    assert written["metadata"]["annotations"] == {**newer.MARKS, labels.WORKER_HASH_V2: digest}
    read, found = function_config.read(yaml.safe_load((reader.folder / "adopted" / "render.yaml").read_text()))
    assert [result for result in found if result.severity != "info"] == []
    assert (read.nats_address, read.image_pull_secrets, read.rbac) == (NATS, OPERATOR.image_pull_secrets, config.RbacSettings())
    assert "2 workloads keep their pods" in reader.take(COMPARE)

    reader.take(OFF)
    webhook.stop()
    reader.take(NEWER)
    for each in crds.definitions("v1beta1"):
        live = reader.plane.client.get(reader.plane.client.path(each))["spec"]
        assert live["conversion"] == {"strategy": "None"}
    server.eventually(lambda: reader.plane.client.request("GET", "/apis/nvidia.com/v1alpha1/dynamographdeployments").status == 404)
    reader.take(TAKE)
    assert "the same pods" in reader.take(LOOK)
    reader.collected()
    assert reader.identities() == start
    check_taken_over(reader.objects("deployments", "services", "serviceaccounts", "roles", "rolebindings", "dgd", "dgdsa"))
    check_the_way_back(reader, digest, tmp_path_factory.mktemp("again"))


def check_waiting(reader):
    """`adopt --all-namespaces --wait` waits until the operator has given its pull secret to all pods of the graph."""
    secrets, paused = "/spec/template/spec/imagePullSecrets", "/spec/paused"  # a paused Deployment keeps its pods
    patched(reader, {"op": "add", "path": paused, "value": True}, {"op": "remove", "path": secrets})
    command = ["krm-fn", "adopt", "--all-namespaces", "--wait", "3m", "--output-dir", "cluster"]
    environment = pages.environment(reader.plane)
    with subprocess.Popen(
        command, cwd=reader.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as adopting:
        assert adopting.stdout
        assert adopting.stderr
        assert "an update is in progress" in adopting.stderr.readline()
        patched(reader, {"op": "add", "path": secrets, "value": [{"name": "ngc"}]}, {"op": "remove", "path": paused})
        output, messages = adopting.communicate(timeout=300)
    assert adopting.returncode == 0, messages
    assert output.splitlines()[-1] == "2 of 2 pod templates of 1 namespaces the same, no restart"
    assert f"| `{SPACE}` | chat | 2 | 2 | no restart |" in (reader.folder / "cluster" / "VERIFICATION.md").read_text()
    reader.wait_for_pods()


def patched(reader, *changes):
    """Change the frontend as the operator does."""
    where = ("deployment/chat-frontend", "-n", SPACE, f"--field-manager={reference.MANAGER}")
    reader.plane.kubectl("patch", *where, "--type=json", f"--patch={json.dumps(changes)}")


def check_taken_over(objects):
    """No object has an owner, a mark or a field of the operator, also the adapter, which the operator has written in v1alpha1."""
    assert journey.owned(objects) == []
    ours = {name: each for name, each in objects.items() if labels.of(each).get(labels.MANAGED_BY) == "krm-fn"}
    assert "DynamoGraphDeploymentScalingAdapter/chat-worker" in ours
    assert [name for name, each in ours.items() if reference.HASH in labels.annotations(each)] == []
    assert [name for name, each in ours.items() if reference.MANAGER in journey.managers(each)] == []


def check_the_way_back(reader, digest, folder):
    """The graph says what runs, in the version that is stored; the operator starts, and keeps pods and names also without pull secrets."""
    where = ("-n", SPACE, "--replicas=3")
    reader.plane.kubectl("scale", "dgdsa/chat-worker", *where)
    reader.plane.kubectl("scale", f"deployment/chat-worker-{digest}", *where)
    reader.wait_for_pods()
    start, (start_it, owners) = reader.identities(), reader.scripts(START)

    reader.take(BACK)
    graph = reader.objects("dgd")["DynamoGraphDeployment/chat"]
    components = {component["name"]: component for component in graph["spec"]["components"]}
    assert components["Worker"]["replicas"] == 3
    assert [component["podTemplate"]["spec"]["imagePullSecrets"] for component in components.values()] == [[{"name": "ngc"}]] * 2
    hashes = {key: value for key, value in labels.annotations(graph).items() if key in {labels.WORKER_HASH_V1, labels.WORKER_HASH_V2}}
    assert hashes == {labels.WORKER_HASH_V1: digest}

    with pytest.raises(AssertionError) as unconverted:
        reader.run(start_it)
    assert "DYN812 the definition names no conversion webhook of the operator" in str(unconverted.value)
    with conversion_webhook.running(folder) as again:
        service = {"name": "dynamo-platform-dynamo-operator-webhook-service", "namespace": "dynamo-system", "path": "/convert"}
        put_back(reader, {"service": service})  # no server answers at this address
        assert "the operator can start" in reader.run(start_it)
        put_back(reader, again.conversion["webhook"]["clientConfig"])
        server.eventually(lambda: reader.plane.client.request("GET", "/apis/nvidia.com/v1alpha1/dynamographdeployments").ok)
        for operator in (reader.operator._replace(image_pull_secrets=()), reader.operator, reader.operator):
            reader._replace(operator=operator).reconcile()
        reader.run(owners)
        reader.collected()
    assert reader.identities() == start
    deployment = reader.objects("deployments")[f"Deployment/chat-worker-{digest}"]
    assert deployment["spec"]["replicas"] == 3
    assert [owner["name"] for owner in deployment["metadata"]["ownerReferences"]] == [f"chat-worker-{digest}"]


def put_back(reader, client):
    """Put back the saved definitions of the operator, with another address of its webhook."""
    file = reader.folder / "definitions.json"
    saved = json.loads(file.read_text())
    for definition in saved["items"]:
        definition["spec"]["conversion"]["webhook"]["clientConfig"] = client
    file.write_text(json.dumps(saved))
    reader.take(DEFINITIONS)
