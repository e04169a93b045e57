"""The page "From the operator to Git", command by command, on a real API server with Kubernetes' own controllers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.platform import admission, installation, journey, pages, reference
from tests.testbed import api, programs, server

pytestmark = pytest.mark.xdist_group("platform")

MAP = (pages.DOCS / "operator-map.md").read_text()
BEFORE, TOLD, COMPARE, OFF, LET_GO, TAKE, LOOK, AFTERWARDS, BACK = journey.STEPS
DEPLOYMENT, WEBHOOKS = yaml.safe_load_all((programs.ROOT / "tests" / "platform" / "operator.yaml").read_text())
PASSWORD = "c2VjcmV0"  # noqa: S105 - nobody's
PULL_SECRET = f"""
apiVersion: v1
kind: Secret
metadata: {{name: ngc, namespace: inference}}
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{{"auths": {{"nvcr.io": {{"auth": "{PASSWORD}"}}}}}}'
"""
NAMES = ("frontend", "planner", "worker")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster with Dynamo's kinds, and with those that its graphs may become."""
    with installation.cluster(tmp_path_factory.mktemp("migration")) as plane:
        for kind in ("leaderworkerset", "podgroup", "podcliqueset"):
            installation.apply(plane, (programs.ROOT / "tests" / "crds" / f"{kind}.yaml").read_text())
        for part in ("namespace", "crds", "roles"):
            installation.apply(plane, installation.build(admission.PLATFORM / part))
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
        new_to_it = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "spec": {"minMember": 1}}
        journey.collected(plane, new_to_it, "default")  # or it takes what it was told to let go of, not knowing the kind yet
        yield plane


@pytest.fixture(scope="module")
def operator(cluster):
    """The operator: a Deployment, which only has to be there, and in the end webhooks that nobody answers."""
    admission.keep(cluster.client, DEPLOYMENT)


@pytest.fixture(scope="module")
def reader(cluster, operator, tmp_path_factory):
    """The reader of the page itself, before its first step: an autoscaler has been at work, three workers instead of two."""
    services = {"Frontend": journey.FRONTEND, "Planner": journey.PLANNER, "Worker": journey.WORKER}
    settings, folder = yaml.safe_load(journey.SETTINGS), tmp_path_factory.mktemp("reader")
    reader = journey.depart(cluster, folder, "inference", services, settings, pvcs=[journey.VOLUME])
    (reader.folder / "graph.yaml").write_text(yaml.safe_dump(reader.graph))
    autoscale(reader, "Worker", 3)
    admission.keep(cluster.client, yaml.safe_load(PULL_SECRET))
    admission.keep(cluster.client, WEBHOOKS)
    return reader


def autoscale(reader, service, replicas):
    """What an autoscaler sets in motion: the adapter, by way of the operator the graph, and so the Deployment."""
    reader.plane.kubectl("scale", "-n", reader.namespace, f"dgdsa/chat-{service.lower()}", f"--replicas={replicas}")
    patch = json.dumps({"spec": {"services": {service: {"replicas": replicas}}}})
    reader.plane.kubectl("patch", "dgd/chat", "-n", reader.namespace, "--field-manager=manager", "--type=merge", f"--patch={patch}")
    reader.reconcile()
    reader.wait_for_pods()


def touched(cluster):
    """What the API server says to a change of the graph."""
    graph = "/apis/nvidia.com/v1alpha1/namespaces/inference/dynamographdeployments/chat"
    return cluster.client.request("PATCH", f"{graph}?dryRun=All", {"metadata": {"labels": {"touched": "yes"}}}, api.MERGE)


def test_the_page_from_its_first_command_to_its_last(reader, cluster):
    start = reader.identities()
    assert {name.partition("/")[0] for name in start} >= {"Pod", "ReplicaSet", "Deployment", "Service", "PersistentVolumeClaim"}
    assert len(journey.owned(reader.everything())) > 15

    reader.take(BEFORE)
    told = reader.take(TOLD)
    assert derived(told) == yaml.safe_load(journey.SETTINGS)["spec"]
    assert "chat-worker: ngc" in told
    assert f"\n{reference.MANAGER} Update\n" in told
    assert 'ngc:\n"auths": {\n"nvcr.io": {\n' in told
    assert PASSWORD not in told
    assert reader.take(COMPARE).count("the same pods") == 3
    assert reader.identities() == start

    server.eventually(lambda: "failed calling webhook" in touched(cluster).message)
    reader.take(OFF)
    server.eventually(lambda: touched(cluster).ok)

    reader.take(LET_GO)
    reader.collected()
    assert reader.identities() == start
    assert journey.owned(reader.everything()) == []

    reader.take(TAKE)
    assert reader.take(LOOK).count("the same pods") == 1
    reader.collected()
    assert reader.identities() == start
    assert {*(reader.folder / "leftover.txt").read_text().split()} == {f"Service/chat-{each}-{end}" for each in NAMES for end in "dp"}
    check_taken_over(reader)
    reader.take(AFTERWARDS)
    check_git_decides(reader, start)
    check_the_way_back(reader, start)


