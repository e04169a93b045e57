"""Flux: the real kustomize-controller applies what examples/flux publishes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from krm_fn.render import function_config
from tests.cli import console
from tests.gitops import cluster, flux, kustomization
from tests.platform import reference
from tests.testbed import server

ADAPTER = "DynamoGraphDeploymentScalingAdapter/llm-agg-vllmworker"
WORKER = "Deployment/llm-agg-vllmworker"


@pytest.fixture
def app(controller, tmp_path, request):
    namespace = "flux-" + request.node.name.removeprefix("test_").replace("_", "-")[:40].rstrip("-")
    with kustomization.made(controller, namespace, tmp_path) as made:
        yield made


@pytest.fixture
def running(app):
    """An app that Flux has applied."""
    app.deploy()
    app.succeed()
    return app


def test_ready_only_when_the_graph_says_so(app):
    """The pods run, and Flux still waits for the state of the graph."""
    app.deploy()
    revision = app.release()
    server.eventually(lambda: "DynamoGraphDeployment/llm-agg" in app.objects())
    cluster.run_pods(app.controller.plane, app.namespace)
    cluster.say(app.controller.plane, app.namespace, "pending", "Resources not ready")
    app.controller.wait(app.namespace, "Unknown", revision)
    app.succeed()


def test_a_failed_graph_fails_the_kustomization(app):
    app.deploy()
    revision = app.release()
    server.eventually(lambda: "DynamoGraphDeployment/llm-agg" in app.objects())
    cluster.say(app.controller.plane, app.namespace, "failed", "Validation failed: no such queue")
    condition = app.controller.wait(app.namespace, "False", revision)
    assert condition["reason"] == "HealthCheckFailed"
    assert f"DynamoGraphDeployment/{app.namespace}/llm-agg" in condition["message"]


def test_another_image_changes_that_deployment_only(running):
    before = running.versions()
    running.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].update(image="processor:2"))
    running.succeed()
    assert cluster.changed(before, running.versions()) == {"Deployment/llm-agg-processor", "DynamoGraphDeployment/llm-agg"}


def test_a_removed_service_takes_its_objects_along(running):
    before = running.objects().keys()
    running.change(lambda spec: spec["services"].pop("Processor"))
    running.succeed()
    assert before - running.objects().keys() == {"Deployment/llm-agg-processor", "Service/llm-agg-processor"}


def test_volumes_outlive_their_graph(running):
    (running.folder / "graph.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"  # an empty folder would prune nothing
    )
    revision = running.release()
    running.controller.wait(running.namespace, "True", revision)
    assert running.objects().keys() == {"ConfigMap/other", "PersistentVolumeClaim/vllm-model-storage"}


def test_what_was_scaled_stays_scaled(running):
    """Flux does not change the number that an autoscaler wrote into the adapter, and the Deployment has no replicas in Git."""
    plane = running.controller.plane
    worker = running.objects()["Deployment/llm-agg-vllmworker"]
    cluster.patch(plane, running.objects()[ADAPTER], {"spec": {"replicas": 3}}, "/scale")
    cluster.patch(plane, worker, {"spec": {"replicas": 3}})
    running.change(lambda spec: spec["services"]["VllmWorker"]["extraPodSpec"]["mainContainer"].update(image="vllm:2"))
    running.succeed()
    after = running.objects()
    assert after["Deployment/llm-agg-vllmworker"]["spec"]["template"]["spec"]["containers"][0]["image"] == "vllm:2"
    assert (after["Deployment/llm-agg-vllmworker"]["spec"]["replicas"], after[ADAPTER]["spec"]["replicas"]) == (3, 3)


def test_substitution_changes_nothing(running):
    """A ConfigMap beside the rendered objects proves that Flux substitutes; an unknown variable would fail the build."""
    before = running.versions()
    running.deploy(postBuild={"substitute": {"DYN_NAMESPACE": "oops", "POD_NAME": "oops", "MODEL": "oops"}})
    metadata = {"name": "witness", "namespace": running.namespace}
    witness = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"model": "<${MODEL}>"}}
    (running.rendered / "witness.yaml").write_text(json.dumps(witness))
    running.succeed()
    assert running.objects()["ConfigMap/witness"]["data"] == {"model": "<oops>"}
    assert cluster.changed(before, running.versions()) == {"ConfigMap/witness"}


MULTINODE = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: llm-agg
  annotations: {nvidia.com/dynamo-operator-origin-version: 1.6.1}
spec:
  backendFramework: vllm
  services:
    Worker:
      componentType: worker
      multinode: {nodeCount: 2}
      resources: {limits: {gpu: "8"}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-32B, --tensor-parallel-size, "16"]
"""


