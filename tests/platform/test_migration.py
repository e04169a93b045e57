"""The page "From the operator to Git", command by command, on a real API server with Kubernetes' own controllers."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from krm_fn.migration.adopt import declared_settings
from tests.platform import admission, journey, pages, reference
from tests.support import markdown
from tests.testbed import api, server

pytestmark = pytest.mark.xdist_group("platform")

MAP = (pages.DOCS / "operator-map.md").read_text()
VERIFY, ADOPT, RECORD, COMPARE, OFF, NEWER, TAKE, LOOK, AFTERWARDS, PILOT, BACK, DEFINITIONS, START = journey.STEPS
_, SHOWN = (text for _, text in markdown.fenced(journey.PAGE, "text"))
PASSWORD = "c2VjcmV0"  # noqa: S105 - not a real password
PULL_SECRET = f"""
apiVersion: v1
kind: Secret
metadata: {{name: ngc, namespace: inference}}
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{{"auths": {{"https://user@nvcr.io/v2/": {{"auth": "{PASSWORD}"}}}}}}'
"""
NAMES = ("frontend", "planner", "worker")
SERVICES = {"Frontend": journey.FRONTEND, "Planner": journey.PLANNER, "Worker": journey.WORKER}
INFERRED = {"discoveryBackend": "kubernetes", "orchestrator": "deployment"}
FLUX = {"kustomize.toolkit.fluxcd.io/name": "chat", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}


@pytest.fixture(scope="module")
def reader(migration, tmp_path_factory):
    """The reader of the page before its first step: an autoscaler has scaled the workers from two to three."""
    settings, folder = yaml.safe_load(journey.SETTINGS), tmp_path_factory.mktemp("reader")
    reader = journey.depart(migration, folder, "inference", SERVICES, settings, pvcs=[journey.VOLUME])
    journey.autoscale(reader, "Worker", 3)
    admission.keep(migration.client, yaml.safe_load(PULL_SECRET))
    admission.keep(migration.client, journey.DEPLOYMENT)
    server.eventually(lambda: reader.plane.client.get(reader.plane.client.path(journey.DEPLOYMENT)).get("status", {}).get("replicas") == 1)
    return reader


def touched(plane):
    """The API server's answer to a change of the graph."""
    graph = "/apis/nvidia.com/v1alpha1/namespaces/inference/dynamographdeployments/chat"
    return plane.client.request("PATCH", f"{graph}?dryRun=All", {"metadata": {"labels": {"touched": "yes"}}}, api.MERGE)


def test_the_page_from_its_first_command_to_its_last(reader, migration):
    start = reader.identities()
    assert {name.partition("/")[0] for name in start} >= {"Pod", "ReplicaSet", "Deployment", "Service", "PersistentVolumeClaim"}
    assert len(journey.owned(reader.everything())) > 15

    assert "0 of unknown cause" in reader.take(VERIFY)
    assert reader.take(ADOPT) == SHOWN
    reader.take(RECORD)
    journey.without_roles_of_the_release(reader)
    settings = yaml.safe_load((reader.folder / "adopted" / "render.yaml").read_text())["spec"]
    assert settings == INFERRED | yaml.safe_load(journey.SETTINGS)["spec"]
    assert "3 workloads keep their pods" in reader.take(COMPARE)
    with pytest.raises(AssertionError) as acting:
        reader.take(TAKE)
    assert "DYN801 the operator runs, and acts on the namespace inference" in str(acting.value)
    assert reader.identities() == start

    admission.keep(migration.client, journey.WEBHOOKS)
    server.eventually(lambda: "failed calling webhook" in touched(migration).message)
    stop = reader.scripts(OFF)[0].split("\n", 1)
    reader.run(stop[1])
    with pytest.raises(AssertionError) as left:
        reader.take(TAKE)
    assert "DYN802 this webhook of the operator is still there" in str(left.value)
    reader.take(OFF)
    server.eventually(lambda: touched(migration).ok)
    assert len(journey.owned(reader.everything())) > 15
    check_the_way_back_from_the_stop(reader, start)

    delete = re.search(r"^kubectl --namespace inference delete (.*)$", reader.take(TAKE), re.MULTILINE)
    assert delete
    assert {*delete[1].split()} == {f"service/chat-{each}-{end}" for each in NAMES for end in "dp"}
    reader.run(delete[0])
    assert reader.take(LOOK).count("the same pods") == 1
    reader.collected()
    assert reader.identities() == start
    check_taken_over(reader)
    reader.take(TAKE)  # again, as after an interruption
    check_taken_over(reader)
    assert reader.identities() == start
    reader.take(AFTERWARDS)
    check_git_decides(reader, start)
    check_the_way_back(reader, start)


