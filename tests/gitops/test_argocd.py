"""Argo CD: the Applications of examples/argocd, synced by the real controllers from Git; by the plugin and by build options."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.gitops import argocd, cluster
from tests.support import builds
from tests.testbed import server

if TYPE_CHECKING:
    from collections.abc import Callable

ROUTES = ("llm-agg", "llm-agg-kustomize")
ADAPTER = "DynamoGraphDeploymentScalingAdapter/llm-agg-vllmworker"
WORKER = "Deployment/llm-agg-vllmworker"


class App(NamedTuple):
    """An Application of the examples, with a repository and a namespace of a test's own; it is called like the namespace."""

    argo: argocd.Argo
    namespace: str
    route: str
    repository: argocd.Repository

    def deploy(self) -> None:
        (application,) = cluster.read(argocd.EXAMPLE / "apps" / f"{self.route}.yaml")
        application["metadata"]["name"] = self.namespace
        application["spec"]["source"]["repoURL"] = self.repository.url
        application["spec"]["destination"]["namespace"] = self.namespace
        cluster.put(self.argo.plane, application)

    def change(self, change) -> None:
        """Edit the spec of the graph."""
        builds.edit(self.repository.folder / self.route / "graph.yaml", lambda graph: change(graph["spec"]))

    def push(self) -> str:
        """Commit, and tell Argo CD; the commit."""
        commit = self.repository.commit()
        self.argo.refresh(self.namespace)
        return commit

    def sync(self) -> cluster.Object:
        """Push, and wait until all of it is there; the status."""
        commit = self.push()
        return self.wait(lambda status: _synced(status, commit))

    def wait(self, holds: Callable[[cluster.Object], bool]) -> cluster.Object:
        return self.argo.wait(self.namespace, holds)

    def objects(self) -> dict[str, cluster.Object]:
        return cluster.objects(self.argo.plane, self.namespace)

    def versions(self) -> dict[str, tuple[str, str]]:
        return cluster.versions(self.argo.plane, self.namespace)


def _synced(status: cluster.Object, commit: str) -> bool:
    """What is in the cluster is what is in that commit, which need not have taken a sync."""
    sync = status.get("sync", {})
    return status.get("operationState", {}).get("phase") == "Succeeded" and (sync.get("status"), sync.get("revision")) == ("Synced", commit)


@pytest.fixture(params=ROUTES)
def app(argo, tmp_path, request):
    name = request.node.originalname.removeprefix("test_").replace("_", "-")[:30].rstrip("-")
    namespace = argo.plane.namespace(f"{'cmp' if request.param == 'llm-agg' else 'kustomize'}-{name}")
    repository = argocd.repository(tmp_path / "repository")
    shutil.copytree(argocd.EXAMPLE / request.param, repository.folder / request.param)
    if request.param == "llm-agg-kustomize":
        builds.edit(repository.folder / request.param / "kustomization.yaml", lambda file: file.update(namespace=namespace))
    made = App(argo, namespace, request.param, repository)
    yield made
    argo.plane.client.request("DELETE", argo.plane.client.path(argo.application(namespace)))


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
    running.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].update(image="processor:2"))
    running.sync()
    assert cluster.changed(before, running.versions()) == {"Deployment/llm-agg-processor", "DynamoGraphDeployment/llm-agg"}


def test_a_mistake_reaches_the_condition_and_nothing_is_deleted(running):
    before = running.versions()
    running.change(lambda spec: spec["services"]["Processor"]["extraPodSpec"]["mainContainer"].pop("image"))
    running.push()
    status = running.wait(lambda status: bool(status.get("conditions")))
    (condition,) = [each for each in status["conditions"] if each["type"] == "ComparisonError"]
    assert "DYN205 spec.services.Processor.extraPodSpec.mainContainer.image: is required" in condition["message"]
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
    """The plugin never gives nothing: another graph takes the place of the first."""
    graph = running.repository.folder / running.route / "graph.yaml"
    builds.edit(
        graph, lambda each: (each["metadata"].update(name="other"), each["spec"].pop("pvcs"), each["spec"]["services"].pop("VllmWorker"))
    )
    running.push()
    server.eventually(lambda: not [name for name in running.objects() if "/llm-agg" in name])
    assert "PersistentVolumeClaim/vllm-model-storage" in running.objects()


def test_what_was_scaled_stays_scaled(running):
    cluster.patch(running.argo.plane, running.objects()[ADAPTER], {"spec": {"replicas": 3}})
    cluster.patch(running.argo.plane, running.objects()[WORKER], {"spec": {"replicas": 3}})
    running.change(lambda spec: spec["services"]["VllmWorker"]["extraPodSpec"]["mainContainer"].update(image="vllm:2"))
    running.sync()
    after = running.objects()
    assert after[WORKER]["spec"]["template"]["spec"]["containers"][0]["image"] == "vllm:2"
    assert (after[WORKER]["spec"]["replicas"], after[ADAPTER]["spec"]["replicas"]) == (3, 3)


HEALTH = [("pending", "Progressing"), ("failed", "Degraded"), ("successful", "Healthy")]


def test_health_is_what_the_graph_says(running):
    """Once all pods run, only the graph's word is missing."""
    plane = running.argo.plane
    for state, health in HEALTH:

        def told(status, state=state, health=health):
            cluster.run_pods(plane, running.namespace)
            cluster.say(plane, running.namespace, state, "told so")
            (graph,) = [each for each in status.get("resources", []) if each["kind"] == "DynamoGraphDeployment"]
            return status["health"]["status"] == health and graph.get("health", {"status": health})["status"] == health

        running.wait(told)
