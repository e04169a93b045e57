"""The defaults of v1beta1 are those that an API server writes."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from krm_fn.render.schema import table
from tests.support import documents, schema_mistakes


def graph(component, **spec):
    """A v1beta1 graph with one component."""
    return {
        **schema_mistakes.other("DynamoGraphDeployment", {"components": [{"name": "worker", **component}], **spec}),
        "apiVersion": "nvidia.com/v1beta1",
    }


def pod(container=None, **spec):
    return {"podTemplate": {"spec": {"containers": [{"name": "main", **(container or {})}], **spec}}}


def component(written, **spec):
    """The only component of a graph, with its defaults."""
    (found,) = table.with_defaults(graph(written, **spec))["spec"]["components"]
    return found


def test_fields_of_the_api_server():
    """Every default that the reference names, in one graph."""
    main = {"ports": [{"containerPort": 1}, {"containerPort": 2, "protocol": "UDP"}], "livenessProbe": {"grpc": {"port": 3}}}
    keys = {
        "env": [{"name": "A", "valueFrom": {"fileKeyRef": {"key": "a", "path": "b", "volumeName": "c"}}}],
        "envFrom": [{"secretRef": {}}],
    }
    found = component(
        pod({**main, **keys}, volumes=[{"name": "v", "iscsi": {"iqn": "i", "lun": 0, "targetPortal": "t"}}])
        | {"multinode": {}, "experimental": {"gpuMemoryService": {}, "failover": {}}}
    )
    (container,) = found["podTemplate"]["spec"]["containers"]
    assert [port["protocol"] for port in container["ports"]] == ["TCP", "UDP"]
    assert container["livenessProbe"] == {"grpc": {"port": 3, "service": ""}}
    assert container["env"][0]["valueFrom"]["fileKeyRef"]["optional"] is False
    assert container["envFrom"] == [{"secretRef": {"name": ""}}]
    assert found["podTemplate"]["spec"]["volumes"][0]["iscsi"]["iscsiInterface"] == "default"
    assert found["multinode"] == {"nodeCount": 2}
    assert found["experimental"] == {
        "gpuMemoryService": {"mode": "IntraPod", "deviceClassName": "gpu.nvidia.com"},
        "failover": {"mode": "IntraPod", "numShadows": 1},
    }


def test_fields_of_the_graph():
    policy = {"kvTransferPolicy": {"labelKey": "a", "domain": "zone"}}
    found = table.with_defaults(graph({}, experimental=policy, restart={"id": "1", "strategy": {}}))["spec"]
    assert found["experimental"]["kvTransferPolicy"]["enforcement"] == "required"
    assert found["restart"]["strategy"] == {"type": "Sequential"}


def test_an_object_that_is_not_there_gets_no_defaults():
    written = graph({"replicas": 1})
    assert table.with_defaults(written) is written


def test_the_input_stays_as_it_is_and_unchanged_parts_are_shared():
    written = graph(pod({"ports": [{"containerPort": 1}]}), env=[{"name": "A", "value": "b"}])
    before = copy.deepcopy(written)
    found = table.with_defaults(written)
    assert written == before
    assert found["spec"]["env"] is written["spec"]["env"]
    assert table.with_defaults(found) is found


NEWER = sorted(address for address in documents.KINDS if address[0] == "nvidia.com/v1beta1")


@given(written=st.sampled_from(NEWER).flatmap(documents.documents))
def test_a_second_time_changes_nothing(written):
    """Also for resources with mistakes."""
    before = copy.deepcopy(written)
    found = table.with_defaults(written)
    assert written == before
    assert table.with_defaults(found) is found


def test_wrong_types_and_other_kinds_stay():
    for written in (graph({"podTemplate": "x", "multinode": [1]}), {"kind": "Service", "spec": 1}, {}, {"kind": ["x"]}):
        assert table.with_defaults(written) is written