def check_the_way_back_from_the_stop(reader, start):
    """After step 3, the operator starts again and keeps all pods; then it stops again."""
    reader.take(BACK)
    start_it, owners = reader.scripts(START)
    reader.run(start_it)
    for operator in (reader.operator._replace(image_pull_secrets=()), reader.operator):
        reader._replace(operator=operator).reconcile()
    reader.run(owners)
    assert reader.identities() == start
    reader.take(OFF, COMPARE)


def check_taken_over(reader):
    """No object has a field of the operator, and replicas that only the cluster knew are kept."""
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
    assert len(written) > 13
    assert {name: who for name, who in written.items() if reference.MANAGER in who} == {}
    assert all("kustomize-controller" in who for who in written.values())
    assert objects["Deployment/chat-worker"]["spec"]["replicas"] == 3
    adapter = objects["DynamoGraphDeploymentScalingAdapter/chat-worker"]
    assert adapter["spec"]["replicas"] == 3
    assert adapter["metadata"]["labels"].items() >= FLUX.items()
    assert objects["RoleBinding/planner-serviceaccount-binding"]["roleRef"]["name"] == "dynamo-planner"


def check_git_decides(reader, start):
    """A setting that is removed from Git is removed from the object: no other field manager owns it."""
    settings = yaml.safe_load((reader.folder / "adopted" / "render.yaml").read_text())
    del settings["spec"]["etcdAddress"]
    (reader.folder / "less.yaml").write_text(yaml.safe_dump(settings))
    apply = "kubectl apply --server-side --force-conflicts --field-manager=kustomize-controller --dry-run=server -o json -f -"
    graph = "adopted/dynamographdeployment_chat.yaml"
    after = json.loads(reader.run(f"krm-fn render {graph} --config less.yaml 2> /dev/null | {apply}"))["items"]
    (frontend,) = [each for each in after if (each["kind"], each["metadata"]["name"]) == ("Deployment", "chat-frontend")]
    (container,) = frontend["spec"]["template"]["spec"]["containers"]
    variables = {entry["name"] for entry in container["env"]}
    assert "NATS_SERVER" in variables
    assert "ETCD_ENDPOINTS" not in variables
    assert reader.identities() == start


def check_the_way_back(reader, start):
    """The operator recognizes every object and keeps the pods, also without pull secrets. A deleted graph deletes all its objects."""
    start_it, owners = reader.scripts(START)
    with pytest.raises(AssertionError) as unprepared:
        reader.run(start_it)
    assert "DYN810 Worker: imagePullSecrets is not ngc; run `krm-fn adopt give-back` (Dyn" in str(unprepared.value)
    reader.take(BACK)
    reader.run(start_it)
    forgetful = reader._replace(operator=reader.operator._replace(image_pull_secrets=()))
    for each in (forgetful, reader, reader):
        each.reconcile()
    reader.collected()
    assert reader.identities() == start
    deployment = reader.objects("deployments")["Deployment/chat-worker"]
    assert deployment["metadata"]["annotations"][reference.HASH]
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "ngc"}]
    reader.run(owners)
    assert reader.identities() == start
    journey.remove_the_graph(reader)
    accounts = {"ServiceAccount/planner-serviceaccount", "RoleBinding/planner-serviceaccount-binding"}
    assert reader.everything().keys() == {"PersistentVolumeClaim/chat-models", *accounts}


def test_the_settings_are_those_of_the_page_about_them():
    """The table of docs/operator-map.md and the flags that `krm-fn adopt` reads agree; ClusterRoles come from the platform."""
    rows = dict(re.findall(r"^\| `--([-\w]+)` \|[^|]*\| `([.\w]+)`", MAP, re.MULTILINE))
    keys = {flag: ".".join(setting) for flag, setting in declared_settings.FLAGS.items()}
    assert keys == {flag: key for flag, key in rows.items() if not key.startswith("rbac.")}


def test_a_graph_deleted_by_hand_takes_everything_along(migration, tmp_path):
    """The case that the page warns about: without finalizers and without --cascade=orphan."""
    reader = journey.depart(migration, tmp_path, "careless", {"Frontend": journey.FRONTEND}, yaml.safe_load(journey.SETTINGS))
    journey.remove_the_graph(reader)
