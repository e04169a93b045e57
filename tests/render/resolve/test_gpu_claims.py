"""The GPUs of a main container, which it requests or claims (reference: `internal/dra` ResolveGPUCount)."""

from __future__ import annotations

from typing import Any

from krm_fn.render.kinds import releases
from krm_fn.render.resolve import requested_gpus
from tests.support import beta, given
from tests.support.cases import cases
from tests.support.grove_faults import claimed

MIG = "nvidia.com/mig-3g.20gb"
RESOURCES = [
    ("limits", {"limits": {"nvidia.com/gpu": "2"}}, 2),
    ("requests", {"requests": {"nvidia.com/gpu": "2"}}, 2),
    ("limits before requests", {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "1"}}, 2),
    ("requests, because the limits have no GPUs", {"limits": {"cpu": "8"}, "requests": {"nvidia.com/gpu": "1"}}, 1),
    ("GPUs of another vendor", {"limits": {"amd.com/gpu": "4"}}, 4),
    ("parts of a GPU", {"limits": {MIG: "3"}}, 3),
    ("the first name of two", {"limits": {MIG: "3", "amd.com/gpu": "4"}}, 4),
    ("a number", {"limits": {"nvidia.com/gpu": 2}}, 2),
    ("thousands", {"limits": {"nvidia.com/gpu": "1k"}}, 1000),
    ("no GPUs", {"limits": {"cpu": "8"}}, 0),
    ("nothing", None, 0),
]


@cases(("resources", "number"), RESOURCES)
def test_resources_tell_the_gpus(resources, number):
    container: Any = {"name": "main", "resources": resources} if resources else {"name": "main"}
    assert requested_gpus.of_resources(container, releases.get("v1_5")).number == number


OLDER_NAMES = [
    ("the name without a vendor", "gpu", 4),
    ("of another vendor", "amd.com/gpu", 4),
    ("of a vendor with a longer name", "example.com/gpu-shared", 4),
    ("parts of a GPU", MIG, 4),
    ("parts without a vendor", "mig-1g.5gb", 4),
    ("a vendor's own name", "gpu.intel.com/xe", 0),
]


@cases(("name", "number"), OLDER_NAMES)
def test_names_of_gpus_before_devices_count(name, number):
    container: Any = {"name": "main", "resources": {"limits": {name: "4"}}}
    assert requested_gpus.of_resources(container, releases.get("v1_4")).number == number


def leader(*items: Any, **resources: Any) -> str:
    """The command line of the leader of TensorRT-LLM on two nodes. It starts one process for each GPU of all nodes."""
    main = {"command": ["python3"], "args": ["-m", "dynamo.trtllm"], "resources": resources}
    listed = {"resourceClaims": [{"name": "mine", "resourceClaimTemplateName": "gpus"}]}
    written = beta.graph(beta.component("Worker", main=main, pod=listed, multinode={"nodeCount": 2}), backendFramework="trtllm")
    cliques = given.rendered(written, *items, orchestrator="grove")["PodCliqueSet/chat"]["spec"]["template"]["cliques"]
    found: str = next(clique for clique in cliques if clique["name"] == "worker-ldr")["spec"]["podSpec"]["containers"][0]["args"][0]
    return found


GPU = {"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}}
CLAIM = {"claims": [{"name": "mine"}]}
COUNTED = [
    ("claimed GPUs", CLAIM, 8),
    ("requested GPUs, which count before claims", {"limits": {"nvidia.com/gpu": "1"}, **CLAIM}, 2),
]


@cases(("resources", "processes"), COUNTED)
def test_an_engine_on_several_nodes_uses_all_of_them(resources, processes):
    assert f"-n {processes} " in leader(claimed(GPU), **resources)
