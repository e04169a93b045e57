"""What the annotation `workloads` tells the syncer about pods: GPUs of an engine and of a replica, and names."""

from __future__ import annotations

from typing import Any

import pytest

from krm_fn.kubernetes.gpu_demand import ClaimUse, GPUDemand
from krm_fn.render import labels, workload_list
from krm_fn.render.workload_list import StatusFacts
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.grove_faults import claimed

GPUS = {"limits": {"nvidia.com/gpu": "4"}}
MAIN = {"command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m", "--endpoint", "dyn://a.b.c"], "resources": GPUS}
LIMIT = {"annotations": {labels.POWER_LIMIT: "300"}}
NAMES: dict[str, Any] = {"served_model": "m", "runtime_component": "b", "power_limit": 300}
CLAIM = {"claims": [{"name": "mine"}]}
LISTED = {"resourceClaims": [{"name": "mine", "resourceClaimTemplateName": "gpus"}]}


def facts(*items: Any, behaviour: str = "v1.6", **settings: Any) -> StatusFacts | None:
    """The facts of the only component."""
    source = given.rendered(*items, behaviour=behaviour, **settings)["DynamoGraphDeployment/chat"]
    (entry,) = workload_list.read(labels.annotations(source)[labels.WORKLOADS])
    return entry.facts


def worker(**fields: Any) -> Any:
    return beta.graph(beta.component("Worker", **{"main": MAIN, "metadata": LIMIT, **fields}), backendFramework="vllm")


def gpus(engine: int, replica: int) -> dict[str, Any]:
    return {"engine": GPUDemand(engine), "replica": GPUDemand(replica)}


LAYOUTS = [
    # reason, fields of the component, GPUs of an engine, GPUs of a replica
    ("one pod", {}, 4, 4),
    ("replicas do not count", {"replicas": 3}, 4, 4),
    ("no replicas are no reason", {"replicas": 0}, 4, 4),
    ("two nodes", {"multinode": {"nodeCount": 2}}, 8, 8),
    ("four nodes", {"multinode": {"nodeCount": 4}, "replicas": 2}, 16, 16),
    ("another container", {"beside": [{"name": "b", "image": beta.IMAGE, "resources": {"limits": {"nvidia.com/gpu": 1}}}]}, 4, 5),
    ("no GPU", {"main": {**MAIN, "resources": {}}}, 0, 0),
]


@pytest.mark.parametrize("orchestrator", ["deployment", "grove"])
@cases(("fields", "engine", "replica"), LAYOUTS)
def test_the_pods_of_each_workload_kind_have_gpus_and_names(orchestrator, fields, engine, replica):
    assert facts(worker(**fields), orchestrator=orchestrator) == StatusFacts(**gpus(engine, replica), **NAMES)


def test_a_release_reports_what_its_operator_reports():
    """In release 0.9 no status has GPUs, in 1.5 none has names."""
    assert facts(worker(), behaviour="v1.5") == StatusFacts(**gpus(4, 4))
    assert facts(given.graph(), behaviour="v0.9") is None


def test_a_claim_stays_a_claim_until_its_class_is_known():
    """The name of the class is no proof, because the syncer may read the class in the cluster."""
    graph = worker(main={**MAIN, "resources": CLAIM}, pod=LISTED, multinode={"nodeCount": 2}, metadata=None)
    template = claimed({"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}})
    open_ = GPUDemand(0, (ClaimUse("ResourceClaimTemplate", "gpus", (), 2),))
    names: dict[str, Any] = {**NAMES, "power_limit": None}
    assert facts(graph, template) == StatusFacts(open_, open_, **names)
    known = given.item("DeviceClass", "gpu.nvidia.com", api="resource.k8s.io/v1", namespace="", spec={})
    assert facts(graph, template, known) == StatusFacts(**gpus(8, 8), **names)


def test_gpus_of_a_memory_service_in_its_own_pods_are_those_of_the_engine():
    """No pod requests them: Grove gives all pods of a node one claim."""
    memory = {"gpuMemoryService": {"mode": "InterPod"}, "failover": {"mode": "InterPod", "numShadows": 1}}
    found = facts(worker(experimental=memory, metadata=None), orchestrator="grove")
    assert found is not None
    assert (found.engine, found.replica) == (GPUDemand(4), GPUDemand(4))


def test_a_memory_service_in_the_pod_claims_the_gpus():
    memory = {"gpuMemoryService": {"mode": "IntraPod"}}
    found = facts(worker(experimental=memory, metadata=None))
    assert found is not None
    assert (found.engine, found.replica) == (GPUDemand(4), GPUDemand(0, (ClaimUse("ResourceClaimTemplate", "chat-worker-gpu"),)))


def test_two_kinds_of_gpus_have_a_reason_in_place_of_a_number():
    beside = [{"name": "b", "image": beta.IMAGE, "resources": {"limits": {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 1}}}]
    found = facts(worker(beside=beside))
    problem = "container b has two kinds of GPUs, nvidia.com/gpu and nvidia.com/mig-1g.5gb; keep one of them"
    assert found == StatusFacts(gpu_problem=problem, **NAMES)


def test_dynamo_beside_an_engine_names_the_component_and_has_no_gpu():
    runtime = {"name": "runtime", "image": beta.IMAGE, "restartPolicy": "Always", "args": ["--component", "decode"]}
    found = facts(worker(pod={"initContainers": [runtime]}))
    assert found == StatusFacts(**gpus(4, 4), **{**NAMES, "runtime_component": "decode"})
