"""Argo CD: the Applications of examples/argocd, synced from Git by the real controllers, with the plugin and with build options."""

from __future__ import annotations

import copy
import json

import pytest

from tests.gitops import application, argocd, cluster
from tests.support import builds
from tests.testbed import programs, server

PAGE = programs.ROOT / "docs" / "argocd.md"
ROUTES = ("llm-agg", "llm-agg-kustomize")
ADAPTER = "DynamoGraphDeploymentScalingAdapter/llm-agg-vllmworker"
WORKER = "Deployment/llm-agg-vllmworker"
NOT_NORMALIZED = "Failed to normalize target resources: expected kind, but got map"


@pytest.fixture(params=ROUTES)
def app(argo, tmp_path, request):
    name = request.node.originalname.removeprefix("test_").replace("_", "-")[:30].rstrip("-")
    namespace = f"{'cmp' if request.param == 'llm-agg' else 'kustomize'}-{name}"
    with application.made(argo, namespace, request.param, tmp_path) as made:
        yield made


@pytest.fixture
def running(app):
    """An app whose graph is in the cluster."""
    app.repository.commit()
    app.deploy()
    app.sync()
    return app


def test_a_commit_becomes_workloads(running):
    """The pods know the namespace of the Application, though the graph names none."""
    found = running.objects()
    assert {"Deployment/llm-agg-frontend", "Deployment/llm-agg-processor", WORKER, ADAPTER, "DynamoGraphDeployment/llm-agg"} <= found.keys()
    environment = found[WORKER]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "DYN_PARENT_DGD_K8S_NAMESPACE", "value": running.namespace} in environment


def test_another_image_changes_that_deployment_only(running):
    before = running.versions()
    change_processor(running)
    running.sync()
    assert cluster.changed(before, running.versions()) == {"Deployment/llm-agg-processor", "DynamoGraphDeployment/llm-agg"}


def test_a_mistake_reaches_the_condition_and_nothing_is_deleted(running):
    before = running.versions()
    running.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].pop("image"))
    running.push()
    status = running.wait(lambda status: bool(status.get("conditions")))
    (condition,) = [each for each in status["conditions"] if each["type"] == "ComparisonError"]
    assert "DYN205 spec.services.Processor.extraPodSpec.mainContainer.image: the image is required" in condition["message"]
    assert cluster.changed(before, running.versions()) == set()
    running.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].update(image="processor:3"))
    assert not running.sync().get("conditions")


def test_a_removed_service_takes_its_objects_along(running):
    before = running.objects().keys()
    running.change(lambda spec: spec["services"].pop("Processor"))
    running.sync()
    gone = {"Deployment/llm-agg-processor", "Service/llm-agg-processor"}
    server.eventually(lambda: before - running.objects().keys() == gone)


def test_volumes_outlive_their_graph(running):
    """Another graph replaces the first, because the plugin refuses an empty output."""
    graph = running.folder / "graph.yaml"
    builds.edit(
        graph, lambda each: (each["metadata"].update(name="other"), each["spec"].pop("pvcs"), each["spec"]["services"].pop("VllmWorker"))
    )
    running.push()
    server.eventually(lambda: not [name for name in running.objects() if "/llm-agg" in name])
    assert "PersistentVolumeClaim/vllm-model-storage" in running.objects()


def test_what_was_scaled_stays_scaled(running):
    cluster.patch(running.argo.plane, running.objects()[ADAPTER], {"spec": {"replicas": 3}}, "/scale")
    cluster.patch(running.argo.plane, running.objects()[WORKER], {"spec": {"replicas": 3}})
    running.change(lambda spec: spec["services"]["VllmWorker"]["extraPodSpec"]["mainContainer"].update(image="vllm:2"))
    running.sync()
    after = running.objects()
    assert after[WORKER]["spec"]["template"]["spec"]["containers"][0]["image"] == "vllm:2"
    assert (after[WORKER]["spec"]["replicas"], after[ADAPTER]["spec"]["replicas"]) == (3, 3)