def test_the_variables_of_pods_stay(app):
    """The container that waits for a leader reads `${LWS_LEADER_ADDRESS}`. render.sh tells Flux to replace nothing in its object."""
    (app.folder / "graph.yaml").write_text(MULTINODE)
    app.render()
    metadata = {"name": "witness", "namespace": app.namespace}
    witness = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"host": "<${LWS_LEADER_ADDRESS}>"}}
    (app.rendered / "witness.yaml").write_text(json.dumps(witness))
    app.deploy(postBuild={"substitute": {"LWS_LEADER_ADDRESS": "oops"}})
    app.publish()
    server.eventually(lambda: {"ConfigMap/witness", "LeaderWorkerSet/llm-agg-worker-0"} <= app.objects().keys())
    objects = app.objects()
    assert objects["ConfigMap/witness"]["data"] == {"host": "<oops>"}
    worker = json.dumps(objects["LeaderWorkerSet/llm-agg-worker-0"]["spec"])
    assert ("${LWS_LEADER_ADDRESS}" in worker, "oops" in worker) == (True, False)


def test_flux_rejects_a_folder_with_the_function(app, monkeypatch):
    """What `krm-fn check` reports before a commit is what Flux says after it."""
    app.deploy()
    revision = app.controller.publish(app.namespace, app.folder)
    condition = app.controller.wait(app.namespace, "False", revision)
    assert "plugin" in condition["message"]
    (app.folder.parent / "apps.yaml").write_text(FOLDER)
    monkeypatch.chdir(app.folder.parent)
    done = console.run("check")
    assert (done.code, "error DYN722 spec.path: Flux runs no functions" in done.out) == (1, True)


FOLDER = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 10m, prune: true, path: ./llm-agg, sourceRef: {kind: GitRepository, name: flux-system}}
"""


def test_a_graph_taken_over_from_the_operator(app):
    """Flux changes neither the number of the adapter nor that of its Deployment, and prunes the adapter with its service."""
    plane = app.controller.plane
    graph = {**cluster.read(app.folder / "graph.yaml")[0], "apiVersion": cluster.DYNAMO}
    graph["metadata"]["namespace"] = app.namespace
    cluster.put(plane, graph)
    settings, _ = function_config.read(None)
    reference.reconcile(plane.client, graph, settings)
    cluster.patch(plane, app.objects()[ADAPTER], {"spec": {"replicas": 3}})
    cluster.patch(plane, app.objects()[WORKER], {"spec": {"replicas": 3}})
    assert reference.HASH in app.objects()[ADAPTER]["metadata"]["annotations"]
    before = pods(app)

    app.release()
    moved = ["krm_fn", "adopt", "take-over", str(app.rendered / "manifests.yaml")]
    command = [sys.executable, "-m", *moved, "--flux", f"{flux.NAMESPACE}/{app.namespace}"]
    subprocess.run(command, env=plane.environment, check=True, capture_output=True, text=True, timeout=300)
    adapter = app.objects()[ADAPTER]
    assert reference.HASH not in adapter["metadata"].get("annotations", {})
    taken = app.versions()
    app.deploy()
    app.succeed()
    assert {name for name in cluster.changed(taken, app.versions()) if name.partition("/")[0] in WITH_GENERATION} == set()
    assert app.objects()[ADAPTER]["spec"]["replicas"] == 3
    assert pods(app) == before

    app.change(lambda spec: spec["services"].pop("VllmWorker"))
    app.release()
    server.eventually(lambda: {ADAPTER, WORKER} & app.objects().keys() == set())


WITH_GENERATION = {"Deployment", "DynamoGraphDeployment", "DynamoGraphDeploymentScalingAdapter"}


def pods(app):
    """The pods of the namespace, once there are five: one of each service, and three of the one that is scaled."""
    path = f"/api/v1/namespaces/{app.namespace}/pods"
    server.eventually(lambda: len(app.controller.plane.client.get(path)["items"]) == 5)
    return {each["metadata"]["uid"] for each in app.controller.plane.client.get(path)["items"]}
