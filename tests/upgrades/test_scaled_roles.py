"""Roles of DisaggregatedSets that scaling adapters scale, with the real controller and the real syncer.

LeaderWorkerSet 0.10 makes a scaler for each of them. The definition of 0.9 has no field for it.
"""

from __future__ import annotations

import json

import pytest

from krm_fn.schemas.generate import crds
from tests.support import definitions, disaggregated_faults
from tests.support.cases import cases
from tests.testbed import server, syncer
from tests.testbed.place import GRAPH, Place
from tests.upgrades.paired_graphs import NEW, Shape

ADAPTER, SCALER, SET = "DynamoGraphDeploymentScalingAdapter", "DisaggregatedSetRoleScaler", "DisaggregatedSet"
SHAPE = Shape(2, 2)


@pytest.fixture(scope="module")
def scales(live_pods, control_plane):
    """True if the controller makes scalers."""
    return control_plane.client.knows("disaggregatedset.x-k8s.io/v1", SCALER)


@pytest.fixture
def place(live_pods, control_plane, kubelet, request):
    """A namespace whose workloads go at the end."""
    here = Place(
        control_plane, control_plane.namespace(request.node.name.removeprefix("test_").replace("_", "-")[:40]), "nvidia.com/v1beta1"
    )
    yield here
    for kind in (SET, "Deployment"):
        control_plane.client.request("DELETE", here.path(kind))
    server.eventually(lambda: not here.listed("Pod"))


def rendered(place, **edit):
    return place.render(SHAPE.graph(place.namespace, **edit), **disaggregated_faults.SETTINGS)


def the_set(place, **edit):
    return next(resource for resource in rendered(place, **edit) if resource["kind"] == SET)


WAYS = [
    ("server-side apply, as Flux does", ("--server-side",), '.spec.roles[name="prefill"].scaling: field not declared in schema'),
    ("client-side apply, as kubectl and Argo CD do", (), 'unknown field "spec.roles[0].scaling"'),
]


@cases(("options", "message"), WAYS)
def test_the_definition_of_an_older_version_refuses_a_scaled_role(place, scales, options, message):
    """So no graph runs with a number that nobody set, unless somebody applies it without validation."""
    if scales:
        pytest.skip("this version of LeaderWorkerSet scales roles")
    written = json.dumps(the_set(place, scaled=True))
    with pytest.raises(AssertionError) as refused:
        place.kubectl("apply", *options, "-f", "-", input=written)
    assert message in str(refused.value)
    accepted = json.loads(place.kubectl("apply", "--validate=false", "--dry-run=server", "-o", "json", "-f", "-", input=written))
    role, _ = accepted["spec"]["roles"]
    assert ("scaling" in role, role["spec"]["replicas"]) == (False, 1)


@pytest.fixture(scope="module")
def sync(scales, control_plane, controllers, kustomize, tmp_path_factory):
    """The syncer with the rights of `platform/syncer`, which include scaling."""
    if not scales:
        pytest.skip("LeaderWorkerSet 0.10 or newer is needed: set KRM_FN_LWS")
    definitions.serve(control_plane, crds.definitions("v1beta1"))
    folder = tmp_path_factory.mktemp("syncer")
    with syncer.running(syncer.installed(control_plane, kustomize, folder), folder) as running:
        yield running


def pods(place, service="Prefill"):
    """The names of the pods of a service that are not being deleted."""
    living = (pod["metadata"] for pod in place.listed("Pod") if "deletionTimestamp" not in pod["metadata"])
    return {metadata["name"] for metadata in living if metadata["labels"]["nvidia.com/dynamo-component"] == service}


def settle(place, replicas):
    """Waits until prefill has these replicas, and the status of the graph is that of the newest spec."""

    def is_settled():
        graph = place.get(GRAPH, "chat")
        status, generation = graph.get("status", {}), graph["metadata"]["generation"]
        done = status.get("state") == "successful" and status.get("observedGeneration") == generation
        return done and len(pods(place)) == replicas and len(place.listed("LeaderWorkerSet")) == len(("prefill", "decode"))

    server.eventually(is_settled)


def numbers(place):
    """The replicas of the adapter and of its scaler, and those that the status of the adapter observes."""
    adapter = place.get(ADAPTER, "chat-prefill")
    scalers = [scaler["spec"]["replicas"] for scaler in place.listed(SCALER)]
    return adapter["spec"].get("replicas"), *scalers, adapter.get("status", {}).get("replicas")


def test_an_adapter_scales_a_role(place, sync):
    """An apply of Git does not revert the number, and a rollout keeps it."""
    place.apply(rendered(place, scaled=True))
    settle(place, SHAPE.prefill)
    server.eventually(lambda: numbers(place) == (2, 2, 2))
    first = pods(place)
    place.kubectl("scale", "dgdsa/chat-prefill", "--replicas=4")
    settle(place, 4)
    server.eventually(lambda: numbers(place) == (4, 4, 4))
    assert first < pods(place)
    assert len(pods(place, "Decode")) == SHAPE.decode
    place.apply(rendered(place, scaled=True, image=NEW))
    server.eventually(lambda: first.isdisjoint(pods(place)))
    settle(place, 4)
    server.eventually(lambda: numbers(place) == (4, 4, 4))
    place.kubectl("scale", "dgdsa/chat-prefill", "--replicas=1")
    settle(place, 1)
    server.eventually(lambda: numbers(place) == (1, 1, 1))


def test_no_pod_restarts_when_a_role_gets_or_loses_its_adapter(place, sync):
    place.apply(rendered(place))
    settle(place, SHAPE.prefill)
    before = pods(place)
    place.apply(rendered(place, scaled=True))
    server.eventually(lambda: numbers(place) == (2, 2, 2))
    settle(place, SHAPE.prefill)
    assert pods(place) == before
    place.kubectl("scale", "dgdsa/chat-prefill", "--replicas=3")
    settle(place, 3)
    place.apply(rendered(place))
    place.kubectl("delete", "dgdsa/chat-prefill")
    settle(place, SHAPE.prefill)
    assert place.listed(SCALER) == []
    assert pods(place) == before