def workloads(app):
    """How many pods and other units of each workload kind there are; no controller of LeaderWorkerSets or Grove runs here."""
    found = app.objects()
    (cliques,) = [each["spec"]["template"]["cliques"] for each in found.values() if each["kind"] == "PodCliqueSet"] or [[]]
    counted = {f"PodClique/{each['name']}": each["spec"]["replicas"] for each in cliques}
    pods = app.argo.plane.client.get(f"/api/v1/namespaces/{app.namespace}/pods")["items"]
    counted["Pod"] = len([pod for pod in pods if pod["metadata"]["labels"].get("nvidia.com/dynamo-component") == "Processor"])
    counted["LeaderWorkerSet"] = len([each for each in found.values() if each["kind"] == "LeaderWorkerSet"])
    return counted


def scale(app, count):
    """Write one number of replicas for all services into Git, and sync."""
    app.change(lambda spec: [service.update(replicas=count) for service in spec["services"].values()])
    app.sync()


@pytest.mark.parametrize("app", ["llm-agg"], indirect=True)
def test_replicas_in_git_reach_the_workloads(running):
    """Pods of a Deployment, and one LeaderWorkerSet for each replica of a service on several nodes."""
    large = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "8"}}}
    running.change(lambda spec: (spec["services"]["VllmWorker"].pop("scalingAdapter"), spec["services"]["VllmWorker"].update(large)))
    for count in (2, 4, 1):
        scale(running, count)
        server.eventually(lambda: workloads(running) == {"Pod": count, "LeaderWorkerSet": count})  # noqa: B023 - called before the next turn


@pytest.mark.parametrize("app", ["llm-agg"], indirect=True)
def test_replicas_in_git_reach_the_cliques(running):
    """One PodCliqueSet carries all of them."""
    running.change(lambda spec: spec["services"]["VllmWorker"].pop("scalingAdapter"))
    edit_application(running, lambda source: source["plugin"]["parameters"][0]["map"].update(orchestrator="grove"))
    for count in (2, 3):
        scale(running, count)
        wanted = {f"PodClique/{name}": count for name in ("frontend", "processor", "vllmworker")}
        server.eventually(lambda: workloads(running).items() >= wanted.items())  # noqa: B023 - called before the next turn


def edit_application(app, change):
    """Change the source of the Application, as its owner would."""
    found = app.argo.application(app.namespace)
    change(found["spec"]["source"])
    cluster.patch(app.argo.plane, found, {"spec": {"source": found["spec"]["source"]}})


def test_the_example_says_who_builds_it(running):
    """Both ways are installed. Argo CD keeps the field that chooses, so that an app of apps stays in sync."""
    found = running.argo.application(running.namespace)
    (written,) = cluster.read(argocd.EXAMPLE / "apps" / f"{running.route}.yaml")
    assert found["status"]["sourceType"] == ("Plugin" if running.route == "llm-agg" else "Kustomize")
    chosen = {key: value for key, value in found["spec"]["source"].items() if key in {"plugin", "kustomize"}}
    assert chosen == {key: value for key, value in written["spec"]["source"].items() if key in {"plugin", "kustomize"}}
    assert len(chosen) == 1


