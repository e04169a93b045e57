"""Git takes over workers that an operator of 1.5 has named, and workers of release 0.9. Kubernetes' own controllers make the pods."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from krm_fn.render import labels
from tests.support import given
from tests.testbed import kubelet, server
from tests.testbed.control_plane import ControlPlane

IMAGE, LATER = "registry.example/dynamo:1.5.0", "registry.example/dynamo:1.5.1"
REPLICAS, FEWEST = 4, 3  # maxUnavailable is 25 %
OPERATOR, FLUX = "manager", "kustomize-controller"
SUFFIX = "DYN_NAMESPACE_WORKER_SUFFIX"


class Cluster(NamedTuple):
    """One namespace of the control plane."""

    plane: ControlPlane
    name: str

    def apply(self, graph: Any, manager: str, **settings: Any) -> list[tuple[str, str]]:
        """Apply the objects of a graph, as GitOps tools do. Returns their kinds and names."""
        made = [each for each in given.rendered(graph, **settings).values() if not each["apiVersion"].startswith("nvidia.com/")]
        for each in made:
            path = f"{self.plane.client.path(each)}?fieldManager={manager}&force=true&fieldValidation=Strict"
            answer = self.plane.client.request("PATCH", path, each, "application/apply-patch+yaml")
            assert answer.ok, answer.message
        return sorted((each["kind"], each["metadata"]["name"]) for each in made)

    def all(self, resource: str, api: str = "apis/apps/v1") -> list[Any]:
        """The objects of a resource."""
        found: list[Any] = self.plane.client.get(f"/{api}/namespaces/{self.name}/{resource}")["items"]
        return found

    def objects(self) -> dict[str, str]:
        """The identity of each Deployment and Service."""
        found = [*self.all("deployments"), *self.all("services", "api/v1")]
        return {each["metadata"]["name"]: each["metadata"]["uid"] for each in found}

    def selectors(self) -> dict[str, Any]:
        """The selector of each Deployment."""
        return {each["metadata"]["name"]: each["spec"]["selector"] for each in self.all("deployments")}

    def pods(self) -> set[str]:
        """The identity of each pod."""
        return {each["metadata"]["uid"] for each in self.all("pods", "api/v1")}

    def ready(self) -> list[Any]:
        """The ready workers."""
        workers = [each for each in self.all("pods", "api/v1") if each["metadata"]["labels"][labels.COMPONENT] == "Worker"]
        return [each for each in workers if _ready(each) and "deletionTimestamp" not in each["metadata"]]

    def settled(self) -> bool:
        """True if no Deployment has anything left to do."""
        return all(_settled(each) for each in self.all("deployments"))

    def rolled(self, *, image: str) -> int:
        """Wait until all workers run an image. Returns the smallest number of ready workers that their Service selected until then."""
        fewest = [REPLICAS]

        def done() -> bool:
            (service,) = (each for each in self.all("services", "api/v1") if each["metadata"]["name"].startswith("chat-worker"))
            selector, ready = service["spec"]["selector"].items(), self.ready()
            fewest.append(sum(selector <= each["metadata"]["labels"].items() for each in ready))
            return len(ready) == REPLICAS and {_main(each["spec"])["image"] for each in ready} == {image} and self.settled()

        server.eventually(done)
        return min(fewest)


def _ready(pod: Any) -> bool:
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", ()))


def _settled(deployment: Any) -> bool:
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    counts = {status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")}
    return counts == {wanted} and status.get("observedGeneration") == deployment["metadata"]["generation"]


def _main(pod: Any) -> Any:
    return next(container for container in pod["containers"] if container["name"] == "main")


def _generations(cluster: Cluster) -> set[tuple[str, str]]:
    """Label and variable of each ready worker."""
    return {
        (each["metadata"]["labels"][labels.WORKER_HASH], variable["value"])
        for each in cluster.ready()
        for variable in _main(each["spec"])["env"]
        if variable["name"] == SUFFIX
    }


@pytest.fixture(scope="module")
def slowly(control_plane, controllers):
    """Pods are ready a moment after they start, so that a rolling update takes several steps."""
    with kubelet.running(control_plane, 0.3):
        yield control_plane


@pytest.fixture
def cluster(slowly, request):
    """A namespace of its own for each test."""
    name = request.node.name.removeprefix("test_").translate(str.maketrans("_[", "--", "]"))[-50:].lstrip("-")
    return Cluster(slowly, slowly.namespace(name))


def graph(cluster, image=IMAGE, worker=None, **annotations):
    services = {
        "Frontend": given.service("frontend", main={"image": IMAGE}),
        "Worker": given.service("worker", main={"image": image}, replicas=REPLICAS, **(worker or {})),
    }
    return given.graph(services, namespace=cluster.name, backendFramework="vllm", annotations=annotations)


def computed(resource):
    (digits,) = {
        each["spec"]["template"]["metadata"]["labels"].get(labels.WORKER_HASH)
        for each in given.rendered(resource, behaviour="v1.5").values()
        if each["kind"] == "Deployment"
    } - {None}
    return digits


@pytest.mark.parametrize("mode", ["names", "pods"])
def test_workers_that_the_operator_named_keep_their_pods_and_roll_in_place(cluster, mode):
    """The operator's objects have the hash in their names, and its annotation has it on the graph."""
    there = cluster.apply(graph(cluster), OPERATOR, behaviour="v1.5", worker_hash="names")
    cluster.rolled(image=IMAGE)
    objects, pods, digits = cluster.objects(), cluster.pods(), computed(graph(cluster))
    assert f"chat-worker-{digits}" in objects

    noted = {labels.WORKER_HASH_V2: digits}
    assert cluster.apply(graph(cluster, **noted), FLUX, worker_hash=mode) == there
    server.eventually(cluster.settled)
    assert (cluster.objects(), cluster.pods()) == (objects, pods)

    assert cluster.apply(graph(cluster, LATER, **noted), FLUX, worker_hash=mode) == there
    assert cluster.rolled(image=LATER) >= FEWEST
    assert cluster.objects() == objects
    later = computed(graph(cluster, LATER)) if mode == "pods" else digits
    assert _generations(cluster) == {(later, later)}


KINDS = {
    "workers": {},
    # Release 1.5 labels these pods `decode`. The label of release 0.9 keeps the selector of their Service.
    "decoders": {"subComponentType": "decode", "extraPodMetadata": {"labels": {labels.COMPONENT_TYPE: "worker"}}},
}


@pytest.mark.parametrize("worker", KINDS.values(), ids=KINDS)
def test_workers_of_release_0_9_keep_names_and_selectors_and_roll_in_place(cluster, worker):
    there = cluster.apply(graph(cluster, worker=worker), FLUX)
    cluster.rolled(image=IMAGE)
    objects, selectors = cluster.objects(), cluster.selectors()

    assert cluster.apply(graph(cluster, LATER, worker), FLUX, behaviour="v1.5") == there
    assert cluster.rolled(image=LATER) >= FEWEST
    assert (cluster.objects(), cluster.selectors()) == (objects, selectors)
    digits = computed(graph(cluster, LATER, worker))
    assert _generations(cluster) == {(digits, digits)}