def derived(told):
    """The configuration that the flags stand for, by the page about the operator's settings; defaults are left out."""
    rows = re.findall(r"^\| `--([-\w]+)` \|[^|]*\| `([.\w]+)`", MAP, re.MULTILINE)
    spec: dict[str, Any] = {}
    for flag, key in rows:
        value = re.search(rf"^--{flag}=(.+)$", told, re.MULTILINE)
        if value and not key.startswith("rbac."):  # the platform's own roles take their place
            *way, last = key.split(".")
            inner = spec
            for step in way:
                inner = inner.setdefault(step, {})
            inner[last] = value[1]
    defaults = {"discoveryBackend": "kubernetes", "mpiSecretName": "mpi-run-ssh-secret"}
    spec = {key: value for key, value in spec.items() if defaults.get(key) != value}
    return spec | {"imagePullSecrets": [{"registry": "nvcr.io", "name": "ngc"}]}


def check_taken_over(reader):
    """Nothing of the operator is left on anything, and nothing has forgotten what it was told in the cluster."""
    objects = reader.everything()
    assert journey.owned(objects) == []
    assert [name for name, each in objects.items() if reference.FINALIZER in each["metadata"].get("finalizers", ())] == []
    assert [name for name, each in objects.items() if reference.HASH in each["metadata"].get("annotations", ())] == []
    assert [name for name in objects if name.startswith("DynamoComponentDeployment/")] == []
    assert objects["DynamoGraphDeployment/chat"]["metadata"]["annotations"]["dynamo.krm-fn.io/summary"]
    written = {
        name: journey.managers(each)
        for name, each in objects.items()
        if each["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") == "krm-fn"
    }
    assert len(written) > 12
    assert {name: who for name, who in written.items() if reference.MANAGER in who} == {}
    assert all("kustomize-controller" in who for who in written.values())
    assert objects["Deployment/chat-worker"]["spec"]["replicas"] == 3
    assert reader.objects("dgdsa")["DynamoGraphDeploymentScalingAdapter/chat-worker"]["spec"]["replicas"] == 3
    assert objects["RoleBinding/planner-serviceaccount-binding"]["roleRef"]["name"] == "dynamo-planner"


def check_git_decides(reader, start):
    """What Git no longer says goes from the object: nobody else holds on to it."""
    settings = yaml.safe_load(journey.SETTINGS)
    del settings["spec"]["etcdAddress"]
    (reader.folder / "less.yaml").write_text(yaml.safe_dump(settings))
    apply = "kubectl apply --server-side --field-manager=kustomize-controller -f"
    render = "krm-fn render graph.yaml --config less.yaml -o less"
    pages.run(f"{render} && {apply} less/deployment_chat-frontend.yaml --dry-run=server -o yaml > after.yaml", reader.folder, reader.plane)
    (container,) = yaml.safe_load((reader.folder / "after.yaml").read_text())["spec"]["template"]["spec"]["containers"]
    variables = {entry["name"] for entry in container["env"]}
    assert "NATS_SERVER" in variables
    assert "ETCD_ENDPOINTS" not in variables
    assert reader.identities() == start


def check_the_way_back(reader, start):
    """The operator recognizes everything, and pods stay again; then the components own what they owned."""
    on, owners = reader.scripts(BACK)
    pages.run(on, reader.folder, reader.plane)
    reader.reconcile()
    reader.reconcile()
    reader.collected()
    assert reader.identities() == start
    deployment = reader.objects("deployments")["Deployment/chat-worker"]
    assert deployment["metadata"]["annotations"][reference.HASH]
    assert deployment["spec"]["replicas"] == 3
    assert journey.owned(reader.objects("deployments")) == []
    pages.run(owners, reader.folder, reader.plane)
    assert len(journey.owned(reader.objects("deployments"))) == 3
    assert reader.identities() == start
    remove_the_graph(reader)