def loosened(definition):
    """The definition of graphs with `volumeMounts` as the vendor has them: one list without a key, which is applied as a whole."""
    (served,) = [version for version in definition["spec"]["versions"] if version["served"]]
    spec = served["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    mounts = spec["services"]["additionalProperties"]["properties"]["volumeMounts"]
    assert mounts["items"]["properties"]["useAsCompilationCache"]["default"] is False
    mounts["x-kubernetes-list-type"] = "atomic"
    del mounts["x-kubernetes-list-map-keys"]
    return definition


@pytest.fixture
def definition(dynamo):
    """This project's definition of graphs, which the cluster has again when the test ends."""
    (file,) = (programs.ROOT / "platform" / "crds").glob("*dynamographdeployments.yaml")
    (ours,) = cluster.read(file)
    yield ours
    cluster.put(dynamo, ours)


@pytest.mark.parametrize("app", ["llm-agg"], indirect=True)
@pytest.mark.parametrize("option", ["ServerSideDiff=true", "ServerSideDiff=false"])
def test_defaults_of_the_vendors_definitions_are_no_difference(running, definition, option):
    """Git has entries of `volumeMounts` without the field that the definition fills in."""
    plane = running.argo.plane
    cluster.put(plane, loosened(copy.deepcopy(definition)))
    annotations = {"argocd.argoproj.io/compare-options": option}
    cluster.patch(plane, running.argo.application(running.namespace), {"metadata": {"annotations": annotations}})
    change_processor(running)
    running.sync()
    mounts = graph(running)["spec"]["services"]["VllmWorker"]["volumeMounts"]
    assert [each["useAsCompilationCache"] for each in mounts] == [False]


@pytest.mark.parametrize("app", ["llm-agg"], indirect=True)
def test_replicas_that_git_never_had_stay(app):
    """The page about scaling advises this for `--graph-replicas`."""
    app.change(lambda spec: spec["services"]["VllmWorker"].pop("replicas"))
    app.repository.commit()
    app.deploy()
    app.sync()
    cluster.patch(app.argo.plane, graph(app), {"spec": {"services": {"VllmWorker": {"replicas": 3}}}})
    change_processor(app)
    app.sync()
    assert graph(app)["spec"]["services"]["VllmWorker"]["replicas"] == 3


@pytest.mark.parametrize("app", ["llm-agg-kustomize"], indirect=True)
def test_ignored_replicas_of_an_adapter_stay(running):
    """The page about scaling advises this for the vendor's definition of adapters, which requires a number in Git."""
    patch = json.dumps([{"op": "add", "path": "/spec/replicas", "value": 2}])
    named = {"apiVersion": "builtin", "kind": "PatchTransformer", "metadata": {"name": "number"}}
    (running.folder / "number.yaml").write_text(json.dumps({**named, "target": {"kind": ADAPTER.partition("/")[0]}, "patch": patch}))
    builds.edit(running.folder / "kustomization.yaml", lambda file: file["transformers"].append("number.yaml"))
    running.sync()
    assert running.objects()[ADAPTER]["spec"]["replicas"] == 2
    rule = {"group": "nvidia.com", "kind": "DynamoGraphDeploymentScalingAdapter", "jsonPointers": ["/spec/replicas"]}
    cluster.patch(running.argo.plane, running.argo.application(running.namespace), {"spec": {"ignoreDifferences": [rule]}})
    cluster.patch(running.argo.plane, running.objects()[ADAPTER], {"spec": {"replicas": 3}})
    change_processor(running)
    running.sync()
    assert running.objects()[ADAPTER]["spec"]["replicas"] == 3


@pytest.mark.parametrize("app", ["llm-agg"], indirect=True)
def test_an_ignored_field_of_a_service_stops_the_sync(running):
    """The page warns of it. The schema of `services` is a map, which Argo CD does not expect."""
    rule = {"group": "nvidia.com", "kind": "DynamoGraphDeployment", "jqPathExpressions": [".spec.services[]?.replicas"]}
    cluster.patch(running.argo.plane, running.argo.application(running.namespace), {"spec": {"ignoreDifferences": [rule]}})
    change_processor(running)
    running.push()
    running.wait(lambda status: NOT_NORMALIZED in status.get("operationState", {}).get("message", ""))
    assert NOT_NORMALIZED in PAGE.read_text()


def change_processor(app):
    app.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].update(image="processor:2"))


def graph(app):
    return app.objects()["DynamoGraphDeployment/llm-agg"]


HEALTH = [("pending", "Progressing"), ("failed", "Degraded"), ("successful", "Healthy")]


def test_health_is_what_the_graph_says(running):
    """All pods run, so the state of the graph decides."""
    plane = running.argo.plane
    for state, health in HEALTH:

        def told(status, state=state, health=health):
            cluster.run_pods(plane, running.namespace)
            cluster.say(plane, running.namespace, state, "told so")
            (graph,) = [each for each in status.get("resources", []) if each["kind"] == "DynamoGraphDeployment"]
            return status["health"]["status"] == health and graph.get("health", {"status": health})["status"] == health

        running.wait(told)
