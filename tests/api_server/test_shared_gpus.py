"""A real API server accepts what release 1.5 makes on Grove, and pods whose engines share GPUs.

Grove's own fields are those of tests/crds; the API server knows the fields of pods and claims itself.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from krm_fn.render import labels
from tests.support import beta, given, shared_gpus, workload_templates
from tests.support.cases import cases

if TYPE_CHECKING:
    from krm_fn.kubernetes.types import Resource

SPREAD = {"multinode": {"nodeCount": 2}}
PLACED: dict[str, Any] = {
    "topologyConstraint": {"clusterTopologyName": "racks"},
    "priorityClassName": "high",
    "experimental": {"kvTransferPolicy": {"labelKey": "example.com/rack", "domain": "rack"}},
}


def placed() -> Resource:
    """A graph that uses each field of a PodCliqueSet which older releases have not."""
    main = {**shared_gpus.VLLM, **shared_gpus.GPUS}
    packed = {"topologyConstraint": {"packDomain": "rack"}}
    workers = [beta.component("Prefill", "prefill", main=main, **packed), beta.component("Decode", "decode", main=main, **SPREAD, **packed)]
    strategy = {labels.GROVE_UPDATE_STRATEGY: "OnDelete"}
    return beta.graph(*workers, name="a" * 40, backendFramework="vllm", annotations=strategy, **PLACED)


GRAPHS = [
    ("a service beside the engine", "deployment", lambda: shared_gpus.graph("IntraPod")),
    ("two engines in a pod", "deployment", lambda: shared_gpus.graph("IntraPod", failover=True)),
    ("two engines in the pods of a LeaderWorkerSet", "deployment", lambda: shared_gpus.graph("IntraPod", failover=True, **SPREAD)),
    ("two engines in the pods of Grove", "grove", lambda: shared_gpus.graph("IntraPod", failover=True, **SPREAD)),
    ("a service in a pod of its own", "grove", lambda: shared_gpus.graph("InterPod")),
    ("a service for engines on two nodes that take over", "grove", lambda: shared_gpus.graph("InterPod", failover=True, **SPREAD)),
    ("pods that have their place", "grove", placed),
]


@cases(("orchestrator", "written"), GRAPHS)
def test_every_object_and_pod_is_accepted(orchestrator, written, control_plane, crds):
    control_plane.namespace(given.NAMESPACE)
    found = given.rendered(written(), orchestrator=orchestrator).values()
    made = [each for each in found if not each["apiVersion"].startswith("nvidia.com/")]
    assert any(list(workload_templates.templates(each)) for each in made)
    for each in (*made, *(template for one in made for template in workload_templates.pod_templates(one))):
        answer = control_plane.judge(each)
        assert answer.ok, f"{each['kind']} {each['metadata']['name']}: {answer.message}"
        assert answer.warnings == ()


def sharing(**changed: Any) -> Resource:
    found = given.rendered(shared_gpus.graph("InterPod"), orchestrator="grove")["PodCliqueSet/chat"]
    found = copy.deepcopy(found)
    found["spec"]["template"]["podCliqueScalingGroups"][0]["resourceSharing"][0].update(changed)
    return found


REFUSED = [
    ("a claim without a template", {"name": "none"}, "claims of templates of the set"),
    ("a clique that is not in the group", {"filter": {"childCliqueNames": ["none"]}}, "cliques of the scaling group"),
    ("an unknown scope", {"scope": "PerPod"}, "scope"),
]


@cases(("changed", "said"), REFUSED)
def test_the_definition_refuses(changed, said, control_plane, crds):
    control_plane.namespace(given.NAMESPACE)
    answer = control_plane.judge(sharing(**changed))
    assert not answer.ok
    assert said in answer.message


@pytest.mark.parametrize("failover", [False, True])
def test_another_image_and_number_of_replicas_pass(failover, control_plane, crds):
    """Grove never lets cliques, their order or their number of pods that must run change."""
    control_plane.namespace(given.NAMESPACE)
    for image, replicas in (("registry.example/a:1.5.0", 1), ("registry.example/a:1.5.1", 3)):
        written = shared_gpus.graph("InterPod", failover=failover, main={"image": image}, replicas=replicas)
        written["metadata"]["name"] = f"chat-{failover}".lower()
        found = given.rendered(written, orchestrator="grove")[f"PodCliqueSet/{written['metadata']['name']}"]
        answer = control_plane.apply(found, dry_run=False)
        assert answer.ok, answer.message
