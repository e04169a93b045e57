"""Models with the rights of platform/syncer, and with the policies of platform/admission: every right is needed, and none is missing."""

from __future__ import annotations

import pytest

from krm_fn.syncer.controllers.model_controller import FINALIZER
from tests.platform import runs
from tests.syncer.serving import MODEL, READY, gone, is_, model, post, serves
from tests.testbed import lora_workers, server

pytestmark = pytest.mark.xdist_group("syncer")

HOME = "runs-models"
ADDRESS = "192.0.2.70"
ROLES = ("krm-fn-sync-models", "krm-fn-sync-loras")


@pytest.fixture(scope="module")
def fleet():
    """The workers."""
    with lora_workers.running() as running:
        yield running


@pytest.fixture(scope="module")
def run(audited, fleet, tmp_path_factory):
    """A syncer for one namespace, after it has loaded an adapter and unloaded it from a deleted model."""
    place = runs.guarded(audited, HOME)
    components = (*(role.removeprefix("krm-fn-sync-") for role in ROLES), "namespaced", "hold-namespaces")
    folder = tmp_path_factory.mktemp("models")
    with runs.running(audited, folder, *components, home=HOME, prelude=lora_workers.prelude(fleet)) as found:
        model(place, "other", base="acme/other")
        place.wait("other", is_("Ready", "NoEndpoints"), MODEL)
        serves(place, ADDRESS)
        model(place)
        place.wait("support", READY, MODEL)
        assert place.get(MODEL, "support")["metadata"]["finalizers"] == [FINALIZER]
        place.kubectl("delete", "dynamomodel", "support", "--timeout=120s")
        server.eventually(lambda: gone(place))
        yield found


def test_the_rights_are_exactly_enough(run):
    """The server refused no request of the syncer, and every right of the two components was used."""
    assert run.refused() == []
    assert run.granted(*ROLES) <= run.used() <= run.granted()


def test_the_worker_was_asked_twice_and_saw_no_token(run, fleet):
    assert fleet.done(ADDRESS) == [post(), "DELETE support-v1"]
    assert {name.lower() for each in fleet.to(ADDRESS) for name in each.headers} & {"authorization", "cookie"} == set()


def test_no_pod_of_another_namespace_can_be_read(run):
    assert run.status_of(f"/api/v1/namespaces/{HOME}/pods") == 200
    for path in ("/api/v1/pods", "/api/v1/namespaces/default/pods", "/apis/discovery.k8s.io/v1/endpointslices"):
        assert run.status_of(path) == 403


def test_models_are_reported_by_the_metrics(run):
    server.eventually(lambda: run.syncer.metric("resources", kind=MODEL, namespace=HOME, state="not_ready") == 1)
    assert run.syncer.metric("lora_operations_total", operation="unload", result="success") == 1
