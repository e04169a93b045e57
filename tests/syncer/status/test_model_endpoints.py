"""EndpointSlices name the pods of a base model, and a slice alone is no proof of a pod.

The table follows the operator's internal/modelendpoint/discovery_test.go. One difference: an endpoint in two slices counts once.
"""

from krm_fn.syncer.status import cached_model, model_endpoints
from krm_fn.syncer.status.base_model_index import BaseModelIndex
from krm_fn.syncer.status.workload_index import WorkloadIndex
from tests.support.cases import cases
from tests.syncer.status import lora
from tests.syncer.status.lora import endpoint, slice_, worker

LISTED = [
    # reason, slices, the pods and addresses that are listed, and those of them that are ready
    ("no slice", [], [], ""),
    ("an empty slice", [slice_()], [], ""),
    ("a ready pod", [slice_(endpoint("w-0"))], ["w-0 10.0.0.0"], "w-0"),
    ("a pod that is not ready", [slice_(endpoint("w-0", ready=False))], ["w-0 10.0.0.0"], ""),
    ("a pod without a condition counts as ready", [slice_(endpoint("w-0", ready=None))], ["w-0 10.0.0.0"], "w-0"),
    ("a pod with two addresses", [slice_(endpoint("w-0", "10.0.0.0", "fd00::1"))], ["w-0 10.0.0.0", "w-0 fd00::1"], "w-0w-0"),
    ("a pod without an address", [slice_({"addresses": [], "targetRef": {**lora.TARGET, "name": "w-0"}})], [], ""),
    ("a node", [slice_(endpoint("n", "10.0.0.1", kind="Node"))], [], ""),
    ("nothing behind an address", [slice_({"addresses": ["10.0.0.1"]})], [], ""),
    ("a pod of another namespace", [slice_(endpoint("w-0", namespace="team-b"))], [], ""),
    ("a target without a namespace is in that of the slice", [slice_(endpoint("w-0", namespace=None))], ["w-0 10.0.0.0"], "w-0"),
    (
        "slices in the order of their names",
        [slice_(endpoint("w-1"), name="s2"), slice_(endpoint("w-3"), endpoint("w-2"), name="s1")],
        ["w-3 10.0.0.3", "w-2 10.0.0.2", "w-1 10.0.0.1"],
        "w-3w-2w-1",
    ),
    (
        "an endpoint in two slices is one, and ready if it is in one of them",
        [slice_(endpoint("w-1", ready=False), name="s1"), slice_(endpoint("w-1"), endpoint("w-1", ready=False), name="s2")],
        ["w-1 10.0.0.1"],
        "w-1",
    ),
    ("slices of another model", [slice_(endpoint("w-1"), hash_="00000000")], [], ""),
    ("absurd values", [slice_({"addresses": "10.0.0.1"}, 5, {"addresses": [5], "targetRef": []})], [], ""),
]


@cases(("slices", "expected", "ready"), LISTED)
def test_the_pods_in_slices(slices, expected, ready):
    found = listed(*slices)
    assert [f"{each.pod} {each.address}" for each in found] == expected
    assert "".join(each.pod for each in found if each.ready) == ready


def listed(*resources):
    """The endpoints of the base model."""
    return model_endpoints.endpoints(BaseModelIndex.of(resources).slices(cached_model.read(lora.model())), WorkloadIndex.of(resources))


NO_POD = f"no running pod of this name has the label nvidia.com/dynamo-base-model-hash: {lora.HASH}"
PLACES = [
    # reason, pods, why the endpoint is not called; empty if it is
    ("the pod has the address", [worker("w-1")], ""),
    ("the pod has several addresses", [worker("w-1", 0, lora.HASH, "Running", "fd00::1", "10.0.0.1")], ""),
    ("a pod that does not run yet", [worker("w-1", phase="Pending")], ""),
    ("no pod", [], NO_POD),
    ("a pod of another name", [worker("w-11", 0, lora.HASH, "Running", "10.0.0.1")], NO_POD),
    ("a pod of another base model", [worker("w-1", hash_="00000000")], NO_POD),
    ("a pod with another address", [worker("w-1", 0, lora.HASH, "Running", "10.0.0.2")], "the pod does not have the address 10.0.0.1"),
    ("a pod that has ended", [worker("w-1", phase="Succeeded")], NO_POD),
    ("a pod that has failed", [worker("w-1", phase="Failed")], NO_POD),
]


@cases(("pods", "why"), PLACES)
def test_an_endpoint_is_called_only_if_its_pod_has_the_address_and_the_label(pods, why):
    """Who may write EndpointSlices could else let the syncer call any address."""
    (found,) = listed(slice_(endpoint("w-1")), *pods)
    assert found.problem == why
    assert (found.worker is None) == bool(why)


def test_a_place_is_the_same_until_a_container_restarts_or_the_pod_is_another_one():
    def place(pod):
        return listed(slice_(endpoint("w-1")), pod)[0].worker

    first, again, restarted, another = worker("w-1"), worker("w-1"), worker("w-1", restarts=1), worker("w-1")
    another["metadata"]["uid"] = "other"
    assert place(first) == place(again)
    assert len({place(first), place(restarted), place(another)}) == 3


def test_the_services_of_slices_count_once():
    found = BaseModelIndex.of([slice_(), slice_(name="s2"), slice_(name="s3", service="other"), slice_(name="s4", service="")])
    assert model_endpoints.services(found.slices(cached_model.read(lora.model()))) == {"dynamo-model", "other"}