def remove_the_graph(reader):
    """Owners in their places, a deleted graph takes its Deployments along, once the operator takes its finalizers off."""
    patch = ("--type=merge", '-p={"metadata": {"finalizers": null}}')
    reader.plane.kubectl("patch", "dgd", "chat", "-n", reader.namespace, *patch)
    for name in NAMES:
        reader.plane.kubectl("patch", f"dcd/chat-{name}", "-n", reader.namespace, *patch)
    reader.plane.kubectl("delete", "dgd", "chat", "-n", reader.namespace)
    server.eventually(lambda: reader.objects("deployments", "pods") == {})
    assert "PersistentVolumeClaim/chat-models" in reader.objects("persistentvolumeclaims")


CARRIERS = [
    ("LeaderWorkerSets", {}, {"LeaderWorkerSet/chat-big-0", "LeaderWorkerSet/chat-big-1", "PodGroup/chat-big-0", "PodGroup/chat-big-1"}),
    ("PodCliqueSets", {"orchestrator": "grove"}, {"PodCliqueSet/chat"}),
]


@pytest.mark.parametrize(("reason", "settings", "carriers"), CARRIERS, ids=[row[0] for row in CARRIERS])
def test_other_carriers(reason, settings, carriers, cluster, operator, tmp_path):
    """The same commands, and no copy of the graph but the cluster's."""
    written = yaml.safe_load(journey.SETTINGS)
    written["spec"] |= settings
    reader = journey.depart(cluster, tmp_path, reason.lower(), {"Frontend": journey.FRONTEND, "Big": journey.BIG}, written)
    before = {name: each["metadata"]["uid"] for name, each in reader.everything().items()}
    assert carriers <= before.keys()
    reader.take(BEFORE, COMPARE, OFF, LET_GO, TAKE, LOOK)
    reader.collected()
    objects = reader.everything()
    assert {name: objects[name]["metadata"]["uid"] for name in carriers} == {name: before[name] for name in carriers}
    assert journey.owned(objects) == []
    assert {name: journey.managers(objects[name]) for name in carriers if reference.MANAGER in journey.managers(objects[name])} == {}
    with pytest.raises(reference.RefusedError, match="spec not found"):  # the way back without the marks
        reader.reconcile()


# What the page warns of, each by leaving out what it says.
def test_a_forgotten_setting_is_seen_before_anything_changes(cluster, tmp_path):
    reader = journey.depart(cluster, tmp_path, "forgotten", {"Frontend": journey.FRONTEND}, yaml.safe_load(journey.SETTINGS))
    reader.take(BEFORE)
    settings = yaml.safe_load(journey.SETTINGS)
    del settings["spec"]["natsAddress"]
    (reader.folder / "config.yaml").write_text(yaml.safe_dump(settings))
    with pytest.raises(AssertionError, match="NATS_SERVER"):
        reader.take(COMPARE)


def test_without_the_hand_over_an_autoscaled_service_shrinks(cluster, tmp_path):
    reader = journey.depart(
        cluster, tmp_path, "shrinks", {"Worker": {**journey.WORKER, "volumeMounts": []}}, yaml.safe_load(journey.SETTINGS)
    )
    reader.take(BEFORE, COMPARE, LET_GO)
    _, binding, apply = reader.scripts(TAKE)
    for script in (binding, apply):
        pages.run(script, reader.folder, cluster)
    assert reader.objects("deployments")["Deployment/chat-worker"]["spec"]["replicas"] == 1


def test_a_finalizer_that_nobody_takes_off_keeps_the_owner_for_ever(cluster, tmp_path):
    """Kubernetes has let go of everything below, and waits for the operator."""
    reader = journey.depart(cluster, tmp_path, "stuck", {"Frontend": journey.FRONTEND}, yaml.safe_load(journey.SETTINGS))
    before = reader.objects("deployments")
    for owner in ("dcd/chat-frontend", "dgd/chat"):
        cluster.kubectl("delete", owner, "-n", reader.namespace, "--cascade=orphan", "--wait=false")
    server.eventually(lambda: journey.owned(reader.objects("deployments", "serviceaccounts", "roles")) == [])
    assert reader.objects("deployments").keys() == before.keys()
    for each in reader.objects("dgd", "dcd").values():
        assert each["metadata"]["deletionTimestamp"]
        assert each["metadata"]["finalizers"] == [reference.FINALIZER]


def test_a_graph_deleted_without_orphaning_takes_everything_along(cluster, tmp_path):
    reader = journey.depart(cluster, tmp_path, "careless", {"Frontend": journey.FRONTEND}, yaml.safe_load(journey.SETTINGS))
    first, *_ = reader.scripts(LET_GO)
    careless = first.replace("--cascade=orphan", "--cascade=background")
    assert careless != first
    pages.run(careless, reader.folder, cluster)
    server.eventually(lambda: reader.objects("deployments", "pods") == {})
