"""DisaggregatedSets: roles with the pods of Deployments and LeaderWorkerSets."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.render import labels, workload_list
from tests.support import beta, disaggregated_faults, given

SETTINGS = disaggregated_faults.SETTINGS
SGLANG = {"command": ["python3", "-m", "dynamo.sglang"], "args": ["--model-path", "acme/tiny"]}
PAIR: dict[str, Any] = {"prefill": {"replicas": 3}, "decode": {"replicas": 2, "multinode": {"nodeCount": 4}, "main": SGLANG}}


def rendered(*others, **fields):
    return given.rendered(disaggregated_faults.pair(*others, **{**PAIR, **fields}), **SETTINGS)


def roles(*others, **fields):
    listed = rendered(*others, **fields)["DisaggregatedSet/chat"]["spec"]["roles"]
    return {role["name"]: role for role in listed}


def test_the_pods_are_those_of_deployments_and_leader_worker_sets():
    """So that a move between the two changes names and owners only."""
    others = given.rendered(disaggregated_faults.pair(**PAIR))
    prefill, decode = (roles()[name]["spec"]["leaderWorkerTemplate"] for name in ("prefill", "decode"))
    assert prefill["workerTemplate"] == others["Deployment/chat-prefill"]["spec"]["template"]
    assert "leaderTemplate" not in prefill
    groups = others["LeaderWorkerSet/chat-decode-0"]["spec"]["leaderWorkerTemplate"]
    assert decode == groups


def test_a_group_of_one_pod_restarts_its_containers_as_a_deployment_does():
    assert roles()["prefill"]["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "None"
    assert "restartPolicy" not in roles()["decode"]["spec"]["leaderWorkerTemplate"]


def test_a_role_has_the_replicas_of_its_component():
    assert {name: role["spec"]["replicas"] for name, role in roles().items()} == {"prefill": 3, "decode": 2}


def test_a_role_with_a_scaling_adapter_has_its_replicas_elsewhere():
    """In a DisaggregatedSetRoleScaler, which the controller makes. The pods stay when Git no longer has the number."""
    scaled = rendered(prefill={"replicas": 3, "scalingAdapter": {}})
    prefill, decode = scaled["DisaggregatedSet/chat"]["spec"]["roles"]
    assert (prefill["scaling"], prefill["spec"].get("replicas")) == ({"mode": "External"}, None)
    assert ("scaling" in decode, decode["spec"]["replicas"]) == (False, 2)
    assert prefill["metadata"] == roles()["prefill"]["metadata"]
    assert "DynamoGraphDeploymentScalingAdapter/chat-prefill" in scaled
    entries = workload_list.read(scaled["DynamoGraphDeployment/chat"]["metadata"]["annotations"][labels.WORKLOADS])
    assert {entry.service: entry.replicas for entry in entries} == {"Prefill": None, "Decode": 2}


def test_frontends_and_workers_that_do_both_stay_deployments():
    others = (beta.component("Frontend", "frontend"), beta.component("Encode"))
    objects = rendered(*others)
    assert {name for name in objects if name.startswith("Deployment/")} == {"Deployment/chat-frontend", "Deployment/chat-encode"}
    joined = rendered(*others, annotations={labels.ROLLOUT_GROUP: "Encode"})
    assert {name for name in joined if name.startswith("Deployment/")} == {"Deployment/chat-frontend"}
    assert [role["name"] for role in joined["DisaggregatedSet/chat"]["spec"]["roles"]] == ["prefill", "decode", "encode"]


def test_both_roles_have_the_worker_hash_that_the_annotation_of_the_revision_follows():
    """A router finds workers in the Dynamo namespace with the hash, so that generations never meet."""
    by_name = roles()
    templates = [role["spec"]["leaderWorkerTemplate"]["workerTemplate"] for role in by_name.values()]
    (worker_hash,) = {template["metadata"]["labels"][labels.WORKER_HASH] for template in templates}
    assert worker_hash
    revisions = {role["metadata"]["annotations"][labels.SET_REVISION] for role in by_name.values()}
    other = roles(prefill={"replicas": 9, "main": {"image": f"{beta.IMAGE}-1"}})
    assert len(revisions | {role["metadata"]["annotations"][labels.SET_REVISION] for role in other.values()}) == 2
    scaled = roles(prefill={"replicas": 9})
    assert {role["metadata"]["annotations"][labels.SET_REVISION] for role in scaled.values()} == revisions


@pytest.mark.parametrize(("key", "value", "steps"), [(labels.MAX_SURGE, "2", (2, "25%")), (labels.MAX_UNAVAILABLE, "1", ("25%", 1))])
def test_annotations_set_the_steps_of_a_role(key, value, steps):
    """Without them, the controller adds one replica of each role and takes none away before."""
    by_name = roles(prefill={"metadata": {"annotations": {key: value}}})
    assert by_name["prefill"]["spec"]["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": dict(zip(("maxSurge", "maxUnavailable"), steps, strict=True)),
    }
    assert "rolloutStrategy" not in by_name["decode"]["spec"]


def test_the_service_of_a_role_selects_leaders_only():
    objects = rendered()
    assert objects["Service/chat-decode"]["spec"]["selector"][labels.ROLE] == "leader"
    assert labels.ROLE not in objects["Service/chat-prefill"]["spec"]["selector"]
