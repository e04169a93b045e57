"""The page "From the operator to Git" with the operators of 1.2 and 1.4, which store v1alpha1 and serve both versions: there and back."""

from __future__ import annotations

import pytest
import yaml

from krm_fn.render import labels
from tests.platform import admission, installation, journey, newer, pages
from tests.testbed import conversion_webhook, server

pytestmark = pytest.mark.server

_, ADOPT, RECORD, COMPARE, OFF, NEWER, TAKE, LOOK, _, _, BACK, _, START = journey.STEPS
# the version of the operator, its settings, and the annotation into which it writes the worker hash
OPERATORS = [
    ("1.2.1", newer.OPERATOR._replace(behaviour="v1.2"), labels.WORKER_HASH_V1),
    ("1.4.2", newer.OPERATOR._replace(behaviour="v1.4"), labels.WORKER_HASH_V2),
]


def graph(namespace, version):
    """A graph of v1beta1 with two components, images of the release, and two replicas of each."""
    vllm = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "Qwen/Qwen3-0.6B"]}
    components = newer.component("Frontend", "frontend", version), newer.component("Worker", "worker", version, **vllm)
    return newer.graph(namespace, *components)


@pytest.fixture
def webhook(tmp_path):
    with conversion_webhook.running(tmp_path) as started:
        yield started


@pytest.fixture
def readers(webhook, tmp_path_factory):
    """A reader of the page for each operator, in one cluster; the graphs are in namespaces of their own."""
    with installation.cluster(tmp_path_factory.mktemp("older")) as plane:
        newer.install(plane, webhook.conversion, newer.FILE, stored="v1alpha1", version=OPERATORS[-1][0])
        found = []
        for version, operator, _ in OPERATORS:
            namespace = f"older-{version.replace('.', '-')}"
            admission.namespace(plane, namespace, {})
            folder = pages.clone(tmp_path_factory.mktemp("page"), journey.PAGE)
            found.append(journey.Journey(plane, folder, namespace, graph(namespace, version), operator))
        yield found


def test_graphs_of_older_operators_keep_pods_and_names_there_and_back(readers, webhook, tmp_path_factory):
    """The worker hash of 1.2 has version 1. No step creates a pod, a ReplicaSet or another object again.

    The garbage collector knows the graphs in v1beta1, which the cluster does not serve when they are taken over. Without `let-go`, it
    takes the owners for deleted, and deletes all Deployments.
    """
    plane, starts, digests = readers[0].plane, [], []
    for reader, (version, _, noted) in zip(readers, OPERATORS, strict=True):
        digest = newer.deploy(plane, reader.graph, reader.operator, {labels.ORIGIN_VERSION: version}, noted)
        reader.wait_for_pods()
        starts.append(reader.identities())
        digests.append(digest)
        assert f"Deployment/chat-worker-{digest}" in starts[-1]

    for reader, (_, _, noted), digest in zip(readers, OPERATORS, digests, strict=True):
        assert "2 of 2 pod templates the same, no restart" in reader.take(ADOPT)
        verified = reader.run(f"krm-fn verify --live -n {reader.namespace}")
        assert "0 of unknown cause" in verified
        reader.take(RECORD)
        written = yaml.safe_load((reader.folder / "adopted" / "dynamographdeployment_chat.yaml").read_text())
        assert written["metadata"]["annotations"][noted] == digest
        reader.run("krm-fn convert --to v1alpha1 --write adopted")
        assert "2 workloads keep their pods" in reader.take(COMPARE)

    observe(readers[0], newer.BETA)
    readers[0].take(OFF)
    webhook.stop()
    for reader in readers:
        reader.take(NEWER)
    server.eventually(lambda: plane.client.request("GET", "/apis/nvidia.com/v1beta1/dynamographdeployments").status == 404)
    observe(readers[0], "nvidia.com/v1alpha1")
    for reader, start in zip(readers, starts, strict=True):
        reader.take(COMPARE, TAKE)
        assert "the same pods" in reader.take(LOOK)
        collected(reader)
        assert reader.identities() == start
        assert journey.owned(reader.objects("deployments", "services", "serviceaccounts", "roles", "rolebindings", "dgd")) == []
    check_the_way_back(readers, starts, tmp_path_factory.mktemp("again"))


def observe(reader, api_version):
    """Return as soon as the garbage collector observes components, which it does in the newest version that the cluster serves."""
    main = {"name": "main", "image": "probe:1"}
    beta = {"type": "worker", "podTemplate": {"spec": {"containers": [main]}}}
    spec = beta if api_version == newer.BETA else {"componentType": "worker"}
    metadata = {"name": "probe", "namespace": reader.namespace}
    admission.keep(
        reader.plane.client, {"apiVersion": api_version, "kind": "DynamoComponentDeployment", "metadata": metadata, "spec": spec}
    )
    reader.plane.kubectl("delete", "dcd/probe", "-n", reader.namespace, "--cascade=orphan")


def collected(reader):
    """Return as soon as the garbage collector has done its work: in the version that the cluster stores."""
    journey.collected(reader.plane, {"apiVersion": "v1", "kind": "ConfigMap"}, reader.namespace)


def check_the_way_back(readers, starts, folder):
    """The operators start again, and keep all that runs, with its names."""
    plane = readers[0].plane
    for reader in readers:
        reader.take(BACK)
    service = {"name": "dynamo-platform-dynamo-operator-webhook-service", "namespace": "dynamo-system", "path": "/convert"}
    put_back(plane, {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}}})
    for reader in readers:
        assert "the operator can start" in reader.run(reader.scripts(START)[0].splitlines()[0])
    with conversion_webhook.running(folder) as again:
        put_back(plane, again.conversion)
        server.eventually(lambda: plane.client.request("GET", "/apis/nvidia.com/v1beta1/dynamographdeployments").ok)
        for reader, start in zip(readers, starts, strict=True):
            for _ in range(2):
                reader.reconcile()
            reader.run(reader.scripts(START)[1])
            collected(reader)
            assert reader.identities() == start


def put_back(plane, conversion):
    """Put back the definitions of the operator, with this conversion."""
    for each in newer.definitions(conversion, "v1alpha1"):
        plane.kubectl("replace", "-f", "-", input=yaml.safe_dump(each))
