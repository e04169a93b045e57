"""Models on a real control plane, with the rights of platform/syncer: their endpoints, and the adapters in the workers."""

from __future__ import annotations

import pytest

from krm_fn.kube import labels, names
from tests.testbed import syncer, workers
from tests.testbed.place import Place, conditions

MODEL = "DynamoModel"
BASE = "acme/tiny"
URI = "s3://models/support"
REFUSED = "192.0.2.200"


@pytest.fixture(scope="module")
def fleet():
    """The workers of all tests."""
    with workers.running() as running:
        yield running


@pytest.fixture(scope="module")
def sync(dynamo, controllers, kubelet, kustomize, fleet, tmp_path_factory):
    """One syncer for all tests, with short times."""
    folder = tmp_path_factory.mktemp("syncer")
    account = syncer.installed(dynamo, kustomize, folder, "models", "loras")
    prelude = workers.prelude(fleet, REFUSED, request=2, batch=4, again=1, removal=6)
    with syncer.running(account, folder, "--models", "--loras", "--no-leader-election", prelude=prelude) as running:
        yield running


@pytest.fixture
def place(dynamo, sync, request):
    """A namespace of its own for each test."""
    return Place(dynamo, dynamo.namespace("models-" + request.node.originalname.removeprefix("test_").replace("_", "-")[:50].rstrip("-")))


def model(place, name="support", type_="lora", base=BASE, uri=URI, **spec):
    written = {"modelName": f"{name}-v1", "baseModelName": base, "modelType": type_, "source": {"uri": uri}, **spec}
    metadata = {"name": name, "namespace": place.namespace}
    place.apply([{"apiVersion": "nvidia.com/v1alpha1", "kind": MODEL, "metadata": metadata, "spec": written}])


def pod(place, name, *addresses, base=BASE, restarts=0):
    """A pod with these addresses that runs, and that the fake kubelet leaves alone."""
    metadata = {"name": name, "namespace": place.namespace, "labels": {labels.BASE_MODEL_HASH: names.model_hash(base)} if base else {}}
    spec = {"containers": [{"name": "main", "image": "worker:Untouched"}]}
    place.apply([{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}])
    running(place, name, *addresses, restarts=restarts)


def running(place, name, *addresses, restarts=0):
    """What a kubelet tells about that pod."""
    status = {"name": "main", "image": "worker:1", "imageID": "", "restartCount": restarts, "ready": True, "state": {"running": {}}}
    told = {"phase": "Running", "podIP": addresses[0], "podIPs": [{"ip": each} for each in addresses], "containerStatuses": [status]}
    place.patch("Pod", name, {"status": told}, "/status")


def listed(place, *endpoints, base=BASE, name="s1"):
    """An EndpointSlice of a base model."""
    marks = {labels.BASE_MODEL_HASH: names.model_hash(base), "kubernetes.io/service-name": "workers"}
    metadata = {"name": name, "namespace": place.namespace, "labels": marks}
    place.apply(
        [
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": metadata,
                "addressType": "IPv4",
                "endpoints": list(endpoints),
                "ports": [],
            }
        ]
    )


def endpoint(place, pod, address, **target):
    return {"addresses": [address], "targetRef": {"kind": "Pod", "name": pod, "namespace": place.namespace, **target}}


def serves(place, address, name="w-1", base=BASE):
    """A pod with an address in an EndpointSlice."""
    pod(place, name, address, base=base)
    listed(place, endpoint(place, name, address), base=base)


def is_(type_, reason):
    """True for a status whose condition has this reason."""
    return lambda status: conditions(status).get(type_, {}).get("reason") == reason


READY = is_("Ready", "AllEndpointsReady")


def test_an_adapter_is_loaded_into_the_pods_of_its_base_model(place, fleet):
    serves(place, "192.0.2.1")
    model(place)
    place.wait("support", READY, MODEL)
    assert fleet.done("192.0.2.1") == [f"POST support-v1 {URI}"]
