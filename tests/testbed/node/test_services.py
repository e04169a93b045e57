"""Which endpoints of a Service get connections."""

from __future__ import annotations

import pytest

from tests.testbed.node import services


def made(*endpoints, ports=({"name": "http", "port": 8000}, {"name": "metrics", "port": 9090})):
    """An EndpointSlice of the Service `prod/web`; each endpoint is an address and its conditions."""
    return {
        "metadata": {"namespace": "prod", "labels": {"kubernetes.io/service-name": "web"}},
        "ports": list(ports),
        "endpoints": [{"addresses": [each], "conditions": said, "targetRef": {"name": f"pod-{each}"}} for each, said in endpoints],
    }


READY = {"ready": True, "serving": True, "terminating": False}
UNREADY = {"ready": False, "serving": False, "terminating": False}
ENDING = {"ready": False, "serving": True, "terminating": True}
ENDED = {"ready": False, "serving": False, "terminating": True}

CASES = [
    ([("a", READY), ("b", READY)], ["a", "b"]),
    ([("a", READY), ("b", UNREADY), ("c", ENDING), ("d", ENDED)], ["a"]),
    ([("b", UNREADY), ("c", ENDING), ("d", ENDED)], ["c"]),
    ([("b", UNREADY), ("d", ENDED)], []),
    ([("a", {})], ["a"]),
    ([], []),
]


@pytest.mark.parametrize(("endpoints", "addresses"), CASES)
def test_connections_go_to_ready_endpoints_or_else_to_those_that_still_serve(endpoints, addresses):
    """The rule of kube-proxy. Conditions that are not written mean ready."""
    found = services.endpoints([made(*endpoints)], ("prod", "web"))
    assert [(each.address, each.port) for each in services.usable(found, "http")] == [(address, 8000) for address in addresses]


def test_a_port_is_chosen_by_its_name():
    """None means all ports; an unknown name has no endpoint; an unnamed port has an empty name."""
    found = services.endpoints([made(("a", READY))], ("prod", "web"))
    assert [each.port for each in services.usable(found, None)] == [8000, 9090]
    assert services.usable(found, "other") == []
    unnamed = services.endpoints([made(("a", READY), ports=[{"port": 80}])], ("prod", "web"))
    assert [(each.port, each.pod) for each in services.usable(unnamed, "")] == [(80, "pod-a")]


@pytest.mark.parametrize("key", [("prod", "other"), ("test", "web")])
def test_slices_of_other_services_are_left_alone(key):
    """A slice belongs to the Service that its label names, in its namespace."""
    assert services.endpoints([made(("a", READY))], key) == []
