"""A graph's policy for key-value caches becomes variables, a volume and an annotation of its workers.

Reference: graph.go applyKvTransferPolicyToWorkerComponent and applyKvTransferPolicyTopologyAnnotations.
"""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.grove_faults import binding

POLICY = {"labelKey": "example.com/rack", "domain": "rack"}
FOLDER = "/etc/dynamo/topology"


def pods(*components, policy: Any = None, around: Any = (), config: Any = None, **graph):
    """The pod templates by component, from Deployments or from cliques."""
    written = beta.graph(*components, experimental={"kvTransferPolicy": policy or POLICY}, **graph)
    found = {}
    for each in given.rendered(written, *around, **(config or {})).values():
        if each["kind"] == "Deployment":
            found[each["metadata"]["labels"][labels.COMPONENT]] = each["spec"]["template"]
        if each["kind"] == "PodCliqueSet":
            for clique in each["spec"]["template"]["cliques"]:
                found[clique["labels"][labels.COMPONENT]] = {"metadata": clique, "spec": clique["spec"]["podSpec"]}
    return found


def topology(pod):
    """The variables of the policy in the main container of a pod."""
    variables = given.variables(pod["spec"]["containers"][0])
    return {name: value for name, value in variables.items() if name.startswith(("DYN_KV_TRANSFER_", "DYN_TOPOLOGY_"))}


@pytest.mark.parametrize("orchestrator", ["deployment", "grove"])
def test_workers_learn_their_place(orchestrator):
    listed = [beta.component(kind, kind) for kind in ("worker", "prefill", "decode")]
    found = pods(*listed, beta.component("Frontend", "frontend"), config={"orchestrator": orchestrator})
    for kind in ("worker", "prefill", "decode"):
        assert topology(found[kind]) == {
            "DYN_KV_TRANSFER_DOMAIN": "rack",
            "DYN_KV_TRANSFER_ENFORCEMENT": "required",
            "DYN_TOPOLOGY_ENABLED": "true",
            "DYN_TOPOLOGY_MOUNT_PATH": FOLDER,
        }
        mounts = found[kind]["spec"]["containers"][0]["volumeMounts"]
        assert mounts[0] == {"name": "topology-labels", "mountPath": FOLDER, "readOnly": True}
        files = [{"path": "rack", "fieldRef": {"fieldPath": "metadata.labels['example.com/rack']"}}]
        assert found[kind]["spec"]["volumes"][0] == {"name": "topology-labels", "downwardAPI": {"items": files}}
        assert found[kind]["metadata"]["annotations"][labels.TOPOLOGY_KEY] == "example.com/rack"
    assert not topology(found["Frontend"])
    assert labels.TOPOLOGY_KEY not in found["Frontend"]["metadata"].get("annotations", {})


def test_a_topology_of_grove_gives_a_file_for_each_of_its_domains():
    policy = {"clusterTopologyName": "racks", "domain": "rack"}
    found = pods(policy=policy, around=[binding("zone", "rack")], config={"orchestrator": "grove"})["Worker"]
    (volume,) = (each for each in found["spec"]["volumes"] if each["name"] == "topology-labels")
    assert {each["path"]: each["fieldRef"]["fieldPath"] for each in volume["downwardAPI"]["items"]} == {
        "zone": "metadata.labels['nvidia.com/dynamo-topology.zone']",
        "rack": "metadata.labels['nvidia.com/dynamo-topology.rack']",
    }
    assert found["metadata"]["annotations"][labels.TOPOLOGY_NAME] == "racks"


WEIGHTS = [("a fraction", 0.85, "0.85"), ("a whole number", 1, "1"), ("more digits than 32 bits hold", 0.123456789, "0.12345679")]


@cases(("weight", "text"), WEIGHTS)
def test_a_preference_has_a_weight(weight, text):
    found = topology(pods(policy={**POLICY, "enforcement": "preferred", "preferredWeight": weight})["Worker"])
    assert (found["DYN_KV_TRANSFER_ENFORCEMENT"], found["DYN_KV_TRANSFER_PREFERRED_WEIGHT"]) == ("preferred", text)


def test_the_policy_overrides_what_the_user_wrote():
    """A variable that the policy does not set goes too, as do mounts in its folder and the annotations of the other source."""
    main = {
        "env": [{"name": "DYN_KV_TRANSFER_PREFERRED_WEIGHT", "value": "1"}, {"name": "DYN_TOPOLOGY_ENABLED", "value": "no"}],
        "volumeMounts": [{"name": "mine", "mountPath": FOLDER}, {"name": "topology-labels", "mountPath": "/labels"}],
    }
    volumes = [{"name": "topology-labels", "emptyDir": {}}, {"name": "mine", "emptyDir": {}}]
    written = beta.component("Worker", main=main, pod={"volumes": volumes}, metadata={"annotations": {labels.TOPOLOGY_NAME: "mine"}})
    found = pods(written)["Worker"]
    assert topology(found)["DYN_TOPOLOGY_ENABLED"] == "true"
    assert "DYN_KV_TRANSFER_PREFERRED_WEIGHT" not in topology(found)
    assert [each["name"] for each in found["spec"]["containers"][0]["volumeMounts"]] == ["topology-labels", "shared-memory"]
    assert [each["name"] for each in found["spec"]["volumes"]] == ["topology-labels", "shared-memory", "mine"]
    assert labels.TOPOLOGY_NAME not in found["metadata"]["annotations"]


def test_the_policy_names_a_new_generation_of_workers():
    def generation(policy):
        return pods(policy=policy)["Worker"]["metadata"]["labels"][labels.WORKER_HASH]

    assert generation(POLICY) == generation(POLICY)
    assert generation(POLICY) != generation({**POLICY, "domain": "zone"})
